"""Protobuf bodies that nest or lie about their kinds: one error, and little memory."""

from __future__ import annotations

import tracemalloc

import pytest

from muntin.kit.errors import Invalid
from muntin.kit.protobuf import write_varint
from muntin.model.protobuf.decode import decode_body
from muntin.model.protobuf.messages import MAGIC, by_number


def field(number: int, data: bytes) -> bytes:
    return write_varint(number << 3 | 2) + write_varint(len(data)) + data


def number_of(message: str, name: str) -> int:
    return next(number for number, row in by_number(message).items() if row.name == name)


def definition(schema: bytes) -> bytes:
    """A body with a CustomResourceDefinition whose one version has that schema."""
    v1 = "apiextensions.v1."
    data = field(number_of(f"{v1}CustomResourceValidation", "openAPIV3Schema"), schema)
    data = field(number_of(f"{v1}CustomResourceDefinitionVersion", "schema"), data)
    data = field(number_of(f"{v1}CustomResourceDefinitionSpec", "versions"), data)
    data = field(number_of(f"{v1}CustomResourceDefinition", "spec"), data)
    return body("apiextensions.k8s.io/v1", "CustomResourceDefinition", data)


def body(api_version: str, kind: str, raw: bytes) -> bytes:
    meta = field(1, api_version.encode()) + field(2, kind.encode())
    return MAGIC + field(1, meta) + field(2, raw)


def nested(levels: int, text: bytes) -> bytes:
    message = "apiextensions.v1.JSONSchemaProps"
    schema = field(number_of(message, "description"), text)
    inside = number_of(message, "not")
    for _ in range(levels):
        schema = field(inside, schema)
    return schema


def test_nested_schemas_are_read() -> None:
    definition_read = decode_body(definition(nested(50, b"x")))
    schema = definition_read["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for _ in range(50):
        schema = schema["not"]
    assert schema == {"description": "x"}


def test_deep_messages_are_refused_without_a_copy_for_each_level() -> None:
    data = definition(nested(2_000, b"x" * 1_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(Invalid, match="max depth"):
            decode_body(data)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "data",
    [
        MAGIC + b"\x10\x01",  # a number for the object
        MAGIC + b"\x08\x01",  # a number for the kind
        MAGIC + field(1, b"\xff"),
        body("v1", "Pod", b"\x08\x01"),
        body("v1", "Pod", field(1, b"\x0a\x01\xff")),
        body("v1", "Pod", field(2, field(4, b"\xff" * 9))),
        body("v1", "None", b""),
        body("coordination.k8s.io/v1", "Lease", field(2, field(4, field(1, b"\x7f" * 1_000_000)))),
    ],
)
def test_what_is_no_message_raises_one_error(data: bytes) -> None:
    with pytest.raises(Invalid):
        decode_body(data)
