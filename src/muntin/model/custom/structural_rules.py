"""Whether a schema is structural, and what is wrong with it if not.

Source: apiextensions-apiserver pkg/apiserver/schema/validation.go.
"""

from __future__ import annotations

from typing import Any

from muntin.kit.errors import Cause, Invalid
from muntin.model.custom.structural import Json
from muntin.model.custom.values import compile_pattern
from muntin.model.validation.findings import Findings

ROOT, ITEM, FIELD = "root", "item", "field"
_LEVELS = {
    ROOT: "must not be empty at the root",
    ITEM: "must not be empty for specified array items",
    FIELD: "must not be empty for specified object fields",
}
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
# What a nested schema may not say, and the words for it.
_FORBIDDEN = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_ONLY_NAMES = (
    "must not specify anything other than name and generateName, but metadata is implicitly "
    "specified"
)


def violations(schema: Json, path: str) -> list[Cause]:
    """What keeps ``schema``, at ``path`` of its definition, from being structural, sorted."""
    found = Findings()
    _invariants(schema, ROOT, path, found)
    _completeness(schema, schema, path, found)
    return sorted(found.causes, key=lambda cause: (cause.field, cause.message))


def _key(path: str, name: str) -> str:
    return f"{path}.properties[{name}]"


def _invariants(schema: Json, level: str, path: str, found: Findings) -> None:
    kind, items = schema.get("type") or "", schema.get("items")
    if kind == "array" and items is None:
        found.required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        _invariants(items, ITEM, f"{path}.items", found)
    for key, place in (schema.get("properties") or {}).items():
        _invariants(place, FIELD, _key(path, key), found)
    _additional(schema, level, path, found)
    _extensions(schema, path, found)
    any_of: list[Json] = schema.get("anyOf") or []
    all_of: list[Json] = schema.get("allOf") or []
    skip_any = any_of == _INT_OR_STRING
    skip_first = bool(all_of) and (all_of[0].get("anyOf") or ()) == _INT_OR_STRING
    _value_rules(schema, path, found, skip_any=skip_any, skip_first=skip_first)
    _type(schema, level, kind, path, found)
    _meta_fields(schema, level, path, found)


def _additional(schema: Json, level: str, path: str, found: Findings) -> None:
    if "additionalProperties" not in schema:
        return
    at, value = f"{path}.additionalProperties", schema["additionalProperties"]
    if level == ROOT:
        found.forbidden(at, "must not be used at the root")
    if isinstance(value, dict):
        _invariants(value, FIELD, at, found)
    if schema.get("x-kubernetes-embedded-resource"):
        found.forbidden(at, "must not be used if x-kubernetes-embedded-resource is set")


def _extensions(schema: Json, path: str, found: Findings) -> None:
    if not schema.get("x-kubernetes-int-or-string"):
        return
    for name in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if schema.get(name):
            text = "must be false if x-kubernetes-int-or-string is true"
            found.invalid(f"{path}.{name}", True, text)


def _type(schema: Json, level: str, kind: str, path: str, found: Findings) -> None:
    at = f"{path}.type"
    is_open = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    if schema.get("x-kubernetes-embedded-resource"):
        text = "must be object if x-kubernetes-embedded-resource is true"
        if not kind:
            found.required(at, text)
        elif kind != "object":
            found.invalid(at, kind, text)
        if not is_open and not schema.get("properties"):
            found.required(
                f"{path}.properties",
                "must not be empty if x-kubernetes-embedded-resource is true without "
                "x-kubernetes-preserve-unknown-fields",
            )
    elif not kind and not is_open and not schema.get("x-kubernetes-int-or-string"):
        found.required(at, _LEVELS[level])
    if level == ROOT and kind and kind != "object":
        found.invalid(at, kind, "must be object at the root")


def _meta_fields(schema: Json, level: str, path: str, found: Findings) -> None:
    properties = schema.get("properties") or {}
    is_object = level == ROOT or bool(schema.get("x-kubernetes-embedded-resource"))
    for name in ("kind", "apiVersion"):
        place = properties.get(name)
        if place is not None and is_object and place.get("type") != "string":
            found.invalid(f"{_key(path, name)}.type", place.get("type", ""), "must be string")
    metadata = properties.get("metadata")
    if metadata is None:
        return
    at = _key(path, "metadata")
    if is_object and metadata.get("type") != "object":
        found.invalid(f"{at}.type", metadata.get("type", ""), "must be object")
    if level == ROOT:
        rest = {k: v for k, v in metadata.items() if k not in ("type", "default") and v}
        if set(rest.get("properties") or ()) <= {"name", "generateName"}:
            rest.pop("properties", None)
        if rest:
            found.forbidden(at, _ONLY_NAMES)


def _value_rules(
    schema: Json, path: str, found: Findings, *, skip_any: bool = False, skip_first: bool = False
) -> None:
    for name in ("anyOf", "allOf", "oneOf"):
        for index, part in enumerate(schema.get(name) or ()):
            if name == "anyOf" and skip_any:
                continue
            first = name == "allOf" and not index and skip_first
            _nested(part, f"{path}.{name}[{index}]", found, skip_any=first)
    if schema.get("not") is not None:
        _nested(schema["not"], f"{path}.not", found)
    if pattern := schema.get("pattern"):
        try:
            compile_pattern(pattern)
        except Invalid as err:
            text = f"must be a valid regular expression, but isn't: {err.message}"
            found.invalid(f"{path}.pattern", pattern, text)


def _nested(schema: Json, path: str, found: Findings, *, skip_any: bool = False) -> None:
    """A schema under allOf and its like: it may judge values, not give them a shape."""
    _value_rules(schema, path, found, skip_any=skip_any)
    if isinstance(schema.get("items"), dict):
        _nested(schema["items"], f"{path}.items", found)
    for key, place in (schema.get("properties") or {}).items():
        _nested(place, _key(path, key), found)
    for name, text in _FORBIDDEN:
        value: Any = schema.get(name)
        if value or (name == "additionalProperties" and name in schema):
            found.forbidden(f"{path}.{name}", text)
    if "metadata" in (schema.get("properties") or ()):
        found.forbidden(_key(path, "metadata"), "must not be specified in a nested context")


# -- completeness -----------------------------------------------------------------------------


def _completeness(schema: Json, shape: Json, path: str, found: Findings) -> None:
    """What the root's nested schemas speak of is also said outside of them."""
    for name in ("anyOf", "allOf", "oneOf"):
        for index, part in enumerate(schema.get(name) or ()):
            _nested_completeness(part, shape, path, f"{path}.{name}[{index}]", found)
    if schema.get("not") is not None:
        _nested_completeness(schema["not"], shape, path, f"{path}.not", found)


def _nested_completeness(
    part: Json, shape: Json | None, shape_path: str, path: str, found: Findings
) -> None:
    if shape is None:
        found.required(shape_path, f"because it is defined in {path}")
        return
    for name in ("anyOf", "allOf", "oneOf"):
        for index, inner in enumerate(part.get(name) or ()):
            at = f"{path}.{name}[{index}]"
            _nested_completeness(inner, shape, shape_path, at, found)
    if part.get("not") is not None:
        _nested_completeness(part["not"], shape, shape_path, f"{path}.not", found)
    if isinstance(part.get("items"), dict):
        items = shape.get("items")
        _nested_completeness(part["items"], items, f"{shape_path}.items", f"{path}.items", found)
    known = shape.get("properties") or {}
    for key, place in (part.get("properties") or {}).items():
        _nested_completeness(place, known.get(key), _key(shape_path, key), _key(path, key), found)
