"""Functions on lists. Source: apiserver v1.34 pkg/cel/library/lists.go; cel-go ext/lists.go."""

from __future__ import annotations

from datetime import timedelta
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import as_value
from muntin.kit.cel.rewriting import SORTED
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


def part(values: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or "
                              "equal to end index")  # fmt: skip
    if end > len(values):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def in_order(values: list[Any]) -> list[Any]:
    return sorted(values, key=cmp_to_key(lambda a, b: less(b, a) - less(a, b)))


def by_keys(pairs: list[Any]) -> list[Any]:
    """The first of each pair, in order of the second."""

    def order(one: Any, other: Any) -> int:
        return less(other[1], one[1]) - less(one[1], other[1])

    return [value for value, _ in sorted(pairs, key=cmp_to_key(order))]


def distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(equal(value, known) for known in found):
            found.append(value)
    return found


def flat(values: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    if depth == 0:
        return values
    found: list[Any] = []
    for value in values:
        found += flat(value, depth - 1) if isinstance(value, list) else [value]
    return found


def numbers(end: int) -> list[int]:
    if end > MOST_NUMBERS:
        raise EvaluationError(f"lists.range({end}) is too long: at most {MOST_NUMBERS}")
    return list(range(end))


MOST_NUMBERS = 10_000  # as many steps as loops may take
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
OF_CEL_GO = (
    Function("slice", (_L, "int", "int"), _L, part),
    Function("sort", (_L,), _L, in_order),
    Function(SORTED, (_L,), _L, by_keys),
    Function("distinct", (_L,), _L, distinct),
    Function("flatten", (_L,), _L, flat),
    Function("flatten", (_L, "int"), _L, flat),
    Function("reverse", (_L,), _L, lambda values: values[::-1]),
    Function("lists.range", ("int",), _L, numbers, member=False),
)
