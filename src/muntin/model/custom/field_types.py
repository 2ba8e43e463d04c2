"""How the fields of custom objects merge, for those who track who manages them."""

from __future__ import annotations

from muntin.model.custom.structural import Structural
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


def whole(
    schema: Structural | None, metadata: FieldType, unknown: FieldType = DEDUCED
) -> FieldType:
    """The type of an object; without a schema all but its metadata is ``unknown``."""
    if schema is None:
        fields = {"apiVersion": SCALAR, "kind": SCALAR, "metadata": metadata}
        return struct(fields, rest=unknown)
    return field_type(schema, metadata, unknown)


def field_type(schema: Structural, metadata: FieldType, unknown: FieldType = DEDUCED) -> FieldType:
    """The type of a place; ``metadata`` is that of embedded objects' metadata, and ``unknown`` that
    of what a schema lets be anything."""
    if schema.type == "array":
        items = schema.items
        made = field_type(items, metadata, unknown) if items is not None else unknown
        defaults = {
            key: place.default
            for key in schema.list_map_keys
            if schema.items is not None
            and (place := schema.items.properties.get(key)) is not None
            and place.default is not None
        }
        return sequence(made, schema.list_type, schema.list_map_keys, defaults)
    if schema.type == "object" or schema.properties:
        return _object(schema, metadata, unknown)
    if schema.type or schema.int_or_string:
        return _SCALARS.get(schema.type, SCALAR)
    return unknown


_SCALARS = {"string": STRING, "integer": NUMBER, "number": NUMBER, "boolean": BOOLEAN}


def _object(schema: Structural, metadata: FieldType, unknown: FieldType) -> FieldType:
    atomic = schema.map_type == "atomic"
    if schema.additional is not None:
        return mapping(field_type(schema.additional, metadata, unknown), atomic=atomic)
    fields = {key: field_type(place, metadata, unknown) for key, place in schema.properties.items()}
    if schema.embedded:
        fields |= {"apiVersion": SCALAR, "kind": SCALAR, "metadata": metadata}
    is_open = schema.open or schema.takes_any
    return struct(fields, rest=unknown if is_open else None, atomic=atomic)
