"""CEL's equality and order of plain values: numbers compare by value, true is no number."""

from __future__ import annotations

from typing import Any

from muntin.kit.cel import EvaluationError


def equal(left: Any, right: Any) -> bool:
    """``left == right`` as an expression has it."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    return bool(left == right)


def less(left: Any, right: Any) -> bool:
    """``left < right``.

    Raises:
        EvaluationError: values that have no order.
    """
    if isinstance(left, bool) != isinstance(right, bool):
        raise EvaluationError("no such overload")
    try:
        return bool(left < right)
    except TypeError as err:
        raise EvaluationError("no such overload") from err
