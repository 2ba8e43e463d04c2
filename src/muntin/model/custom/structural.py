"""Structural schemas: the part of an OpenAPI schema that gives objects their shape.

A `Structural` is made once per schema version and shared by all that walk objects.
Source: apiextensions-apiserver pkg/apiserver/schema/structural.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Json = Mapping[str, Any]

META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})
NESTING = ("allOf", "anyOf", "oneOf")


@dataclass(frozen=True, slots=True)
class Structural:
    """One place of a schema. ``raw`` is the JSONSchemaProps it was read from.

    ``default`` is None where there is none. ``open`` says that unknown fields stay, ``embedded``
    that the place holds a whole object with metadata. ``additional`` is the schema of a map's
    values; ``takes_any`` holds for ``additionalProperties: true``.
    """

    raw: Json = field(default_factory=dict)
    type: str = ""
    nullable: bool = False
    default: Any = None
    properties: Mapping[str, Structural] = field(default_factory=dict)
    additional: Structural | None = None
    takes_any: bool = False
    items: Structural | None = None
    open: bool = False
    embedded: bool = False
    int_or_string: bool = False
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    rules: tuple[Json, ...] = ()
    has_lists: bool = False  # sets or maps, here or further down
    has_embedded: bool = False
    has_rules: bool = False

    @property
    def as_root(self) -> Structural:
        """It as the schema of a whole object, whose metadata is not its business."""
        return self if self.embedded else replace(self, embedded=True)


def parse(schema: Json) -> Structural:
    """The structural part of ``schema``; what is not structural is left out, not refused."""
    additional, items = schema.get("additionalProperties"), schema.get("items")
    properties = {key: parse(item) for key, item in (schema.get("properties") or {}).items()}
    element = parse(items) if isinstance(items, Mapping) else None
    value = parse(additional) if isinstance(additional, Mapping) else None
    below = [*properties.values(), *(node for node in (element, value) if node is not None)]
    list_type = schema.get("x-kubernetes-list-type") or ""
    is_embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    return Structural(
        raw=schema,
        type=schema.get("type", ""),
        nullable=bool(schema.get("nullable")),
        default=schema.get("default"),
        properties=properties,
        additional=value,
        takes_any=additional is True,
        items=element,
        open=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        embedded=is_embedded,
        int_or_string=bool(schema.get("x-kubernetes-int-or-string")),
        list_type=list_type,
        list_map_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        map_type=schema.get("x-kubernetes-map-type") or "",
        rules=tuple(schema.get("x-kubernetes-validations") or ()),
        has_lists=list_type in ("set", "map") or any(child.has_lists for child in below),
        has_embedded=is_embedded or any(child.has_embedded for child in below),
        has_rules=_has_rules(schema) or any(child.has_rules for child in below),
    )


def _has_rules(schema: Json) -> bool:
    """Whether a place itself has rules, or those of its ``allOf`` have."""
    if schema.get("x-kubernetes-validations"):
        return True
    return any(_has_rules(part) for part in schema.get("allOf") or ())


def walk(schema: Json) -> Iterator[Json]:
    """``schema`` and all schemas within it."""
    yield schema
    for key in ("items", "additionalProperties", "additionalItems", "not"):
        value = schema.get(key)
        if isinstance(value, Mapping):
            yield from walk(value)
        elif isinstance(value, list):
            for item in value:
                yield from walk(item)
    for key in NESTING:
        for item in schema.get(key) or ():
            yield from walk(item)
    for key in ("properties", "patternProperties", "definitions"):
        for item in (schema.get(key) or {}).values():
            yield from walk(item)
    for item in (schema.get("dependencies") or {}).values():
        if isinstance(item, Mapping):
            yield from walk(item)
