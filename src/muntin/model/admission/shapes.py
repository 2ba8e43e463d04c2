"""The types of built-in kinds as expressions see them.

Source: apiserver v1.34 pkg/cel/common/schemas.go (SchemaDeclType), pkg/cel/openapi.
"""

from __future__ import annotations

import re

from muntin.model import schema as schemas
from muntin.model.cel import Shape, escape
from muntin.model.schema import Schema, Type

_SCALARS = {
    "b": "bool", "i": "int", "i32": "int", "i64": "int", "n": "double", "n64": "double",
    "s": "string", "t": "timestamp", "y": "bytes",
}  # fmt: skip
_BY_NAME = {schemas.QUANTITY: "string", schemas.TIME: "timestamp", schemas.MICRO_TIME: "timestamp"}
_ANY = Shape("dyn")


def shape_of(schema: Schema, type_: Type) -> Shape:
    """The shape of objects of ``type_``, all fields of all types in it included."""
    return _object(schema, type_, {})


def _object(schema: Schema, type_: Type, known: dict[str, Shape]) -> Shape:
    found = known.get(type_.name)
    if found is None:
        fields: dict[str, Shape] = {}
        found = known[type_.name] = Shape("object", re.sub(r"\W", "_", type_.name), fields=fields)
        for name, shape in type_.fields.items():
            escaped = escape(name)
            if escaped is not None:
                fields[escaped] = _shape(schema, shape, known)
    return found


def _shape(schema: Schema, shape: schemas.Shape, known: dict[str, Shape]) -> Shape:
    if shape.code in ("[", "{") and shape.items is not None:
        kind = "list" if shape.code == "[" else "map"
        return Shape(kind, element=_shape(schema, shape.items, known))
    if shape.code != "@":
        kind = _SCALARS.get(shape.code, "dyn")
        return Shape(kind) if kind != "dyn" else _ANY
    if shape.ref in _BY_NAME:
        return Shape(_BY_NAME[shape.ref])
    type_ = schema.type(shape.ref)
    if type_.fields:
        return _object(schema, type_, known)
    return _shape(schema, type_.shape, known) if type_.shape.code not in ("o", "@") else _ANY
