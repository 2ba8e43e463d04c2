"""What a write changes, and whether it changes anything."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest

from muntin.apiserver.items import Item, encode
from muntin.apiserver.strategy import stamp
from muntin.apiserver.writes import is_same
from muntin.model.resources import PODS

POD: dict[str, Any] = {
    "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"a": "1", "b": "2"}},
    "spec": {"hostname": "x", "containers": [{"name": "c", "image": "i"}]},
    "status": {"phase": "Running"},
}
MANAGED = (
    b'[{"manager":"m","operation":"Update","apiVersion":"v1","time":"2024-01-01T00:00:00Z",'
    b'"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]'
)


def value(obj: dict[str, Any], managed: bytes = MANAGED) -> bytes:
    return encode(obj, PODS, managed)


STORED = Item(PODS, "n", "a", value(POD), 7)


def changed(path: tuple[str, ...], new: Any) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(orjson.dumps(POD))
    holder = found
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = new
    return found


@pytest.mark.parametrize(
    "path, new",
    [
        (("metadata", "labels"), {"b": "2", "a": "1"}),
        (("spec",), {"containers": [{"image": "i", "name": "c"}], "hostname": "x"}),
        (("metadata", "resourceVersion"), "3"),
    ],
)
def test_members_in_another_order_are_no_change(path: tuple[str, ...], new: Any) -> None:
    assert is_same(value(changed(path, new)), STORED)
    assert is_same(value({**changed(path, new), "status": {"phase": "Running"}}), STORED)


@pytest.mark.parametrize(
    "path, new",
    [
        (("metadata", "labels"), {"a": "2", "b": "1"}),
        (("metadata", "labels"), {"a": "1"}),
        (("spec", "hostname"), "y"),
        (("status", "phase"), "Pending"),
        (("other",), {}),
    ],
)
def test_any_other_value_is_a_change(path: tuple[str, ...], new: Any) -> None:
    assert not is_same(value(changed(path, new)), STORED)


def test_of_managers_only_the_times_may_differ() -> None:
    later = MANAGED.replace(b"2024", b"2025")
    assert is_same(value(POD, later), STORED)
    assert not is_same(value(POD, later.replace(b'"m"', b'"o"')), STORED)


def test_each_new_object_has_a_uid_of_its_own_of_version_4() -> None:
    found = set()
    for _ in range(200):
        obj: dict[str, Any] = {"metadata": {}}
        stamp(obj, 0.0)
        found.add(obj["metadata"]["uid"])
    assert len(found) == 200
    shape = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(shape.fullmatch(uid) for uid in found)
