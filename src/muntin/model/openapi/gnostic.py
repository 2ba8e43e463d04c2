"""An OpenAPI v2 document as gnostic's protobuf message, as far as Kubernetes' clients read it.

Encoded by hand, since a whole document has thousands of small messages. The numbers are those of
gnostic's openapiv2/OpenAPIv2.proto (google/gnostic v0.7).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from muntin.kit.protobuf import write_varint

# Document
_SWAGGER, _INFO, _PATHS, _DEFINITIONS = 1, 2, 8, 9
# Info; every Named* message; Any
_TITLE, _VERSION = 1, 2
_NAME, _VALUE = 1, 2
_YAML = 2
# PathItem
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "patch": 8}
# Operation
_OPERATION_ID, _OPERATION_PARAMETERS, _RESPONSES, _OPERATION_EXTENSION = 5, 8, 9, 13
# Schema
_REF, _FORMAT, _DESCRIPTION, _REQUIRED = 1, 2, 4, 19
_ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 21, 22, 23, 25, 31


def _field(number: int, data: bytes | str) -> bytes:
    body = data.encode("utf-8") if isinstance(data, str) else data
    return write_varint(number << 3 | 2) + write_varint(len(body)) + body


def _flag(number: int) -> bytes:
    return write_varint(number << 3) + b"\x01"


def _named(number: int, name: str, value: bytes) -> bytes:
    """One entry of a map that gnostic keeps as a list of named values."""
    return _field(number, _field(_NAME, name) + _field(_VALUE, value))


def _extensions(number: int, value: Mapping[str, Any]) -> bytes:
    return b"".join(
        _named(number, name, _field(_YAML, json.dumps(item) + "\n"))
        for name, item in value.items()
        if name.startswith("x-")
    )


def _schema(value: Mapping[str, Any]) -> bytes:
    out = bytearray()
    for key, number in (("$ref", _REF), ("format", _FORMAT), ("description", _DESCRIPTION)):
        if key in value:
            out += _field(number, value[key])
    for name in value.get("required", ()):
        out += _field(_REQUIRED, name)
    if "additionalProperties" in value:
        out += _field(_ADDITIONAL, _field(1, _schema(value["additionalProperties"])))
    if "type" in value:
        out += _field(_TYPE, _field(1, value["type"]))
    if "items" in value:
        out += _field(_ITEMS, _field(1, _schema(value["items"])))
    if "properties" in value:
        members = (_named(1, name, _schema(item)) for name, item in value["properties"].items())
        out += _field(_PROPERTIES, b"".join(members))
    out += _extensions(_EXTENSION, value)
    return bytes(out)


def _parameter(value: Mapping[str, Any]) -> bytes:
    """A query or path parameter, within Parameter and NonBodyParameter."""
    is_path = value["in"] == "path"
    # QueryParameterSubSchema has the type at 6, PathParameterSubSchema at 5; both have the name
    # at 4, and NonBodyParameter holds them at 3 and 4.
    inner = _flag(1) if is_path else b""
    inner += _field(2, value["in"]) + _field(4, value["name"])
    inner += _field(5 if is_path else 6, value["type"])
    return _field(1, _field(2, _field(4 if is_path else 3, inner)))


def _operation(value: Mapping[str, Any]) -> bytes:
    out = _field(_OPERATION_ID, value["operationId"])
    for parameter in value["parameters"]:
        out += _field(_OPERATION_PARAMETERS, _parameter(parameter))
    answers = b"".join(
        _named(1, code, _field(1, _field(1, answer["description"])))
        for code, answer in value["responses"].items()
    )
    return out + _field(_RESPONSES, answers) + _extensions(_OPERATION_EXTENSION, value)


def _path_item(value: Mapping[str, Any]) -> bytes:
    return b"".join(
        _field(number, _operation(value[method]))
        for method, number in _METHODS.items()
        if method in value
    )


def encode(document: Mapping[str, Any]) -> bytes:
    """``document`` (swagger 2.0) as a gnostic Document."""
    info = document["info"]
    paths = (_named(2, path, _path_item(item)) for path, item in document["paths"].items())
    definitions = (_named(1, name, _schema(item)) for name, item in document["definitions"].items())
    return b"".join(
        (
            _field(_SWAGGER, document["swagger"]),
            _field(_INFO, _field(_TITLE, info["title"]) + _field(_VERSION, info["version"])),
            _field(_PATHS, b"".join(paths)),
            _field(_DEFINITIONS, b"".join(definitions)),
        )
    )
