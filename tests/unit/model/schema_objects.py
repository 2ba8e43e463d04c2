"""Random objects of any type of the schema, for property tests."""

from __future__ import annotations

import random
from typing import Any

from muntin.model.schema import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME, Schema, Shape, Type

Object = dict[str, Any]

_SCALARS = {
    QUANTITY: lambda r: r.choice(["1", "250m", "3Gi"]),
    INT_OR_STRING: lambda r: r.choice([80, "http", "25%"]),
    TIME: lambda r: "2024-05-10T12:00:00Z",
    MICRO_TIME: lambda r: "2024-05-10T12:00:00.000001Z",
}


def random_object(schema: Schema, type_: Type, rng: random.Random, chance: float = 0.5) -> Object:
    """An object of ``type_``: required fields, and each other one with that chance."""
    return _struct(schema, type_, rng, chance, 0)


def _struct(schema: Schema, type_: Type, rng: random.Random, chance: float, depth: int) -> Object:
    result: Object = {}
    for name, shape in type_.fields.items():
        if name in ("apiVersion", "kind", "managedFields") and depth < 2:
            continue
        if shape.required or rng.random() < chance / (1 + depth / 4):
            value = _value(schema, shape, rng, chance, depth + 1)
            if value is not None:
                result[name] = value
    return result


def _value(schema: Schema, shape: Shape, rng: random.Random, chance: float, depth: int) -> Any:
    code = shape.code
    if code == "@":
        if shape.ref in _SCALARS:
            return _SCALARS[shape.ref](rng)
        type_ = schema.type(shape.ref)
        if not type_.fields:
            return {"any": "thing"}
        if depth > 12:
            return {}
        return _struct(schema, type_, rng, chance, depth)
    if code in ("[", "{"):
        assert shape.items is not None
        items = [
            _value(schema, shape.items, rng, chance, depth + 1) for _ in range(rng.randint(1, 2))
        ]
        return items if code == "[" else {f"k{index}": item for index, item in enumerate(items)}
    return {
        "s": lambda: f"s{rng.randint(0, 99)}",
        "y": lambda: "AAEC",
        "t": lambda: "2024-05-10T12:00:00Z",
        "b": lambda: rng.random() < 0.5,
        "o": lambda: {"any": "thing"},
        "*": lambda: "x",
        "n": lambda: 0.5,
        "n64": lambda: 0.5,
    }.get(code, lambda: rng.randint(1, 99))()
