"""Types of the schema as OpenAPI schemas.

Source: kubernetes v1.34 api/openapi-spec/swagger.json and api/openapi-spec/v3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from muntin.model.schema import INT_OR_STRING, QUANTITY, Schema, Shape, Type

Json = dict[str, Any]

_SCALARS: dict[str, tuple[str, str]] = {
    "s": ("string", ""),
    "y": ("string", "byte"),
    "t": ("string", "date-time"),
    "i": ("integer", ""),
    "i32": ("integer", "int32"),
    "i64": ("integer", "int64"),
    "n": ("number", ""),
    "n64": ("number", "double"),
    "b": ("boolean", ""),
    "o": ("object", ""),
}


def reachable(schema: Schema, roots: Iterable[str]) -> set[str]:
    """``roots`` and all types that they refer to."""
    found: set[str] = set()
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        for shape in schema.type(name).fields.values():
            while shape.items is not None:
                shape = shape.items
            if shape.ref:
                todo.append(shape.ref)
    return found


def _extensions(shape: Shape) -> Json:
    pairs: tuple[tuple[str, Any], ...] = (
        ("x-kubernetes-list-map-keys", list(shape.list_map_keys)),
        ("x-kubernetes-list-type", shape.list_type),
        ("x-kubernetes-map-type", shape.map_type),
        ("x-kubernetes-patch-merge-key", shape.merge_key),
        ("x-kubernetes-patch-strategy", ",".join(shape.strategies)),
    )
    return {key: value for key, value in pairs if value}


def _field(shape: Shape, reference: Callable[[str], Json]) -> Json:
    if shape.code == "@":
        result = reference(shape.ref)
    elif shape.code == "[":
        assert shape.items is not None
        result = {"type": "array", "items": _field(shape.items, reference)}
    elif shape.code == "{":
        assert shape.items is not None
        result = {"type": "object", "additionalProperties": _field(shape.items, reference)}
    else:
        result = _scalar(shape.code)
    extensions = _extensions(shape)
    if extensions and "$ref" in result and "components" in result["$ref"]:
        result = {"allOf": [result]}  # v3 ignores what stands beside a $ref
    return {**result, **extensions}


def _scalar(code: str) -> Json:
    if code == "*":
        return {}
    kind, form = _SCALARS[code]
    return {"type": kind, "format": form} if form else {"type": kind}


def _type(type_: Type, reference: Callable[[str], Json]) -> Json:
    result = _scalar(type_.shape.code)
    if type_.fields:
        result["properties"] = {
            name: _field(shape, reference) for name, shape in type_.fields.items()
        }
        if type_.required:
            result["required"] = list(type_.required)
    if type_.shape.map_type:
        result["x-kubernetes-map-type"] = type_.shape.map_type
    if type_.kinds:
        result["x-kubernetes-group-version-kind"] = [
            {"group": group, "kind": kind, "version": version}
            for group, version, kind in type_.kinds
        ]
    return result


def v2(type_: Type) -> Json:
    """The definition of a type in an OpenAPI v2 document."""
    if type_.name == INT_OR_STRING:
        return {"type": "string", "format": "int-or-string"}
    if type_.name == QUANTITY:
        return {"type": "string"}
    return _type(type_, lambda name: {"$ref": f"#/definitions/{name}"})


def v3(type_: Type) -> Json:
    """The schema of a type in an OpenAPI v3 document."""
    if type_.name == INT_OR_STRING:
        return {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}
    if type_.name == QUANTITY:
        return {"oneOf": [{"type": "string"}, {"type": "number"}]}
    return _type(type_, lambda name: {"$ref": f"#/components/schemas/{name}"})
