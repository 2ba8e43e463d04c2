"""Objects to protobuf and back: every kind of every version, and what has no such form."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from schema_objects import random_object

from muntin.kit.errors import Unsupported
from muntin.kit.protobuf import raw_fields
from muntin.model import protobuf, schema
from muntin.model.decoding import decode
from muntin.model.resources import RESOURCES, Resource

TRIES = 10
NEW = schema.load(schema.versions()[-1])
# Their schema is a schema's own: JSON in the API's documents, messages on the wire.
SCHEMAS = {"apiextensions.k8s.io"}
# Fields of the newest schema whose numbers are not known yet; docs/limits.md names them.
NO_NUMBER = {"compatibilityGroups", "derivedAttributes", "runningInUserNamespace"}
# Messages without a field, which random objects fill; and what the wire says of claims of sets.
EMPTY = {"basic", "single", "all"}
ROWS = [row for row in RESOURCES if NEW.has_kind(row.group, row.version, row.kind)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.api_version} {row.kind}")
def test_an_object_survives(row: Resource) -> None:
    assert protobuf.is_known(row.api_version, row.kind)
    if row.group in SCHEMAS:
        return
    rng = random.Random(repr(row))
    for _ in range(TRIES):
        body = {"apiVersion": row.api_version, "kind": row.kind, **made(row, rng)}
        back = protobuf.decode_body(protobuf.encode_body(body))
        # Go's zero values of plain fields are no news: both are read as a server reads them.
        assert read(row, back) == read(row, body)


def made(row: Resource, rng: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = on_the_wire(random_object(NEW, NEW.type_of(row), rng))
    for claim in (found.get("spec") or {}).get("volumeClaimTemplates") or ():
        claim.pop("apiVersion", None)  # which a message inside another does not say
        claim.pop("kind", None)
    return found


def on_the_wire(value: Any) -> Any:
    """``value`` without what protobuf does not tell: false in a plain field is as if not set."""
    if isinstance(value, dict):
        return {
            key: {} if key in EMPTY else on_the_wire(item)
            for key, item in value.items()
            if item is not False and key not in NO_NUMBER
        }
    if isinstance(value, list):
        return [on_the_wire(item) for item in value]
    return value


def read(row: Resource, body: Any) -> Any:
    decoded = decode(NEW, row, body)
    assert decoded.unknown == []
    return decoded.object


def test_a_list() -> None:
    pods = {
        "apiVersion": "v1",
        "kind": "PodList",
        "metadata": {"resourceVersion": "7"},
        "items": [{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}}],
    }
    assert protobuf.decode_body(protobuf.encode_body(pods)) == {
        **pods,
        "items": [{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}}],
    }


def test_a_status() -> None:
    status = {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": "no",
        "reason": "NotFound",
        "details": {"name": "a", "kind": "pods"},
        "code": 404,
    }
    assert protobuf.decode_body(protobuf.encode_body(status)) == status


def test_a_watch_event_is_a_frame() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    frame = protobuf.encode_watch_event("ADDED", obj)
    (size,) = struct.unpack(">I", frame[:4])
    assert size == len(frame) - 4
    event = {number: value for number, _, value in raw_fields(frame[4:])}
    assert event[1] == b"ADDED"
    assert isinstance(event[2], bytes)
    ((_, _, raw),) = raw_fields(event[2])
    assert isinstance(raw, bytes)
    assert protobuf.decode_body(raw) == obj


@pytest.mark.parametrize("kind", [("example.com/v1", "Car"), ("meta.k8s.io/v1", "Table")])
def test_what_has_no_protobuf_form(kind: tuple[str, str]) -> None:
    with pytest.raises(Unsupported, match="has no protobuf form"):
        protobuf.encode_body({"apiVersion": kind[0], "kind": kind[1]})
