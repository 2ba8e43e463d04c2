"""Parts that cached objects have in common: one of each, unchanged, and not remembered for ever."""

import copy

import orjson
import pytest

from muntin.seams.kube import shared_parts
from muntin.seams.kube.shared_parts import Pool


def pod(name, image="web:1"):
    """A fresh pod whose containers, as is usual, name a volume that no other pod has."""
    token = f"kube-api-access-{name}"
    mount = {"name": token, "mountPath": "/var/run/secrets"}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {"app": "web"}},
        "spec": {
            "containers": [{"name": "c", "image": image, "volumeMounts": [mount], "args": ["-v"]}],
            "volumes": [{"name": token, "projected": {"sources": [{"path": "token"}]}}],
            "tolerations": [{"operator": "Exists"}],
            "priority": 0,
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def parsed(obj):
    """As it comes from the wire: no part of it is one of another's."""
    return orjson.loads(orjson.dumps(obj))


@pytest.mark.parametrize(
    "value",
    [
        pod("one"),
        {"metadata": {"name": "a"}, "data": {"key": "text"}},
        {"metadata": {}, "spec": None, "status": {}},
        {"spec": [], "items": [{}, [], [[1, 1.0, True, None, "1"]]]},
        {"metadata": {"name": "numbers"}, "spec": {"a": 1, "b": True, "c": 1.0, "d": "1"}},
    ],
)
def test_an_object_says_the_same_as_before(value):
    before = copy.deepcopy(value)
    found = Pool().compact(value)
    assert found is value
    assert orjson.dumps(found) == orjson.dumps(before)


def test_equal_parts_are_one():
    pool = Pool()
    one, two = (pool.compact(parsed(pod(name))) for name in ("one", "two"))
    for part in ("tolerations",):
        assert one["spec"][part] is two["spec"][part]
    assert one["metadata"]["labels"] is two["metadata"]["labels"]
    assert one["status"]["conditions"] is two["status"]["conditions"]
    assert one["kind"] is two["kind"]


def test_parts_of_parts_that_differ_are_one():
    pool = Pool()
    one, two = (pool.compact(parsed(pod(name)))["spec"] for name in ("one", "two"))
    assert one["containers"] is not two["containers"]
    assert one["containers"][0]["args"] is two["containers"][0]["args"]
    assert one["volumes"][0]["projected"] is two["volumes"][0]["projected"]


def test_a_newer_state_shares_what_did_not_change():
    pool = Pool()
    old, new = (pool.compact(parsed(pod("one", image))) for image in ("web:1", "web:2"))
    assert old["spec"]["volumes"] is new["spec"]["volumes"]
    assert old["spec"]["containers"] != new["spec"]["containers"]


@pytest.mark.parametrize(("one", "two"), [(1, True), (1, 1.0), (0, False), ("1", 1)])
def test_values_that_python_takes_for_equal_are_not_mixed_up(one, two):
    pool = Pool()
    first, second = (pool.compact({"spec": {"ports": [value]}}) for value in (one, two))
    assert type(first["spec"]["ports"][0]) is type(one)
    assert type(second["spec"]["ports"][0]) is type(two)


def test_large_parts_are_left_alone(monkeypatch):
    monkeypatch.setattr(shared_parts, "LARGEST_BYTES", 100)
    pool = Pool()
    one, two = (pool.compact({"data": {"text": "x" * 101}, "kind": "K"}) for _ in range(2))
    assert one == two
    assert one["data"] is not two["data"]


def test_what_nobody_asks_for_is_forgotten(monkeypatch):
    monkeypatch.setattr(shared_parts, "GENERATION_BYTES", 100)
    pool = Pool()
    kept, lost = pool.share({"kept": "yes"}), pool.share({"lost": "yes"})
    for number in range(100):
        pool.share({"other": f"{number:010}"})
        assert pool.share({"kept": "yes"}) is kept
    assert pool.share({"lost": "yes"}) is not lost
    assert sum(map(len, [*pool._young, *pool._old])) < 300


def test_it_tells_what_was_changed():
    pool = Pool()
    found = pool.compact(pod("one"))
    assert pool.changed() == []
    found["metadata"]["labels"]["app"] = "db"
    assert pool.changed() == [b'{"app":"web"}']
