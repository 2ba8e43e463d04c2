"""The types of the built-in kinds, read from the schema on first use.

A list without a list type merges as its patch strategy says, which is how the schemas of older
API versions tell. Source: kube-openapi pkg/schemaconv; kubernetes api/*/types.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.fields.types import (
    BOOLEAN,
    DEDUCED,
    NUMBER,
    SCALAR,
    STRING,
    FieldType,
    mapping,
    sequence,
    struct,
)
from muntin.model.resources.lifecycle import version_of
from muntin.model.schema import INT_OR_STRING, QUANTITY, Schema, Shape, Type
from muntin.model.zeros import written

# What the JSON may leave out and is there all the same, beyond what the schema calls required.
_ALWAYS = ("metadata", "spec", "status")
# The zero values that an element has in fields that it must have and leaves out.
_REFERENCE = "io.k8s.api.core.v1.LocalObjectReference"
_ZEROS: Mapping[str, Any] = {"s": "", "i": 0, "i32": 0, "i64": 0, "b": False}


_SCALARS: Mapping[str, FieldType] = {
    "s": STRING, "y": STRING, "b": BOOLEAN,
    **dict.fromkeys(("i", "i32", "i64", "n", "n64"), NUMBER),
}  # fmt: skip


class BuiltinTypes:
    """The field types of one schema's kinds."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._nameless = is_in(ApiFeature.NAMELESS_REFERENCES, version_of(schema.version))
        self._kinds: dict[tuple[str, str], FieldType] = {}
        self._types: dict[str, FieldType] = {INT_OR_STRING: SCALAR, QUANTITY: SCALAR}

    def field_type(self, api_version: str, kind: str) -> FieldType | None:
        """The type of whole objects of that kind; None when the schema does not have it."""
        known = self._kinds.get((api_version, kind))
        if known is not None:
            return known
        group, _, version = api_version.rpartition("/")
        found = self._schema.kind_type(group, version, kind)
        if found is None:
            return None
        self._kinds[api_version, kind] = self.named(found.name)
        return self._kinds[api_version, kind]

    def named(self, name: str) -> FieldType:
        """The field type of the schema's type of that full name."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = self._of_type(self._schema.type(name))
        return found

    def _of_type(self, type_: Type, *, granular: bool = False) -> FieldType:
        if not type_.fields:
            return self._of_shape(type_.shape)
        return struct(
            {name: self._lazy(shape) for name, shape in type_.fields.items()},
            atomic=type_.shape.map_type == "atomic" and not granular,
            settled=frozenset({*_ALWAYS, *written(type_)}),
        )

    def _lazy(self, shape: Shape) -> Callable[[], FieldType]:
        return lambda: self._of_shape(shape)

    def _of_shape(self, shape: Shape) -> FieldType:
        if shape.code == "@":
            found = self.named(shape.ref)
            if shape.map_type == "granular" and found.atomic:  # here, though not elsewhere
                return self._of_type(self._schema.type(shape.ref), granular=True)
            return _made_atomic(found) if shape.map_type == "atomic" else found
        if shape.code == "[":
            assert shape.items is not None
            kind, keys = _merging(shape)
            return sequence(self._lazy(shape.items), kind, keys, self._defaults(shape.items, keys))
        if shape.code == "{":
            assert shape.items is not None
            return mapping(self._lazy(shape.items), atomic=shape.map_type == "atomic")
        return DEDUCED if shape.code in ("o", "*") else _SCALARS.get(shape.code, SCALAR)

    def _defaults(self, items: Shape, keys: tuple[str, ...]) -> Mapping[str, Any]:
        """What elements mean that leave out fields by which they are told apart."""
        type_ = self._schema.resolve(items)
        found: dict[str, Any] = {"protocol": "TCP"} if "protocol" in keys else {}
        if keys == ("name",) and items.ref == _REFERENCE and self._nameless:
            return {"name": ""}
        for key in keys:
            shape = type_.fields.get(key) if type_ is not None else None
            if shape is not None and shape.required and shape.code in _ZEROS:
                found[key] = _ZEROS[shape.code]
        return found


def _made_atomic(type_: FieldType) -> FieldType:
    return struct({}, rest=DEDUCED, atomic=True) if not type_.atomic else type_


def _merging(shape: Shape) -> tuple[str, tuple[str, ...]]:
    """The list type and keys of a list."""
    if shape.list_type:
        return shape.list_type, shape.list_map_keys
    if "merge" not in shape.strategies:
        return "atomic", ()
    return ("map", (shape.merge_key,)) if shape.merge_key else ("set", ())
