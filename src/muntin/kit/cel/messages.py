"""Shapes and opaque values as protobuf messages, which is how the compiler knows types by name.

The type checker knows each shape and each opaque type (a quantity, an address) as a message. When
an expression runs, objects are plain maps, and all opaque values are messages of one kind that say
which type they are and one text, for calls are told apart by kinds only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from muntin.kit.cel.shapes import OPAQUE, Shape

_WELL_KNOWN = ("struct", "timestamp", "duration")
_SCALARS = {"bool": 8, "bytes": 12, "double": 1, "int": 3, "string": 9}  # FieldDescriptorProto.Type
_MESSAGE, _OPTIONAL, _REPEATED = 11, 1, 3
_KNOWN_AS = {
    "duration": ".google.protobuf.Duration",
    "timestamp": ".google.protobuf.Timestamp",
}
_ANYTHING, _ANY_LIST, _ANY_MAP = (
    ".google.protobuf.Value",
    ".google.protobuf.ListValue",
    ".google.protobuf.Struct",
)
_TYPE, _TEXT = "type__", "text__"


def new_pool() -> Any:
    """A pool with the well-known types."""
    from importlib import import_module

    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    for name in _WELL_KNOWN:
        module = import_module(f"google.protobuf.{name}_pb2")
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    return pool


@cache
def shared_pool() -> Any:
    """The pool that values live in."""
    pool = new_pool()
    file = _file("opaque", "")
    row = file.message_type.add(name=OPAQUE)
    for number, name in enumerate((_TYPE, _TEXT), start=1):
        row.field.add(name=name, number=number, type=_SCALARS["string"], label=_OPTIONAL)
    pool.Add(file)
    return pool


@cache
def _opaque_class() -> Any:
    from google.protobuf.message_factory import GetMessageClass

    return GetMessageClass(shared_pool().FindMessageTypeByName(OPAQUE))


def opaque(name: str, text: str) -> Any:
    """A value of the opaque type ``name``; equal if type and text are."""
    return _opaque_class()(**{_TYPE: name, _TEXT: text})


def text_of(value: Any) -> str:
    """What :func:`opaque` was given."""
    return str(getattr(value, _TEXT))


def type_of(value: Any) -> str:
    """The name of an opaque value's type; empty for any other value."""
    return str(getattr(value, _TYPE, ""))


def as_value(value: Any) -> Any:
    """``value`` so that it may stand anywhere: datetimes and timedeltas only may where a type
    says so, their messages anywhere."""
    from google.protobuf import duration_pb2, timestamp_pb2

    if isinstance(value, datetime):
        stamp = timestamp_pb2.Timestamp()
        stamp.FromDatetime(value)
        return stamp
    if isinstance(value, timedelta):
        span = duration_pb2.Duration()
        span.FromTimedelta(value)
        return span
    return value


def declare_opaque(pool: Any, name: str) -> None:
    """Make the opaque type known to ``pool``."""
    package, _, simple = name.rpartition(".")
    file = _file(f"opaque/{name}", package)
    file.message_type.add(name=simple)
    pool.Add(file)


def declare_shapes(pool: Any, shapes: Iterable[Shape]) -> None:
    """Make the objects of ``shapes``, and all objects in them, known to ``pool``."""
    found: dict[str, Shape] = {}
    for shape in shapes:
        for each in _objects(shape, set()):
            found.setdefault(each.name, each)
    file = _file("shapes", "")
    for name, shape in found.items():
        row = file.message_type.add(name=name)
        for number, (field, inner) in enumerate(shape.fields.items(), start=1):
            _add_field(row, field, number, inner)
    pool.Add(file)


def _file(name: str, package: str) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    needs = [f"google/protobuf/{known}.proto" for known in _WELL_KNOWN]
    return FileDescriptorProto(name=name, package=package, syntax="proto2", dependency=needs)


def _objects(shape: Shape, seen: set[int]) -> Iterator[Shape]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    if shape.kind == "object":
        yield shape
    if shape.element is not None:
        yield from _objects(shape.element, seen)
    for inner in shape.fields.values():
        yield from _objects(inner, seen)


def _add_field(row: Any, name: str, number: int, shape: Shape) -> None:
    label, of = _OPTIONAL, shape
    if shape.kind == "list" and shape.element is not None:
        label, of = _REPEATED, shape.element
        if of.kind in ("list", "map"):  # a repeated field holds no lists or maps of its own
            label, of = _OPTIONAL, Shape("any_list")
    elif shape.kind == "map" and shape.element is not None:
        taken = any(entry.name == _entry_name(name) for entry in row.nested_type)
        if taken or shape.element.kind in ("list", "map", "dyn"):
            of = Shape("any_map")
        else:
            _add_map(row, name, number, shape.element)
            return
    type_, type_name = _field_type(of)
    row.field.add(
        name=name,
        number=number,
        type=type_,
        label=label,
        type_name=type_name,
        json_name=f"f{number}",  # else names that differ in case or underscores only would clash
    )


def _add_map(row: Any, name: str, number: int, element: Shape) -> None:
    entry_name = _entry_name(name)
    entry = row.nested_type.add(name=entry_name)
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=_SCALARS["string"], label=_OPTIONAL)
    type_, type_name = _field_type(element)
    entry.field.add(name="value", number=2, type=type_, label=_OPTIONAL, type_name=type_name)
    row.field.add(
        name=name,
        number=number,
        type=_MESSAGE,
        label=_REPEATED,
        type_name=f".{row.name}.{entry_name}",
        json_name=f"f{number}",
    )


def _entry_name(field: str) -> str:
    """What protobuf calls the entries of a map field. Source: protobuf parser.cc MapEntryName."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _field_type(shape: Shape) -> tuple[int, str | None]:
    if shape.kind in _SCALARS:
        return _SCALARS[shape.kind], None
    if shape.kind in ("object", "opaque"):
        return _MESSAGE, f".{shape.name}"
    if shape.kind == "any_list":
        return _MESSAGE, _ANY_LIST
    if shape.kind == "any_map":
        return _MESSAGE, _ANY_MAP
    return _MESSAGE, _KNOWN_AS.get(shape.kind, _ANYTHING)
