"""Syntax trees of checked expressions, read from the compiler's own form.

Source: cel-spec proto/cel/expr/{checked,syntax}.proto, whose field numbers stand here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.kit.protobuf import raw_fields

_ANY_TYPE, _ANY_VALUE = 1, 2
_PARSED_EXPR, _PARSED_SOURCE = 2, 3
_REFERENCES, _TYPES, _EXPR, _SOURCE, _POSITIONS = 2, 3, 4, 5, 4
_PRIMITIVES = ("", "bool", "int", "uint", "double", "string", "bytes")
_WELL_KNOWN = ("", "any", "timestamp", "duration")
_CONSTANTS = ("", "null", "bool", "int", "uint", "double", "string", "bytes", "duration",
              "timestamp")  # fmt: skip

Fields = dict[int, list[Any]]


@dataclass(frozen=True, slots=True)
class Type:
    """``kind`` is a word of the language, ``message``, ``optional``, ``opaque`` or ``param``;
    ``of`` are the types of elements, or of keys and values."""

    kind: str = "dyn"
    name: str = ""
    of: tuple[Type, ...] = ()


@dataclass(slots=True, eq=False)
class Expr:
    """One node. ``kind`` is const, ident, select, call, list, map, struct or comprehension.

    ``name`` is that of an identifier, field or function, or a constant's type; ``parts`` are what
    is in it, in order: an operand, arguments, elements, keys and values.
    """

    id: int
    kind: str
    type: Type
    name: str = ""
    value: Any = None
    target: Expr | None = None
    parts: tuple[Expr, ...] = ()
    tests: bool = False  # a select that only asks whether the field is there
    overloads: tuple[str, ...] = ()
    loop: Loop | None = None


@dataclass(slots=True, eq=False)
class Loop:
    """A comprehension: over ``range``, with one or two variables, towards ``result``."""

    variables: tuple[str, ...]
    accumulator: str
    range: Expr
    start: Expr
    condition: Expr
    step: Expr
    result: Expr


def read(serialized: bytes) -> Expr:
    """The tree of a compiled expression, which may not have been checked."""
    checked = _message(serialized)
    reader = _Reader(
        {key: _overloads(value) for key, value in _entries(checked.get(_REFERENCES, ()))},
        {key: _type(value) for key, value in _entries(checked.get(_TYPES, ()))},
    )
    return reader.expr(checked[_EXPR][0])


def _message(serialized: bytes) -> Fields:
    """The fields of a CheckedExpr; a ParsedExpr has no types, and other numbers for the rest."""
    holder = _fields(serialized)
    values = _fields(holder[_ANY_VALUE][0])
    if not holder[_ANY_TYPE][0].endswith(b"ParsedExpr"):
        return values
    numbers = {_EXPR: _PARSED_EXPR, _SOURCE: _PARSED_SOURCE}
    return {number: values[parsed] for number, parsed in numbers.items() if parsed in values}


def positions(serialized: bytes) -> dict[int, int]:
    """Where the expressions of a compiled text begin, by their numbers."""
    checked = _message(serialized)
    source = _fields(checked.get(_SOURCE, [b""])[0])
    rows = (_fields(row) for row in source.get(_POSITIONS, ()))
    return {row[1][0]: row.get(2, [0])[0] for row in rows if 1 in row}


def without_lists(expr: Expr, names: Collection[str]) -> Expr:
    """With the calls of ``names`` instead of the first elements of their lists, in place."""
    is_first = expr.kind == "call" and expr.name == "_[?_]"
    if is_first and expr.parts[0].name in {name.lstrip(".") for name in names}:
        return without_lists(expr.parts[0], names)
    expr.parts = tuple(without_lists(part, names) for part in expr.parts)
    if expr.target is not None:
        expr.target = without_lists(expr.target, names)
    if expr.loop is not None:
        for place in ("range", "start", "condition", "step", "result"):
            setattr(expr.loop, place, without_lists(getattr(expr.loop, place), names))
    return expr


def _fields(data: bytes) -> Fields:
    found: Fields = {}
    for number, _, value in raw_fields(data):
        found.setdefault(number, []).append(value)
    return found


def _entries(rows: Any) -> list[tuple[int, bytes]]:
    entries = (_fields(row) for row in rows)
    return [(row[1][0], row.get(2, [b""])[0]) for row in entries if 1 in row]


def _overloads(reference: bytes) -> tuple[str, ...]:
    return tuple(row.decode() for row in _fields(reference).get(3, ()))


def _type(data: bytes) -> Type:
    for number, value in ((number, rows[0]) for number, rows in _fields(data).items()):
        match number:
            case 2:
                return Type("null")
            case 3 | 4:
                return Type(_PRIMITIVES[value])
            case 5:
                return Type(_WELL_KNOWN[value])
            case 6:
                return Type("list", of=(_type(_fields(value).get(1, [b""])[0]),))
            case 7:
                parts = _fields(value)
                return Type("map", of=tuple(_type(parts.get(n, [b""])[0]) for n in (1, 2)))
            case 9:
                return Type("message", value.decode())
            case 10:
                return Type("param", value.decode())
            case 14:
                parts = _fields(value)
                name = parts.get(1, [b""])[0].decode()
                inner = tuple(_type(row) for row in parts.get(2, ()))
                return Type("optional" if name == "optional_type" else "opaque", name, inner)
    return Type()


@dataclass(slots=True)
class _Reader:
    overloads: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[int, Type] = field(default_factory=dict)

    def expr(self, data: bytes) -> Expr:
        fields = _fields(data)
        number = next((n for n in range(3, 10) if n in fields), 3)
        id_ = fields.get(2, [0])[0]
        found = Expr(id_, "const", self.types.get(id_, Type()))
        body = fields.get(number, [b""])[0]
        (self._const, self._ident, self._select, self._call, self._list, self._struct,
         self._comprehension)[number - 3](found, _fields(body))  # fmt: skip
        return found

    def _const(self, found: Expr, parts: Fields) -> None:
        for number, rows in parts.items():
            found.name, found.value = _CONSTANTS[number], rows[0]
            if found.name == "string":
                found.value = rows[0].decode()

    def _ident(self, found: Expr, parts: Fields) -> None:
        found.kind, found.name = "ident", parts.get(1, [b""])[0].decode()

    def _select(self, found: Expr, parts: Fields) -> None:
        found.kind, found.name = "select", parts.get(2, [b""])[0].decode()
        found.parts = (self.expr(parts[1][0]),)
        found.tests = bool(parts.get(3, [0])[0])

    def _call(self, found: Expr, parts: Fields) -> None:
        found.kind, found.name = "call", parts.get(2, [b""])[0].decode()
        found.target = self.expr(parts[1][0]) if 1 in parts else None
        found.parts = tuple(self.expr(row) for row in parts.get(3, ()))
        found.overloads = self.overloads.get(found.id, ())

    def _list(self, found: Expr, parts: Fields) -> None:
        found.kind = "list"
        found.parts = tuple(self.expr(row) for row in parts.get(1, ()))

    def _struct(self, found: Expr, parts: Fields) -> None:
        found.kind, found.name = "struct", parts.get(1, [b""])[0].decode()
        rows = [_fields(entry) for entry in parts.get(2, ())]
        if not found.name:
            found.kind = "map"
        found.parts = tuple(
            self.expr(row[number][0]) for row in rows for number in (3, 4) if number in row
        )

    def _comprehension(self, found: Expr, parts: Fields) -> None:
        found.kind = "comprehension"
        names = tuple(parts[n][0].decode() for n in (1, 8) if parts.get(n, [b""])[0])
        inner = [self.expr(parts[n][0]) for n in (2, 4, 5, 6, 7)]
        found.loop = Loop(names, parts.get(3, [b""])[0].decode(), *inner)
