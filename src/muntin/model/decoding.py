"""Request bodies against the schema: wrong types refused, unknown fields reported and dropped.

`decode` gives the object as upstream would hold it after reading it into its typed form: nulls,
empty optional lists and maps and the zero values of plain fields are gone, zero values that
upstream writes are there, quantities and times are in canonical form.
The words of errors are those of Go's decoder, which users know from the real API server.
Source: sigs.k8s.io/json, apimachinery pkg/runtime/serializer/json v1.34.
"""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kit.timestamps import time_text
from muntin.model import quantity
from muntin.model.resources import Resource
from muntin.model.schema import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME, Schema, Shape, Type
from muntin.model.zeros import zeros_of

Object = dict[str, Any]


class Undecodable(Invalid):
    """The body is not an object of the kind it should be: a bad request, not an invalid object."""


@dataclass(slots=True)
class Decoded:
    """``object`` as it is to be used; ``unknown`` holds the paths of the fields that were dropped.

    ``duplicates`` are the paths of fields given twice, if the caller looked for them.
    """

    object: Object
    unknown: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)

    @property
    def strict_errors(self) -> list[str]:
        """What strict field validation says: ``unknown field "spec.foo"``, and duplicates."""
        return [
            *(f'duplicate field "{path}"' for path in self.duplicates),
            *(f'unknown field "{path}"' for path in self.unknown),
        ]


def decode(schema: Schema, resource: Resource, body: Any, *, taken: bool = False) -> Decoded:
    """``body`` (parsed JSON) as an object of ``resource``.

    When it is ``taken``, the spec of ``body`` may become that of the object.

    Raises:
        Undecodable: a value has the wrong type; the message is upstream's whole sentence.
    """
    type_ = schema.type_of(resource)
    return decode_as(schema, type_, body, resource.version, resource.kind, taken=taken)


def decode_as(
    schema: Schema, type_: Type, body: Any, version: str, kind: str, *, taken: bool = False
) -> Decoded:
    """As `decode`, for kinds without a row of their own (Scale, Eviction, TokenRequest)."""
    from muntin.model.exact import exact  # what reads but a few objects does without msgspec

    if (found := exact(schema).decode(type_, body, taken=taken)) is not None:
        return Decoded(found)
    return decode_with_care(schema, type_, body, version, kind)


def decode_text(schema: Schema, resource: Resource, text: bytes) -> Object | None:
    """What `decode` makes of a JSON text, for kinds that are written often; None says nothing."""
    from muntin.model.exact import exact

    return exact(schema).decode_text(schema.type_of(resource), text)


def decode_with_care(schema: Schema, type_: Type, body: Any, version: str, kind: str) -> Decoded:
    """As `decode_as`, without a try to do it quickly."""
    walk = _Walk(schema)
    try:
        value = walk.struct(type_, body, ())
    except _Mismatch as error:
        raise Undecodable(
            f'{kind} in version "{version}" cannot be handled as a {kind}: {error}'
        ) from None
    return Decoded(value, walk.unknown)


def strict_error(resource_kind: str, version: str, errors: list[str]) -> str:
    """The sentence with which strict validation refuses a body."""
    return (
        f'{resource_kind} in version "{version}" cannot be handled as a {resource_kind}: '
        f"strict decoding error: {', '.join(errors)}"
    )


class _Mismatch(Exception):
    pass


_GO_SCALARS = {
    "s": "string",
    "y": "[]uint8",
    "t": "string",
    "i": "int32",
    "i32": "int32",
    "i64": "int64",
    "n": "float64",
    "n64": "float64",
    "b": "bool",
}
_INT_LIMITS = {"i": 2**31, "i32": 2**31, "i64": 2**63}
Path = tuple[str | int, ...]


class _Key(str):
    """A map's key within a path: part of it for users, but not for Go's decoder."""

    __slots__ = ()


# Optional lists where an empty one is something else than none: none has a default.
_EMPTY_IS_SAID = frozenset({("HPAScalingRules", "policies")})


class _Walk:
    """One pass over one body."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._zeros = zeros_of(schema)
        self.unknown: list[str] = []
        self._owner = ""  # the Go struct whose field is being read, for messages

    def struct(self, type_: Type, value: Any, path: Path) -> Object:
        """The fields of ``value`` that ``type_`` has."""
        if type(value) is not dict:
            raise self._mismatch(value, type_.go_name, path)
        fields = type_.fields
        if not fields:
            return value
        result: Object = {}
        for name, item in value.items():
            shape = fields.get(name)
            if shape is None:
                self.unknown.append(path_text((*path, name)))
                continue
            if item is None:
                continue
            self._owner = type_.short_name
            code = shape.code
            if code == "s" and type(item) is str:
                if item or not shape.plain:
                    result[name] = item
                continue
            found = self.value(shape, item, (*path, name))
            if shape.plain and not found:
                continue
            is_empty = code in ("[", "{") and not found and not shape.required
            if is_empty and (type_.short_name, name) not in _EMPTY_IS_SAID:
                continue
            result[name] = found
        for name, zero in self._zeros.of(type_):
            if name not in result:
                result[name] = deepcopy(zero) if zero else type(zero)() if zero == {} else zero
        return result

    def value(self, shape: Shape, value: Any, path: Path) -> Any:
        """``value`` as the shape wants it."""
        code = shape.code
        if code == "@":
            return self._reference(shape.ref, value, path)
        if code == "[":
            if type(value) is not list:
                raise self._mismatch(value, self._go_name(shape), path)
            assert shape.items is not None
            owner, items = self._owner, shape.items
            result = []
            for index, item in enumerate(value):
                self._owner = owner
                result.append(self._member(items, item, (*path, index)))
            return result
        if code == "{":
            if type(value) is not dict:
                raise self._mismatch(value, self._go_name(shape), path)
            assert shape.items is not None
            owner, items = self._owner, shape.items
            found = {}
            for key, item in value.items():
                self._owner = owner
                found[key] = self._member(items, item, (*path, _Key(key)))
            return found
        return self._scalar(code, value, path)

    def _member(self, shape: Shape, value: Any, path: Path) -> Any:
        return self.value(shape, value, path) if value is not None else self._zero(shape, path)

    def _zero(self, shape: Shape, path: Path) -> Any:
        """How Go decodes a null item of a list or map: as the zero value of its type.

        The zero value of an object has the fields that upstream always writes, because clients
        rely on them.
        """
        if shape.code != "@":
            return _ZERO.get(shape.code, dict)()
        if shape.ref in _NAMED_ZERO:
            return _NAMED_ZERO[shape.ref]
        type_ = self._schema.type(shape.ref)
        return None if type_.shape.code == "*" else self.struct(type_, {}, path)

    def _reference(self, ref: str, value: Any, path: Path) -> Any:
        special = _SPECIAL.get(ref)
        if special is not None:
            try:
                return special(value)
            except Invalid as error:
                raise _Mismatch(error.message) from None
        type_ = self._schema.type(ref)
        if type_.shape.code == "*":
            return self._anything(ref, value, path)
        return self.struct(type_, value, path)

    def _anything(self, ref: str, value: Any, path: Path) -> Any:
        """A value of any type; where it may be a JSON schema or something else, as the former."""
        stem, found, _ = ref.partition("JSONSchemaPropsOr")
        if found and type(value) is dict:
            return self.struct(self._schema.type(f"{stem}JSONSchemaProps"), value, path)
        return value

    def _scalar(self, code: str, value: Any, path: Path) -> Any:
        kind = type(value)
        if code in ("s", "t"):
            if kind is str:
                return value
        elif code in _INT_LIMITS:
            limit = _INT_LIMITS[code]
            if kind is int and -limit <= value < limit:
                return value
            if kind in (int, float):
                raise self._mismatch(value, _GO_SCALARS[code], path, f"number {_digits(value)}")
        elif code == "b":
            if kind is bool:
                return value
        elif code == "y":
            if kind is str:
                return _base64(value)
        elif code in ("n", "n64"):
            if kind in (int, float):
                return value
        elif code == "o":
            if kind is dict:
                return value
            raise self._mismatch(value, "map[string]interface {}", path)
        else:
            return value
        raise self._mismatch(value, _GO_SCALARS[code], path)

    def _go_name(self, shape: Shape) -> str:
        if shape.code == "@":
            return self._schema.type(shape.ref).go_name
        if shape.code == "[":
            return "[]" + self._go_name(shape.items) if shape.items else "[]interface {}"
        if shape.code == "{":
            return f"map[string]{self._go_name(shape.items) if shape.items else 'interface {}'}"
        return _GO_SCALARS.get(shape.code, "interface {}")

    def _mismatch(self, value: Any, wanted: str, path: Path, found: str = "") -> _Mismatch:
        found = found or _json_kind(value)
        where = ".".join(part for part in path if type(part) is str)
        if not where:
            return _Mismatch(f"json: cannot unmarshal {found} into Go value of type {wanted}")
        return _Mismatch(
            f"json: cannot unmarshal {found} into Go struct field {self._owner}.{where} "
            f"of type {wanted}"
        )


_ZERO: dict[str, Callable[[], Any]] = {
    "s": str, "t": str, "y": str, "i": int, "i32": int, "i64": int, "n": int, "n64": int,
    "b": bool, "[": list,
}  # fmt: skip


_NAMED_ZERO: dict[str, Any] = {QUANTITY: "0", INT_OR_STRING: 0, TIME: None, MICRO_TIME: None}


def _json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "null"


def _digits(value: float) -> str:
    """A number nearly as it was sent: one of more than 64 bits is read as a float."""
    is_long = isinstance(value, float) and value.is_integer() and abs(value) >= _FEW
    return str(int(value) if is_long else value)


_FEW = 2**53


def whole_numbers(value: Any) -> Any:
    """``value``, changed in place: integers for the floats that say the same.

    What does not come straight from JSON is read so upstream, too: YAML, strategic-merge patches
    and applied configurations.
    """
    whole = [value]
    todo: list[Any] = [whole]  # however deep it is
    while todo:
        holder = todo.pop()
        for key, item in list(holder.items() if type(holder) is dict else enumerate(holder)):
            kind = type(item)
            if kind is dict or kind is list:
                todo.append(item)
            elif kind is float and item.is_integer() and abs(item) < 2**63:
                holder[key] = int(item)
    return whole[0]


def path_text(path: Path) -> str:
    """``("spec", "ports", 0, "port")`` as ``spec.ports[0].port``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _quantity(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid(
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    return quantity.canonical(value.strip() if isinstance(value, str) else value)


def _int_or_string(value: Any) -> int | str:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float):
        raise Invalid(f"json: cannot unmarshal number {_digits(value)} into Go value of type int32")
    raise Invalid(f"json: cannot unmarshal {_json_kind(value)} into Go value of type string")


def _base64(value: str) -> str:
    text = value.replace("\n", "").replace("\r", "")
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # binascii.Error, or text that is not ASCII
        good = re.match(r"[A-Za-z0-9+/]*", text)
        offset = good.end() if good else 0
        raise _Mismatch(f"illegal base64 data at input byte {offset}") from None
    return b64encode(data).decode("ascii")


_rfc3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))",
    re.ASCII,
).fullmatch
_seconds_form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch
_micro_form = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII).fullmatch


def _instant(value: Any, layout: str) -> datetime:
    if not isinstance(value, str):
        raise Invalid(f"json: cannot unmarshal {_json_kind(value)} into Go value of type string")
    match = _rfc3339(value)
    if match is None:
        raise Invalid(f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"')
    year, month, day, hour, minute, second, fraction, zulu, sign, off_hour, off_minute = (
        match.groups()
    )
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        zone = UTC
        if not zulu:
            offset = timedelta(hours=int(off_hour), minutes=int(off_minute))
            zone = timezone(-offset if sign == "-" else offset)
        stamp = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second), micro, zone
        )
        return stamp.astimezone(UTC)
    except (ValueError, OverflowError) as error:  # a day or zone that does not exist, year 0
        raise Invalid(f'parsing time "{value}": {error}') from None


def _time(value: Any) -> str:
    if isinstance(value, str) and _seconds_form(value):
        _instant(value, "2006-01-02T15:04:05Z07:00")
        return value
    return time_text(_instant(value, "2006-01-02T15:04:05Z07:00"))


def _micro_time(value: Any) -> str:
    layout = "2006-01-02T15:04:05.000000Z07:00"
    stamp = _instant(value, layout)
    if _micro_form(str(value)):
        return str(value)
    return time_text(stamp, micros=True)


_SPECIAL: dict[str, Callable[[Any], Any]] = {
    QUANTITY: _quantity,
    INT_OR_STRING: _int_or_string,
    TIME: _time,
    MICRO_TIME: _micro_time,
}


class _Pairs(dict[str, Any]):
    """An object of the body, with the names it had more than once."""

    twice: tuple[str, ...] = ()


def _pairs(pairs: list[tuple[str, Any]]) -> _Pairs:
    result = _Pairs(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = []
        for name, _ in pairs:
            if name in seen and name not in twice:
                twice.append(name)
            seen.add(name)
        result.twice = tuple(twice)
    return result


def duplicate_fields(body: bytes) -> list[str]:
    """The paths of the fields that the JSON text ``body`` gives more than once.

    Raises:
        Undecodable: not JSON.
    """
    try:
        parsed = json.loads(body, object_pairs_hook=_pairs)
    except ValueError as error:
        raise Undecodable(f"the body is not JSON: {error}") from None
    return [path_text(path) for path in _duplicates(parsed, ())]


def _duplicates(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, _Pairs):
        yield from ((*path, name) for name in value.twice)
        for name, item in value.items():
            if isinstance(item, dict | list):
                yield from _duplicates(item, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _duplicates(item, (*path, index))
