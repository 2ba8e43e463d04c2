"""Lists that are sets or maps: no element twice.

Source: apiextensions-apiserver pkg/apiserver/schema/listtype/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.model.custom.structural import Structural
from muntin.model.validation.findings import Findings, shown


def check(value: Any, schema: Structural, found: Findings, path: str = "") -> None:
    """Add a finding for each element of a set, or keys of a list map, that is there twice."""
    if not schema.has_lists:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            if place := schema.properties.get(key):
                check(item, place, found, f"{path}.{key}" if path else key)
            elif schema.additional is not None:
                check(item, schema.additional, found, f"{path}[{key}]")
    elif isinstance(value, list):
        _check_list(value, schema, found, path)


def _check_list(value: list[Any], schema: Structural, found: Findings, path: str) -> None:
    if schema.list_type == "set":
        for index in _repeated(value):
            found.duplicate(f"{path}[{index}]", value[index])
    elif schema.list_type == "map":
        _check_map(value, schema.list_map_keys, found, path)
    if schema.items is not None:
        for index, item in enumerate(value):
            check(item, schema.items, found, f"{path}[{index}]")


def _check_map(value: list[Any], keys: tuple[str, ...], found: Findings, path: str) -> None:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            text = "must be an object for an array of list-type map"
            found.invalid(f"{path}[{index}]", item, text)
            return
    known = [{key: item[key] for key in keys if key in item} if item else {} for item in value]
    for index in _repeated(known):
        found.duplicate(f"{path}[{index}]", known[index])


def _repeated(values: Iterable[Any]) -> list[int]:
    """Where a value is for the second time."""
    seen: dict[str, int] = {}
    repeated = []
    for index, value in enumerate(values):
        text = shown(value)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            repeated.append(index)
    return repeated
