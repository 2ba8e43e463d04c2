"""A table-driven protobuf codec: messages are plain dicts, a table says their fields.

``Table`` maps a message name to its fields by number. Decoding omits what the wire omits, skips
unknown numbers, and keeps int64 as ``int``, bytes as ``bytes``; encoding drops ``None``, and
proto3 default values unless ``keep_defaults``.
Source: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from muntin.kit.errors import Invalid

# Kinds: a scalar of the wire, or "message", or "map" (key and value kinds in `entry`).
VARINT_KINDS = frozenset({"bool", "int32", "int64", "uint32", "uint64", "enum"})


@dataclass(frozen=True, slots=True)
class Field:
    """``kind``: bool int32 int64 uint32 uint64 enum string bytes double float message map.

    ``message`` names the message of a "message" field, or of a map's values; ``entry`` holds a
    map's key and value kinds.
    """

    name: str
    kind: str
    repeated: bool = False
    message: str = ""
    entry: tuple[str, str] = ("string", "string")


B = TypeVar("B", bytes, memoryview)
Table = Mapping[str, Mapping[int, Field]]


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The unsigned varint at ``at`` and the offset after it."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Invalid("protobuf: truncated or overlong varint")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def raw_fields(data: B) -> Iterator[tuple[int, int, int | B]]:
    """Every field of a message as (number, wire type, value)."""
    at, end = 0, len(data)
    while at < end:
        key, at = read_varint(data, at)
        wire = key & 7
        value: int | B
        if wire == 0:
            value, at = read_varint(data, at)
        else:
            if wire == 2:
                size, at = read_varint(data, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                raise Invalid(f"protobuf: wire type {wire} of field {key >> 3} is not supported")
            if at + size > end:
                raise Invalid(f"protobuf: field {key >> 3} runs past the end of its message")
            value = data[at : at + size]
            at += size
        yield key >> 3, wire, value


def _scalar(kind: str, value: int | bytes) -> Any:
    if isinstance(value, int):
        if kind == "bool":
            return bool(value)
        if kind in ("int32", "int64", "enum"):
            value &= (1 << 64) - 1
            return value - (1 << 64) if value >> 63 else value
        if kind in ("string", "bytes", "double", "float"):
            raise Invalid(f"protobuf: expected a value of kind {kind}, got a number")
        return value
    if kind in VARINT_KINDS:
        raise Invalid(f"protobuf: expected a number of kind {kind}, got bytes")
    if kind == "string":
        return value.decode("utf-8")
    if kind == "double":
        return struct.unpack("<d", value)[0]
    if kind == "float":
        return struct.unpack("<f", value)[0]
    return value


def _packed(kind: str, value: bytes) -> Iterator[Any]:
    at = 0
    while at < len(value):
        number, at = read_varint(value, at)
        yield _scalar(kind, number)


def decode(table: Table, message: str, data: bytes) -> dict[str, Any]:
    """The dict of ``data``, a message named ``message`` in ``table``.

    Raises:
        Invalid: the bytes are not a protobuf message.
    """
    try:
        return _decode(table, message, data)
    except (ValueError, struct.error, RecursionError) as error:
        raise Invalid(f"protobuf: not a {message} message: {error}") from error


def _decode(table: Table, message: str, data: bytes) -> dict[str, Any]:
    fields, result = table[message], {}  # type: Mapping[int, Field], dict[str, Any]
    for number, wire, value in raw_fields(data):
        field = fields.get(number)
        if field is None:
            continue
        if field.kind == "map":
            key, item = _entry(table, field, _bytes(field.name, value))
            result.setdefault(field.name, {})[key] = item
        elif field.repeated and wire == 2 and field.kind in VARINT_KINDS:
            packed = _packed(field.kind, _bytes(field.name, value))
            result.setdefault(field.name, []).extend(packed)
        else:
            if field.kind == "message":
                item = _decode(table, field.message, _bytes(field.name, value))
            else:
                item = _scalar(field.kind, value)
            if field.repeated:
                result.setdefault(field.name, []).append(item)
            else:
                result[field.name] = item
    return result


def _bytes(name: str, value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise Invalid(f"protobuf: expected bytes in field {name}, got a number")
    return value


def _entry(table: Table, field: Field, data: bytes) -> tuple[Any, Any]:
    kinds = {1: field.entry[0], 2: field.entry[1]}
    key: Any = "" if field.entry[0] == "string" else 0
    item: Any = {} if field.entry[1] == "message" else b"" if field.entry[1] == "bytes" else ""
    for number, _, value in raw_fields(data):
        kind = kinds.get(number)
        if kind is None:
            continue
        if kind == "message":
            decoded: Any = _decode(table, field.message, _bytes(field.name, value))
        else:
            decoded = _scalar(kind, value)
        if number == 1:
            key = decoded
        else:
            item = decoded
    return key, item


def write_varint(value: int) -> bytes:
    """``value`` as a varint; negative numbers as their 64-bit two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field_bytes(number: int, kind: str, value: Any) -> bytes:
    if kind in VARINT_KINDS:
        return write_varint(number << 3) + write_varint(int(value))
    if kind == "double":
        return write_varint(number << 3 | 1) + struct.pack("<d", value)
    if kind == "float":
        return write_varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode("utf-8") if isinstance(value, str) else bytes(value)
    return write_varint(number << 3 | 2) + write_varint(len(data)) + data


def encode(
    table: Table, message: str, value: Mapping[str, Any], *, keep_defaults: bool = False
) -> bytes:
    """The wire bytes of the dict ``value`` as a message named ``message``.

    Raises:
        Invalid: ``value`` has a key that the table does not know.
    """
    by_name = {field.name: (number, field) for number, field in table[message].items()}
    unknown = value.keys() - by_name.keys()
    if unknown:
        raise Invalid(f"protobuf: {message} has no field {sorted(unknown)[0]!r}")
    out = bytearray()
    for name, item in value.items():
        number, field = by_name[name]
        if item is None:
            continue
        out += _encode_field(table, number, field, item, keep_defaults)
    return bytes(out)


def _encode_field(table: Table, number: int, field: Field, item: Any, keep_defaults: bool) -> bytes:
    def one(kind: str, message: str, value: Any, at: int) -> bytes:
        if kind == "message":
            value, kind = encode(table, message, value, keep_defaults=keep_defaults), "bytes"
        return _field_bytes(at, kind, value)

    if field.kind == "map":
        key_kind, value_kind = field.entry
        return b"".join(
            _field_bytes(
                number,
                "bytes",
                _field_bytes(1, key_kind, key) + one(value_kind, field.message, value, 2),
            )
            for key, value in item.items()
        )
    if field.repeated:
        if field.kind in VARINT_KINDS and item:
            packed = b"".join(write_varint(int(value)) for value in item)
            return _field_bytes(number, "bytes", packed)
        return b"".join(one(field.kind, field.message, value, number) for value in item)
    if not keep_defaults and field.kind != "message" and not item:
        return b""
    return one(field.kind, field.message, item, number)
