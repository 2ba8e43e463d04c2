"""Objects in Kubernetes' protobuf form, as the JSON values they stand for.

A number that the tables do not know is not lost in silence: it stands in the object under a name
that no schema has, so that field validation reports it as the unknown field it is.
"""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit import depth
from muntin.kit.errors import Invalid
from muntin.kit.protobuf import raw_fields
from muntin.model import times
from muntin.model.decoding import Undecodable
from muntin.model.protobuf.messages import MAGIC, UNKNOWN, by_number, message_name

Data = memoryview
_EMPTY = memoryview(b"")
_LONGEST_NUMBER = 8  # bytes of a fixed one


def decode_body(body: bytes | Data) -> dict[str, Any]:
    """The object of a whole request body, with its ``apiVersion`` and ``kind``.

    Raises:
        Undecodable: not such a body, or of a kind that is not known.
    """
    if bytes(body[: len(MAGIC)]) != MAGIC:
        raise Undecodable("the body is not in Kubernetes' protobuf form: it has no k8s prefix")
    try:
        # Views, since each message inside another would hold a copy of all that is in it.
        envelope = _decode(UNKNOWN, memoryview(body)[len(MAGIC) :], raw_bytes=True)
        meta = envelope.get("typeMeta", {})
        api_version, kind = meta.get("apiVersion", ""), meta.get("kind", "")
        name = message_name(api_version, kind)
        if not name:
            raise Undecodable(f'no kind "{kind}" is registered for version "{api_version}"')
        obj = _decode(name, _bytes(envelope.get("raw", _EMPTY)))
    except (Invalid, ValueError, OverflowError, struct.error) as error:
        if isinstance(error, Undecodable):
            raise
        raise Undecodable(f"the body is not a protobuf message: {error}") from error
    except RecursionError as error:
        raise Undecodable(f"the body {depth.MESSAGE}") from error
    return {"apiVersion": api_version, "kind": kind, **obj}


def _decode(message: str, data: Data, *, raw_bytes: bool = False) -> dict[str, Any]:
    fields = by_number(message)
    result: dict[str, Any] = {}
    for number, _, value in raw_fields(data):
        field = fields.get(number)
        if field is None:
            if value:  # zero values are sent of every plain field, set or not
                result[f"(field number {number})"] = True
            continue
        if field.container == "{":
            key, member = _entry(field.kind, _bytes(value))
            result.setdefault(field.name, {})[key] = member
            continue
        item: Any = value if raw_bytes and field.kind == "y" else _value(field.kind, value)
        if field.container == "[":
            result.setdefault(field.name, []).append(item)
        elif not field.name:
            result.update(item)
        elif item is not None and (item or not field.drop_empty):
            result[field.name] = item
    return result


def _bytes(value: int | Data) -> Data:
    if isinstance(value, int):
        raise Invalid("protobuf: a number stands where a message or text should be")
    return value


def _entry(kind: str, data: Data) -> tuple[str, Any]:
    key, item = "", _value(kind, _EMPTY)
    for number, _, value in raw_fields(data):
        if number == 1:
            key = str(_bytes(value), "utf-8")
        elif number == 2:
            item = _value(kind, value)
    return key, item


def _value(kind: str, value: int | Data) -> Any:
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar(value)
    data = _bytes(value)
    special = _SPECIAL.get(kind)
    return special(data) if special is not None else _decode(kind, data)


def _signed(value: int | Data) -> int:
    if not isinstance(value, int):
        if len(value) > _LONGEST_NUMBER:
            raise Invalid("protobuf: expected a number, got a message or a string")
        return int.from_bytes(value, "little", signed=True)
    return value - (1 << 64) if value >> 63 else value


def _double(value: int | Data) -> float:
    return float(struct.unpack("<d", _bytes(value))[0]) if value else 0.0


_SCALARS: Mapping[str, Callable[[int | Data], Any]] = {
    "s": lambda value: str(_bytes(value), "utf-8"),
    "b": bool,
    "i": _signed,
    "d": _double,
    "y": lambda value: b64encode(_bytes(value)).decode("ascii"),
}


def _numbers(data: Data) -> dict[int, int]:
    return {number: _signed(value) for number, _, value in raw_fields(data)}


def _time(data: Data) -> str | None:
    numbers = _numbers(data)
    return times.text_of(numbers.get(1, 0)) if numbers else None


def _micro_time(data: Data) -> str | None:
    numbers = _numbers(data)
    if not numbers:
        return None
    whole = times.text_of(numbers.get(1, 0))
    return f"{whole[:-1]}.{numbers.get(2, 0) // 1000:06d}Z"


def _int_or_string(data: Data) -> int | str:
    fields = {number: value for number, _, value in raw_fields(data)}
    if fields.get(1) == 1:
        return str(_bytes(fields.get(3, _EMPTY)), "utf-8")
    return _signed(fields.get(2, 0))


def _text(data: Data) -> str:
    fields = {number: value for number, _, value in raw_fields(data)}
    return str(_bytes(fields.get(1, _EMPTY)), "utf-8")


def _json(data: Data) -> Any:
    """An embedded object: JSON text, or again Kubernetes' protobuf."""
    fields = {number: value for number, _, value in raw_fields(data)}
    raw = _bytes(fields.get(1, _EMPTY))
    if bytes(raw[: len(MAGIC)]) == MAGIC:
        return decode_body(raw)
    return json.loads(bytes(raw)) if raw else None


def _schema_or_allows(data: Data) -> Any:
    """A schema, or whether anything goes."""
    fields = {number: value for number, _, value in raw_fields(data)}
    if 2 in fields:
        return _decode("apiextensions.v1.JSONSchemaProps", _bytes(fields[2]))
    return bool(fields.get(1))


def _schema_or_list(data: Data) -> Any:
    """A schema, or several."""
    schema, several = None, []
    for number, _, value in raw_fields(data):
        found = _decode("apiextensions.v1.JSONSchemaProps", _bytes(value))
        if number == 1:
            schema = found
        else:
            several.append(found)
    return several or schema


def _schema_or_names(data: Data) -> Any:
    """A schema, or the names of the fields that must be there."""
    schema, names = None, []
    for number, _, value in raw_fields(data):
        if number == 1:
            schema = _decode("apiextensions.v1.JSONSchemaProps", _bytes(value))
        else:
            names.append(str(_bytes(value), "utf-8"))
    return names or schema


def _duration(data: Data) -> str:
    nanos = _numbers(data).get(1, 0)
    return f"{nanos / 1e9:g}s"


def _items(data: Data) -> list[str]:
    """The wrapper that Go's writers need around a list inside a map."""
    return [str(_bytes(value), "utf-8") for number, _, value in raw_fields(data) if number == 1]


_SPECIAL: Mapping[str, Callable[[Data], Any]] = {
    "meta.v1.Time": _time,
    "meta.v1.MicroTime": _micro_time,
    "meta.v1.Duration": _duration,
    "meta.v1.FieldsV1": _json,
    "meta.v1.Verbs": _items,
    "util.intstr.IntOrString": _int_or_string,
    "api.resource.Quantity": _text,
    "pkg.runtime.RawExtension": _json,
    "apiextensions.v1.JSON": _json,
    "apiextensions.v1.JSONSchemaPropsOrBool": _schema_or_allows,
    "apiextensions.v1.JSONSchemaPropsOrArray": _schema_or_list,
    "apiextensions.v1.JSONSchemaPropsOrStringArray": _schema_or_names,
    "apiextensions.v1beta1.JSON": _json,
    "apiextensions.v1beta1.JSONSchemaPropsOrBool": _schema_or_allows,
    "apiextensions.v1beta1.JSONSchemaPropsOrArray": _schema_or_list,
    "apiextensions.v1beta1.JSONSchemaPropsOrStringArray": _schema_or_names,
    "authentication.v1.ExtraValue": _items,
    "authentication.v1beta1.ExtraValue": _items,
    "authorization.v1.ExtraValue": _items,
    "authorization.v1beta1.ExtraValue": _items,
    "certificates.v1.ExtraValue": _items,
    "certificates.v1beta1.ExtraValue": _items,
}
