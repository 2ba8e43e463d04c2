"""What places of a structural schema look like to expressions.

Source: kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/cel/common/schemas.go.
"""

from __future__ import annotations

from itertools import count

from muntin.model.cel import Shape, escape
from muntin.model.custom.structural import Structural

_numbers = count(1)
_SCALARS = {"boolean": "bool", "integer": "int", "number": "double", "string": "string"}
_FORMATS = {"byte": "bytes", "date": "timestamp", "date-time": "timestamp", "datetime": "timestamp",
            "duration": "duration"}  # fmt: skip


def shape_of(schema: Structural) -> Shape | None:
    """The shape of a place; None for one whose type is not known, which rules cannot name."""
    if schema.int_or_string:
        return Shape("dyn")
    if schema.type == "array":
        inner = shape_of(schema.items) if schema.items is not None else None
        return None if inner is None else Shape("list", element=inner)
    if schema.type == "object":
        if schema.additional is not None:
            inner = shape_of(schema.additional)
            return None if inner is None else Shape("map", element=inner)
        return _object(schema)
    if schema.type == "string":
        return Shape(_FORMATS.get(str(schema.raw.get("format") or ""), "string"))
    kind = _SCALARS.get(schema.type)
    return None if kind is None else Shape(kind)


def _object(schema: Structural) -> Shape:
    fields = {}
    for key, place in schema.properties.items():
        name = escape(key)
        shape = shape_of(place)
        if name is not None and shape is not None:
            fields[name] = shape
    if schema.embedded:
        fields |= {"apiVersion": Shape("string"), "kind": Shape("string"), "metadata": _metadata()}
    return Shape("object", f"Custom{next(_numbers)}", fields=fields)


def _metadata() -> Shape:
    fields = {"name": Shape("string"), "generateName": Shape("string")}
    return Shape("object", f"Custom{next(_numbers)}", fields=fields)
