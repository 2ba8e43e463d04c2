"""JSON values as objects in Kubernetes' protobuf form, for clients that take no other.

What has no field in the tables is left out: it could not be read by such a client either.
"""

from __future__ import annotations

import json
import math
import struct
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from muntin.kit.errors import Unsupported
from muntin.kit.protobuf import write_varint
from muntin.kit.timestamps import NotATime
from muntin.model.durations import epoch_s, parse_duration
from muntin.model.protobuf.messages import MAGIC, Field, fields_of, message_name

Object = dict[str, Any]


def encode_body(obj: Object) -> bytes:
    """A whole answer: the prefix, the kind, and the object's message.

    Raises:
        Unsupported: the kind has no protobuf form (custom resources, Tables).
    """
    api_version, kind = str(obj.get("apiVersion", "")), str(obj.get("kind", ""))
    name = message_name(api_version, kind)
    if not name:
        raise Unsupported(f"{api_version} {kind} has no protobuf form")
    meta = _text(1, api_version) + _text(2, kind)
    return (
        MAGIC + _bytes(1, meta) + _bytes(2, _message(name, obj)) + _bytes(3, b"") + _bytes(4, b"")
    )


def encode_watch_event(kind: str, obj: Object) -> bytes:
    """One frame of a watch: its length in four bytes, and a WatchEvent.

    Source: apimachinery pkg/util/framer; apiserver pkg/endpoints/handlers/watch.go.
    """
    event = _text(1, kind) + _bytes(2, _bytes(1, encode_body(obj)))
    return struct.pack(">I", len(event)) + event


def _bytes(number: int, data: bytes) -> bytes:
    return write_varint(number << 3 | 2) + write_varint(len(data)) + data


def _text(number: int, text: str) -> bytes:
    return _bytes(number, text.encode("utf-8"))


def _varint(number: int, value: int) -> bytes:
    return write_varint(number << 3) + write_varint(value & (1 << 64) - 1)


def _message(name: str, obj: Object) -> bytes:
    parts = []
    for field in fields_of(name):
        if not field.name:
            embedded = _message(field.kind, obj)
            if embedded:
                parts.append(_bytes(field.number, embedded))
            continue
        value = obj.get(field.name)
        if value is not None:
            parts.append(_field(field, value))
    return b"".join(parts)


def _field(field: Field, value: Any) -> bytes:
    number, kind = field.number, field.kind
    if field.container == "[":
        return b"".join(_one(number, kind, item) for item in value)
    if field.container == "{":
        entries = (_text(1, key) + _one(2, kind, item) for key, item in value.items())
        return b"".join(_bytes(number, entry) for entry in entries)
    return _one(number, kind, value)


def _one(number: int, kind: str, value: Any) -> bytes:
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar(number, value)
    special = _SPECIAL.get(kind)
    return _bytes(number, special(value) if special else _message(kind, value or {}))


_SCALARS: Mapping[str, Callable[[int, Any], bytes]] = {
    "s": _text,
    "b": lambda number, value: _varint(number, int(value)),
    "i": lambda number, value: _varint(number, int(value)),
    "d": lambda number, value: write_varint(number << 3 | 1) + struct.pack("<d", value),
    "y": lambda number, value: _bytes(number, b64decode(value)),
}

_ZERO_TIME_S = -62_135_596_800.0  # 0001-01-01T00:00:00Z


def _time(text: str) -> bytes:
    return _varint(1, math.floor(_seconds(text)))


def _micro_time(text: str) -> bytes:
    try:
        micros = datetime.fromisoformat(text).microsecond
    except ValueError:
        micros = 0
    return _varint(1, math.floor(_seconds(text))) + _varint(2, micros * 1000)


def _seconds(text: str) -> float:
    """The moment of a stored time; Go's zero time for an invalid text."""
    try:
        return epoch_s(text)
    except NotATime:
        return _ZERO_TIME_S


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return _varint(1, 1) + _varint(2, 0) + _text(3, value)
    return _varint(1, 0) + _varint(2, value) + _text(3, "")


def _raw(value: Any) -> bytes:
    return _bytes(1, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8"))


def _items(values: list[str]) -> bytes:
    return b"".join(_text(1, value) for value in values)


def _duration(text: str) -> bytes:
    """``1h30m0.5s`` as nanoseconds."""
    return _varint(1, round(parse_duration(text) * 1e9))


_PROPS = "apiextensions.v1.JSONSchemaProps"


def _schema_or_allows(value: Any) -> bytes:
    if isinstance(value, dict):
        return _varint(1, 1) + _bytes(2, _message(_PROPS, value))
    return _varint(1, int(bool(value)))


def _schema_or_list(value: Any) -> bytes:
    if isinstance(value, dict):
        return _bytes(1, _message(_PROPS, value))
    return b"".join(_bytes(2, _message(_PROPS, item)) for item in value)


def _schema_or_names(value: Any) -> bytes:
    if isinstance(value, dict):
        return _bytes(1, _message(_PROPS, value))
    return b"".join(_text(2, item) for item in value)


_SPECIAL: Mapping[str, Callable[[Any], bytes]] = {
    "meta.v1.Time": _time,
    "meta.v1.MicroTime": _micro_time,
    "meta.v1.Duration": _duration,
    "meta.v1.FieldsV1": _raw,
    "meta.v1.Verbs": _items,
    "util.intstr.IntOrString": _int_or_string,
    "api.resource.Quantity": lambda value: _text(1, str(value)),
    "pkg.runtime.RawExtension": _raw,
    **{
        f"apiextensions.{version}.{name}": form
        for version in ("v1", "v1beta1")
        for name, form in (
            ("JSON", _raw),
            ("JSONSchemaPropsOrBool", _schema_or_allows),
            ("JSONSchemaPropsOrArray", _schema_or_list),
            ("JSONSchemaPropsOrStringArray", _schema_or_names),
        )
    },
    **{
        f"{group}.{version}.ExtraValue": _items
        for group in ("authentication", "authorization", "certificates")
        for version in ("v1", "v1beta1")
    },
}
