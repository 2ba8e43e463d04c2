"""Functions on lists. Source: apiserver v1.34 pkg/cel/library/lists.go."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import as_value
from muntin.model.cel.library.equality import equal, less


def is_sorted(values: list[Any]) -> bool:
    return not any(less(after, before) for before, after in pairwise(values))


def total(values: list[Any]) -> Any:
    if not values:
        return 0
    if all(isinstance(value, timedelta) for value in values):
        return as_value(sum(values, timedelta()))
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
        raise EvaluationError("no such overload")
    return sum(values)


def smallest(values: list[Any]) -> Any:
    return _extreme(values, "min", lambda best, value: less(value, best))


def largest(values: list[Any]) -> Any:
    return _extreme(values, "max", less)


def _extreme(values: list[Any], name: str, better: Any) -> Any:
    if not values:
        raise EvaluationError(f"{name} called on empty list")
    best = values[0]
    for value in values[1:]:
        if better(best, value):
            best = value
    return as_value(best)


def index_of(values: list[Any], wanted: Any) -> int:
    return next((i for i, value in enumerate(values) if equal(value, wanted)), -1)


def last_index_of(values: list[Any], wanted: Any) -> int:
    return next((i for i in reversed(range(len(values))) if equal(values[i], wanted)), -1)


_L = "list(dyn)"
# A parameter of any type is one overload per type that values can have.
_ANY = ("bool", "bytes", "double", "int", "list(dyn)", "map(dyn,dyn)", "string", "uint",
        "google.protobuf.Duration", "google.protobuf.Timestamp")  # fmt: skip

FUNCTIONS = (
    Function("isSorted", (_L,), "bool", is_sorted),
    Function("sum", (_L,), "dyn", total),
    Function("min", (_L,), "dyn", smallest),
    Function("max", (_L,), "dyn", largest),
    *(Function("indexOf", (_L, kind), "int", index_of) for kind in _ANY),
    *(Function("lastIndexOf", (_L, kind), "int", last_index_of) for kind in _ANY),
)
