"""``quantity('1.5Gi')``, compared by amount. Source: apiserver v1.34 pkg/cel/library/quantity.go.

An opaque quantity's text is its amount in billionths, so that equal amounts are equal values.
"""

from __future__ import annotations

from typing import Any

from muntin.kit import errors
from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import opaque, text_of
from muntin.model.quantity import parse

QUANTITY = "kubernetes.Quantity"

_NANO = 10**9
_LARGEST = 2**63


def _nano(value: Any) -> int:
    return int(text_of(value))


def _of(nano: int) -> Any:
    return opaque(QUANTITY, str(nano))


def quantity(text: str) -> Any:
    try:
        return _of(parse(text).nano)
    except errors.Invalid as err:
        raise EvaluationError(err.message) from err


def is_quantity(text: str) -> bool:
    try:
        parse(text)
    except errors.Invalid:
        return False
    return True


def sign(value: Any) -> int:
    return _compared(_nano(value), 0)


def is_integer(value: Any) -> bool:
    whole, rest = divmod(_nano(value), _NANO)
    return not rest and -_LARGEST <= whole < _LARGEST


def as_integer(value: Any) -> int:
    if not is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return _nano(value) // _NANO


def _compared(left: int, right: int) -> int:
    return (left > right) - (left < right)


_Q = QUANTITY

FUNCTIONS = (
    Function("quantity", ("string",), _Q, quantity, member=False),
    Function("isQuantity", ("string",), "bool", is_quantity, member=False),
    Function("sign", (_Q,), "int", sign, member=False),  # as upstream declares it
    Function("isInteger", (_Q,), "bool", is_integer),
    Function("asInteger", (_Q,), "int", as_integer),
    Function("asApproximateFloat", (_Q,), "double", lambda value: _nano(value) / _NANO),
    Function("add", (_Q, _Q), _Q, lambda a, b: _of(_nano(a) + _nano(b))),
    Function("add", (_Q, "int"), _Q, lambda a, b: _of(_nano(a) + b * _NANO)),
    Function("sub", (_Q, _Q), _Q, lambda a, b: _of(_nano(a) - _nano(b))),
    Function("sub", (_Q, "int"), _Q, lambda a, b: _of(_nano(a) - b * _NANO)),
    Function("isLessThan", (_Q, _Q), "bool", lambda a, b: _nano(a) < _nano(b)),
    Function("isGreaterThan", (_Q, _Q), "bool", lambda a, b: _nano(a) > _nano(b)),
    Function("compareTo", (_Q, _Q), "int", lambda a, b: _compared(_nano(a), _nano(b))),
)
