"""What is said to be exact is what decoding gives; everything else is left to decoding."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.model import decoding, schema
from muntin.model.exact import OFTEN, Exact, exact
from muntin.model.schema import Schema, Type

TYPES = schema.load("1.34")

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "a",
        "labels": {"app": "x"},
        "creationTimestamp": "2024-02-28T10:00:59Z",
    },
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i:1",
                "env": [{"name": "A", "value": "b"}],
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}},
                "readinessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 3},
            }
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "hostNetwork": False,
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


def compiled(kind: str = "Pod") -> tuple[Exact, Type]:
    found, type_ = Exact(TYPES), TYPES.kind_type("", "v1", kind)
    assert type_ is not None
    for _ in range(OFTEN):
        found.decode(type_, {})
    return found, type_


PODS, POD_TYPE = compiled()


def walked(schema_: Schema, type_: Type, body: Any) -> decoding.Decoded:
    """What decoding gives when nothing is compiled."""
    exact.cache_clear()
    return decoding.decode_as(schema_, type_, copy.deepcopy(body), "v1", "Pod")


def test_a_usual_pod_is_exact() -> None:
    assert PODS.decode(POD_TYPE, POD) == walked(TYPES, POD_TYPE, POD).object


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, item in (
        value.items()
        if isinstance(value, dict)
        else (enumerate(value) if isinstance(value, list) else ())
    ):
        yield from places(item, (*path, key))


VALUES = st.sampled_from(
    [None, "", "x", 0, 1, 1.0, 1.5, -1, 2**31, 2**63, 2**70, True, [], {}, [None], {"a": None},
     {"a": 1}, [""], "1000m", "0.5", "1e3", "12Ki", "1024Mi", "2024-02-30T00:00:00Z",
     "2024-02-28T00:00:00+01:00", "2024-02-28T00:00:00Z\n", "٢٠٢٤-01-01T00:00:00Z"]
)  # fmt: skip


@given(st.sampled_from(list(places(POD))), VALUES, st.sampled_from(["set", "add", "drop"]))
def test_whatever_is_exact_is_what_decoding_gives(
    place: tuple[Any, ...], value: Any, how: str
) -> None:
    body = copy.deepcopy(POD)
    parent: Any = body
    for key in place[:-1]:
        parent = parent[key]
    if how == "add" and isinstance(parent, dict):
        parent["another"] = value
    elif how == "drop":
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    quick = PODS.decode(POD_TYPE, body)
    if quick is not None:
        found = walked(TYPES, POD_TYPE, body)
        assert found.object == quick
        assert not found.unknown


@given(st.sampled_from(list(places(POD))), VALUES)
def test_an_object_of_text_and_one_whose_spec_is_known_are_what_decoding_gives(
    place: tuple[Any, ...], value: Any
) -> None:
    body = copy.deepcopy(POD)
    parent: Any = body
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    try:
        text = orjson.dumps(body)
    except TypeError:  # 2**70
        return
    for found in (
        PODS.decode_text(POD_TYPE, text),
        PODS.decode_text(POD_TYPE, text),
        PODS.decode(POD_TYPE, copy.deepcopy(body), taken=True),
    ):
        if found is not None:
            usual = walked(TYPES, POD_TYPE, body)
            assert orjson.dumps(found) == orjson.dumps(PODS.decode(POD_TYPE, body))
            assert found == usual.object
            assert not usual.unknown


def test_a_spec_that_is_known_is_read_as_a_new_object() -> None:
    text = orjson.dumps(POD)
    first = PODS.decode_text(POD_TYPE, text)
    assert first is not None
    usual = copy.deepcopy(first)
    first["spec"]["containers"].clear()
    assert PODS.decode_text(POD_TYPE, text) == usual
    taken = copy.deepcopy(usual)
    found = PODS.decode(POD_TYPE, taken, taken=True)
    assert found == usual
    again = PODS.decode(POD_TYPE, taken, taken=True)
    assert again is not None
    assert again["spec"] is taken["spec"]  # it was as it is read


@pytest.mark.parametrize(
    "text",
    [
        b'{"metadata":{},"spec":{"containers":[]},"spec":{"containers":[]}}',
        b'{"metadata":{},"spec":null}',
        b'{"metadata":{}}',
        b'{"metadata":{},"spec":{"containers":[]}} x',
        b'{"metadata":{},"spec":{"hostname":"\xff","containers":[]}}',
        b'{"metadata":{},"spec":{"priority":99999999999999999999,"containers":[]}}',
        b'{"metadata":{},"spec":{"containers":[{"name":"c","livenessProbe":{"tcpSocket":'
        b'{"port":99999999999999999999}}}]}}',
        b"[]",
        b"",
    ],
)
def test_a_text_that_is_not_usual_is_left_to_decoding(text: bytes) -> None:
    assert PODS.decode_text(POD_TYPE, text) is None


@pytest.mark.parametrize(
    "path, value",
    [
        (("spec", "unheard"), 1),
        (("spec", "nodeName"), None),
        (("spec", "tolerations"), []),
        (("spec", "terminationGracePeriodSeconds"), 1.0),
        (("spec", "overhead"), {"cpu": "1000m"}),
        (("metadata", "creationTimestamp"), "2024-02-30T00:00:00Z"),
        (("metadata", "labels"), {}),
    ],
)
def test_what_decoding_would_change_or_refuse_is_not_exact(
    path: tuple[str, str], value: Any
) -> None:
    body = copy.deepcopy(POD)
    body[path[0]][path[1]] = value
    assert PODS.decode(POD_TYPE, body) is None


def test_base64_is_left_to_decoding() -> None:
    found, type_ = compiled("ConfigMap")
    body = {"metadata": {"name": "a"}, "data": {"a": "b"}}
    assert found.decode(type_, body) == body
    assert found.decode(type_, {**body, "binaryData": {"a": "QR=="}}) is None


def test_a_type_that_contains_itself_is_never_exact() -> None:
    found = Exact(TYPES)
    group = "apiextensions.k8s.io"
    type_ = TYPES.kind_type(group, "v1", "CustomResourceDefinition")
    assert type_ is not None
    assert not any(found.decode(type_, {"spec": {}}) for _ in range(2 * OFTEN))


def test_a_kind_is_compiled_only_when_it_is_written_often() -> None:
    found = Exact(TYPES)
    results = [found.decode(POD_TYPE, POD) for _ in range(OFTEN)]
    assert [result is not None for result in results].index(True) == OFTEN - 1


def test_what_is_decoded_shares_nothing_with_the_body() -> None:
    exact.cache_clear()
    body = copy.deepcopy(POD)
    for _ in range(OFTEN + 1):
        found = decoding.decode_as(TYPES, POD_TYPE, body, "v1", "Pod").object
        assert found["spec"]["containers"][0]["image"] == "i:1"
        found["spec"]["containers"][0]["image"] = "other"
        found["spec"]["containers"][0]["resources"]["requests"] = {}
    assert body == POD


def test_kinds_share_what_they_are_made_of_and_hard_ones_spoil_nothing() -> None:
    found = Exact(TYPES)
    hard = TYPES.kind_type("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    assert hard is not None
    assert not any(found.decode(hard, {"spec": {}}) for _ in range(OFTEN))
    kinds = [("", "v1", "Pod"), ("apps", "v1", "Deployment"), ("apps", "v1", "StatefulSet")]
    sizes = []
    for kind in kinds:
        type_ = TYPES.kind_type(*kind)
        assert type_ is not None
        body = POD if kind[2] == "Pod" else {"spec": {"template": {"spec": POD["spec"]}}}
        results = [found.decode(type_, body) for _ in range(OFTEN)]
        assert results[-1] == walked(TYPES, type_, body).object
        sizes.append(found.compiled_types)
    assert sizes[1] - sizes[0] < sizes[0] / 10
    assert sizes[2] - sizes[1] < sizes[0] / 10
