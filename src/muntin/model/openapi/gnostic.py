"""An OpenAPI v2 document as gnostic's protobuf message, as far as Kubernetes' clients read it.

Encoded by hand, since a whole document has thousands of small messages. The numbers are those of
gnostic's openapiv2/OpenAPIv2.proto (google/gnostic v0.7).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from muntin.kit.protobuf import write_varint

# Document
_SWAGGER, _INFO, _PATHS, _DEFINITIONS = 1, 2, 8, 9
# Info; every Named* message; Any
_TITLE, _VERSION = 1, 2
_NAME, _VALUE = 1, 2
_YAML = 2
# PathItem
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "options": 6, "head": 7, "patch": 8}
_PATH_PARAMETERS = 9
# Operation
_TAGS, _OPERATION_ID, _PRODUCES, _CONSUMES, _OPERATION_PARAMETERS = 1, 5, 6, 7, 8
_RESPONSES, _SCHEMES, _OPERATION_EXTENSION = 9, 10, 13
# Schema
_REF, _FORMAT, _DESCRIPTION, _REQUIRED = 1, 2, 4, 19
_ADDITIONAL, _TYPE, _ITEMS, _PROPERTIES, _EXTENSION = 21, 22, 23, 25, 31


def _field(number: int, data: bytes | str) -> bytes:
    body = data.encode("utf-8") if isinstance(data, str) else data
    size = len(body)
    if size < 128 and number < 16:  # nearly all: one byte each
        return bytes((number << 3 | 2, size)) + body
    return write_varint(number << 3 | 2) + write_varint(size) + body


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
    """A body, query or path parameter, within ParametersItem and Parameter."""
    if value["in"] == "body":
        inner = _field(2, value["name"]) + _field(3, "body")
        inner += _flag(4) if value.get("required") else b""
        return _field(1, _field(1, inner + _field(5, _schema(value["schema"]))))
    return _plain_parameter(value["name"], value["in"], value["type"])


@lru_cache(maxsize=256)  # there are some fifty, each in hundreds of operations
def _plain_parameter(name: str, place: str, kind: str) -> bytes:
    is_path = place == "path"
    # QueryParameterSubSchema has the type at 6, PathParameterSubSchema at 5; both have the name
    # at 4, and NonBodyParameter holds them at 3 and 4.
    inner = _flag(1) if is_path else b""
    inner += _field(2, place) + _field(4, name) + _field(5 if is_path else 6, kind)
    return _field(1, _field(2, _field(4 if is_path else 3, inner)))


def _response(value: Mapping[str, Any]) -> bytes:
    """A Response, within ResponseValue; its schema within SchemaItem."""
    out = _field(1, value["description"])
    if "schema" in value:
        out += _field(2, _field(1, _schema(value["schema"])))
    return _field(1, out)


def _operation(value: Mapping[str, Any]) -> bytes:
    texts = ((_TAGS, "tags"), (_PRODUCES, "produces"), (_CONSUMES, "consumes"))
    out = b"".join(_field(number, text) for number, name in texts for text in value.get(name, ()))
    out += _field(_OPERATION_ID, value["operationId"])
    for parameter in value.get("parameters", ()):
        out += _field(_OPERATION_PARAMETERS, _parameter(parameter))
    answers = b"".join(
        _named(1, code, _response(answer)) for code, answer in value["responses"].items()
    )
    out += _field(_RESPONSES, answers) + _field(_SCHEMES, "https")
    return out + _extensions(_OPERATION_EXTENSION, value)


def _path_item(value: Mapping[str, Any]) -> bytes:
    methods = (
        _field(number, _operation(value[method]))
        for method, number in _METHODS.items()
        if method in value
    )
    shared = (_field(_PATH_PARAMETERS, _parameter(each)) for each in value.get("parameters", ()))
    return b"".join((*methods, *shared))


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
