"""Lists as sets. Source: cel-go ext/sets.go."""

from __future__ import annotations

from typing import Any

from muntin.kit.cel import Function
from muntin.model.cel.library.equality import equal


def contains(values: list[Any], wanted: list[Any]) -> bool:
    return all(_has(values, value) for value in wanted)


def equivalent(left: list[Any], right: list[Any]) -> bool:
    return contains(left, right) and contains(right, left)


def intersects(left: list[Any], right: list[Any]) -> bool:
    return any(_has(right, value) for value in left)


def _has(values: list[Any], wanted: Any) -> bool:
    return any(equal(value, wanted) for value in values)


_LISTS = ("list(dyn)", "list(dyn)")

FUNCTIONS = (
    Function("sets.contains", _LISTS, "bool", contains, member=False),
    Function("sets.equivalent", _LISTS, "bool", equivalent, member=False),
    Function("sets.intersects", _LISTS, "bool", intersects, member=False),
)
