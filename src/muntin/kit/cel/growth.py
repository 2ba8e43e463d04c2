"""How much larger than its variables an expression can make a value.

``cel.bind(a, s + s, cel.bind(b, a + a, ...))`` doubles a text with each step; what a program may
grow is found by walking its syntax tree (cel.expr.CheckedExpr), in which a variable counts one.
Functions bound their results themselves. Source: cel-spec proto/cel/expr/{checked,syntax}.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from muntin.kit.protobuf import raw_fields

MOST = 256

# Field numbers of Any, CheckedExpr, Expr and its kinds.
_ANY_VALUE, _CHECKED_EXPR = 2, 4
_IDENT, _SELECT, _CALL, _LIST, _STRUCT, _COMPREHENSION = 4, 5, 6, 7, 8, 9
_TARGET, _FUNCTION, _ARGUMENT = 1, 2, 3
_RANGE, _ACCUMULATOR, _START, _STEP, _RESULT, _VARIABLE = 2, 3, 4, 6, 7, 1

Sizes = Mapping[str, int]


# Functions that look at no text, and those that make lists longer than the variables'.
_PLAIN = frozenset(
    {b"_&&_", b"_||_", b"!_", b"_?_:_", b"_[_]", b"_[?_]", b"_?._", b"_-_", b"_*_", b"_/_", b"_%_",
     b"-_", b"@not_strictly_false", b"size", b"type", b"int", b"uint", b"bool", b"dyn"}
)  # fmt: skip
_MANY = frozenset({b"split", b"findAll", b"lists.range", b"flatten"})


@dataclass(frozen=True, slots=True)
class Nature:
    """``growth`` is the largest factor by which any value of a program is larger than one
    variable; ``depth`` how deep loops nest around what may go through whole texts, none if they
    do not; ``makes_lists`` says that loops may be longer than what the variables hold, and
    ``listed`` how many elements the longest list in the text has."""

    growth: int
    depth: int
    makes_lists: bool
    listed: int


def nature(serialized: bytes) -> Nature:
    """What is known of a compiled program beforehand."""
    walk = _Walk()
    checked = _parts(serialized)[_ANY_VALUE][0]
    walk.size(_parts(checked)[_CHECKED_EXPR][0], {})
    return Nature(walk.largest, walk.scanned, walk.makes_lists, walk.listed)


def _parts(data: bytes) -> dict[int, list[bytes]]:
    """The messages and texts of a message by field number."""
    found: dict[int, list[bytes]] = {}
    for number, _, value in raw_fields(data):
        if isinstance(value, bytes):
            found.setdefault(number, []).append(value)
    return found


def _is_result(expr: bytes) -> bool:
    """Whether it is what a macro gathers: an element is put to it, and makes it no larger than
    all elements are."""
    found = _parts(expr).get(_IDENT)
    return found is not None and _parts(found[0]).get(1, [b""])[0] == b"@result"


class _Walk:
    """Sizes of subexpressions, the largest remembered."""

    def __init__(self) -> None:
        self.largest = 1
        self.scanned = 0
        self.makes_lists = False
        self.listed = 0
        self._depth = 0

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
            self._called(call[_FUNCTION][0])
            rows = [*call.get(_TARGET, ()), *call.get(_ARGUMENT, ())]
            sizes = [self.size(row, known) for row in rows]
            adds = call[_FUNCTION][0] == b"_+_" and not _is_result(rows[0])
            return sum(sizes) if adds else max(sizes, default=1)
        if _LIST in parts:
            elements = _parts(parts[_LIST][0]).get(1, ())
            self.listed = max(self.listed, len(elements))
            return sum(self.size(row, known) for row in elements)
        if _STRUCT in parts:
            rows = [_parts(entry).get(4) for entry in _parts(parts[_STRUCT][0]).get(2, ())]
            return sum(self.size(row[0], known) for row in rows if row)
        if _COMPREHENSION in parts:
            return self._comprehension(_parts(parts[_COMPREHENSION][0]), known)
        return 1

    def _called(self, name: bytes) -> None:
        if name not in _PLAIN:
            self.scanned = max(self.scanned, self._depth)
        self.makes_lists = self.makes_lists or name in _MANY

    def _comprehension(self, parts: dict[int, list[bytes]], known: Sizes) -> int:
        variable, accumulator = (
            parts.get(number, [b""])[0].decode() for number in (_VARIABLE, _ACCUMULATOR)
        )
        inside = {
            **known,
            variable: self.size(parts[_RANGE][0], known),
            accumulator: self.size(parts[_START][0], known),
        }
        self._depth += 1
        step = self.size(parts[_STEP][0], inside)
        self._depth -= 1
        inside[accumulator] = max(step, inside[accumulator])
        return self.size(parts[_RESULT][0], inside)
