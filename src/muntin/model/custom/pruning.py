"""What becomes of an object before it is validated: unknown fields go, defaults come.

Both change the object in place and cost one walk over it.
Source: apiextensions-apiserver pkg/apiserver/schema/pruning/algorithm.go, defaulting/algorithm.go,
defaulting/prunenulls.go.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from muntin.model.custom.structural import META_FIELDS, Structural

Unknown = list[str]


def prune(value: Any, schema: Structural | None, unknown: Unknown, path: str = "") -> None:
    """Drop the fields that ``schema`` does not have; their paths are added to ``unknown``.

    Call it with ``schema.as_root`` for a whole object.
    """
    if schema is not None and schema.open:
        _keep(value, schema, unknown, path)
    elif isinstance(value, dict):
        _prune_object(value, schema, unknown, path)
    elif isinstance(value, list):
        items = schema.items if schema is not None else None
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                prune(item, items, unknown, f"{path}[{index}]")


def _prune_object(
    value: dict[str, Any], schema: Structural | None, unknown: Unknown, path: str
) -> None:
    gone = []
    for key, item in value.items():
        if schema is None:
            gone.append(key)
            continue
        if schema.embedded and key in META_FIELDS:
            continue
        found = schema.properties.get(key)
        if found is None and schema.additional is None and not schema.takes_any:
            gone.append(key)
        elif isinstance(item, dict | list):
            if found is None and schema.additional is None:
                prune(item, None, unknown, _child(path, key))
            else:
                prune(item, found or schema.additional, unknown, _child(path, key))
    for key in gone:
        del value[key]
        unknown.append(_child(path, key))


def _keep(value: Any, schema: Structural, unknown: Unknown, path: str) -> None:
    """Keep what is unknown, and prune below what is known."""
    if isinstance(value, dict):
        for key, item in value.items():
            if schema.embedded and key in META_FIELDS:
                continue
            found = schema.properties.get(key) or schema.additional
            if found is not None and isinstance(item, dict | list):
                prune(item, found, unknown, _child(path, key))
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                _keep(item, schema.items, unknown, f"{path}[{index}]")


def _child(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def default(value: Any, schema: Structural, *, keeps_null: bool = False) -> bool:
    """Fill in the defaults of ``schema``; null counts as absent where it is not allowed.

    With ``keeps_null`` it does so only where there is a default. Returns whether anything was
    changed.
    """
    if isinstance(value, dict):
        return _default_object(value, schema, keeps_null)
    if isinstance(value, list) and schema.items is not None:
        return _default_items(value, schema.items, keeps_null)
    return False


def _default_object(value: dict[str, Any], schema: Structural, keeps_null: bool) -> bool:
    changed = False
    for key, place in schema.properties.items():
        if place.default is None:
            continue
        if key not in value or (value[key] is None and not place.nullable):
            value[key] = deepcopy(place.default)
            changed = True
    for key, item in list(value.items()):
        place_ = schema.properties.get(key) or schema.additional
        if place_ is None:
            continue
        if item is None:
            if place_.nullable or (keeps_null and place_.default is None):
                continue
            changed = True
            if place_.default is None:
                del value[key]
            else:
                value[key] = deepcopy(place_.default)
        elif isinstance(item, dict | list):
            changed |= default(item, place_, keeps_null=keeps_null)
    return changed


def _default_items(value: list[Any], items: Structural, keeps_null: bool) -> bool:
    changed = False
    for index, item in enumerate(value):
        if item is None and not items.nullable and items.default is not None:
            value[index] = deepcopy(items.default)
            changed = True
        elif isinstance(item, dict | list):
            changed |= default(item, items, keeps_null=keeps_null)
    return changed
