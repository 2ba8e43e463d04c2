"""How much larger than its variables an expression can make a value.

``cel.bind(a, s + s, cel.bind(b, a + a, ...))`` doubles a text with each step; what a program may
grow is found by walking its syntax tree (cel.expr.CheckedExpr), in which a variable counts one.
Functions bound their results themselves. Source: cel-spec proto/cel/expr/{checked,syntax}.proto.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.kit.protobuf import raw_fields

MOST = 256

# Field numbers of Any, CheckedExpr, Expr and its kinds.
_ANY_VALUE, _CHECKED_EXPR = 2, 4
_IDENT, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = 4, 5, 6, 7, 8, 9
_TARGET, _FUNCTION, _ARGUMENT = 1, 2, 3
_RANGE, _ACCUMULATOR, _START, _STEP, _RESULT, _VARIABLE = 2, 3, 4, 6, 7, 1

Sizes = Mapping[str, int]


def growth(serialized: bytes) -> int:
    """The largest factor by which any value of the program is larger than one variable."""
    walk = _Walk()
    checked = _parts(serialized)[_ANY_VALUE][0]
    walk.size(_parts(checked)[_CHECKED_EXPR][0], {})
    return walk.largest


def _parts(data: bytes) -> dict[int, list[bytes]]:
    """The messages and texts of a message by field number."""
    found: dict[int, list[bytes]] = {}
    for number, _, value in raw_fields(data):
        if isinstance(value, bytes):
            found.setdefault(number, []).append(value)
    return found


class _Walk:
    """Sizes of subexpressions, the largest remembered."""

    def __init__(self) -> None:
        self.largest = 1

    def size(self, expr: bytes, known: Sizes) -> int:
        found = max(self._size(_parts(expr), known), 1)
        self.largest = max(self.largest, found)
        return found

    def _size(self, parts: dict[int, list[bytes]], known: Sizes) -> int:
        if _IDENT in parts:
            name = _parts(parts[_IDENT][0]).get(1, [b""])[0]
            return known.get(name.decode(), 1)
        if _SELECT in parts:
            operand = _parts(parts[_SELECT][0]).get(1)
            return self.size(operand[0], known) if operand else 1
        if _CALL in parts:
            call = _parts(parts[_CALL][0])
            rows = [*call.get(_TARGET, ()), *call.get(_ARGUMENT, ())]
            sizes = [self.size(row, known) for row in rows]
            return max(sizes, default=1) if call[_FUNCTION][0] != b"_+_" else sum(sizes)
        if _LIST in parts:
            return sum(self.size(row, known) for row in _parts(parts[_LIST][0]).get(1, ()))
        if _STRUCT in parts:
            rows = [_parts(entry).get(4) for entry in _parts(parts[_STRUCT][0]).get(2, ())]
            return sum(self.size(row[0], known) for row in rows if row)
        if _COMPREHENSION in parts:
            return self._comprehension(_parts(parts[_COMPREHENSION][0]), known)
        return 1

    def _comprehension(self, parts: dict[int, list[bytes]], known: Sizes) -> int:
        variable, accumulator = (
            parts.get(number, [b""])[0].decode() for number in (_VARIABLE, _ACCUMULATOR)
        )
        inside = {
            **known,
            variable: self.size(parts[_RANGE][0], known),
            accumulator: self.size(parts[_START][0], known),
        }
        step = self.size(parts[_STEP][0], inside)
        inside[accumulator] = max(step, inside[accumulator])
        return self.size(parts[_RESULT][0], inside)
