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


_LARGEST_BODY = 3 * 1024 * 1024
# The longest and the shortest text of a format, with its quotes.
_LENGTHS = {"duration": (32, 3), "date": (12, 12), "date-time": (32, 21)}
_LEAST = {"bool": 4, "double": 1, "int": 1}


def shape_of(schema: Structural) -> Shape | None:
    """The shape of a place; None for one whose type is not known, which rules cannot name."""
    if schema.int_or_string:
        return Shape("dyn", most=_longest(schema))
    if schema.type == "array":
        inner = shape_of(schema.items) if schema.items is not None else None
        if inner is None:
            return None
        most = (_LARGEST_BODY - 2) // (inner.least_bytes + 1)
        return Shape("list", element=inner, most=_limit(schema, "maxItems", most), least_bytes=2)
    if schema.type == "object":
        return _map(schema, schema.additional) if schema.additional else _object(schema)
    if schema.type == "string":
        return _text(schema)
    kind = _SCALARS.get(schema.type)
    return None if kind is None else Shape(kind, least_bytes=_LEAST[kind])


def _limit(schema: Structural, keyword: str, otherwise: int) -> int:
    found = schema.raw.get(keyword)
    return otherwise if found is None else max(int(found), 0)


def _longest(schema: Structural) -> int:
    """How many bytes a text has at most; each of its characters may have four."""
    limit = schema.raw.get("maxLength")
    if limit is not None:
        return max(int(limit), 0) * 4
    known = [len(text.encode()) for text in schema.raw.get("enum") or () if isinstance(text, str)]
    if schema.raw.get("enum") and not schema.int_or_string:
        return max(known, default=0)
    return _LARGEST_BODY - 2


def _text(schema: Structural) -> Shape:
    name = str(schema.raw.get("format") or "")
    if name in _LENGTHS:
        most, least = _LENGTHS[name]
        return Shape(_FORMATS[name], most=most, least_bytes=least)
    if name == "byte":
        return Shape("bytes", most=_limit(schema, "maxLength", _LARGEST_BODY - 2), least_bytes=2)
    return Shape(_FORMATS.get(name, "string"), most=_longest(schema), least_bytes=2)


def _map(schema: Structural, values: Structural) -> Shape | None:
    inner = shape_of(values)
    if inner is None:
        return None
    most = (_LARGEST_BODY - 2) // (inner.least_bytes + 6)
    return Shape("map", element=inner, most=_limit(schema, "maxProperties", most), least_bytes=2)


def _object(schema: Structural) -> Shape:
    fields, least = {}, 2
    required = set(schema.raw.get("required") or ())
    for key, place in schema.properties.items():
        name = escape(key)
        shape = shape_of(place)
        if shape is None:
            continue
        if name is not None:
            fields[name] = shape
            if name == f"__{key}__":  # a word of the language may stand for itself, too
                fields[key] = shape
        if key in required and place.default is None:
            least += len(key.encode()) + shape.least_bytes + 4
    if schema.embedded:
        fields |= {"apiVersion": _ANY_TEXT, "kind": _ANY_TEXT, "metadata": _metadata()}
    return Shape("object", f"Custom{next(_numbers)}", fields=fields, least_bytes=least)


_ANY_TEXT = Shape("string", most=_LARGEST_BODY - 2, least_bytes=2)


def _metadata() -> Shape:
    fields = {"name": _ANY_TEXT, "generateName": _ANY_TEXT}
    return Shape("object", f"Custom{next(_numbers)}", fields=fields, least_bytes=2)
