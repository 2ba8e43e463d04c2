"""What one evaluation of an expression may cost at most, found from its tree and its variables.

Costs are in cel-go's units: one for each step, a tenth for each character that is gone through.
Loops cost their body as often as their range may be long. Sizes come from the shapes of variables
(`Shape.most`), from constants, and from what functions make of these; where nothing is known, they
are as large as can be. Source: cel-go v0.26 checker/cost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from muntin.kit.cel.shapes import Shape
from muntin.kit.cel.syntax import Expr, Loop, Type

MOST = 2**64 - 1
PER_CHARACTER, PER_REGEX_CHARACTER = 0.1, 0.25
NEW_LIST, _MAP, _STRUCT = 10, 30, 40
_SCALARS = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_COMPARES = frozenset(
    f"{how}_{kind}"
    for how in ("less", "greater", "less_equals", "greater_equals")
    for kind in ("string", "bytes")
) | {"equals", "not_equals"}


def capped(value: int) -> int:
    """``value``, or the largest there is."""
    return min(value, MOST)


def scaled(value: int, factor: float) -> int:
    """A multiple, rounded up."""
    if float(value) * factor >= float(2**64):
        return MOST
    return math.ceil(float(value) * factor)


class Size(NamedTuple):
    """How long a text, list or map is at least and at most."""

    least: int
    most: int

    def plus(self, other: Size) -> Size:
        """Both behind each other."""
        return Size(capped(self.least + other.least), capped(self.most + other.most))

    def times(self, other: Size) -> Size:
        """One for each element of the other."""
        return Size(capped(self.least * other.least), capped(self.most * other.most))

    def union(self, other: Size) -> Size:
        """Whichever of both it is."""
        return Size(min(self.least, other.least), max(self.most, other.most))

    def read(self, factor: float = PER_CHARACTER) -> int:
        """What it costs to go through it."""
        return scaled(self.most, factor)


UNKNOWN = Size(0, MOST)


class Called(NamedTuple):
    """The cost of a call besides that of its arguments, and the size of its result."""

    cost: int
    size: Size | None = None


class Operand(NamedTuple):
    """What a call is given: its tree, its size, and how large elements of a list are (None: it is
    no list that one knows the type of)."""

    expr: Expr
    size: Size
    known: Size | None
    element: tuple[Type, Size] | None


# The costs of a function by name, overload, target and arguments; None: the usual ones.
Costs = Callable[[str, str, Operand | None, list[Operand]], Called | None]


class _Entry(NamedTuple):
    kind: str
    key: Size
    value: Size


@dataclass(frozen=True, slots=True)
class _Local:
    path: tuple[str, ...]
    size: Size | None
    entry: _Entry | None


Path = tuple[str, ...]


def estimate(expr: Expr, root: Shape, costs: Costs) -> int:
    """The most that ``expr`` may cost; all variables have the shape ``root``."""
    return _Walk(root, costs).cost(expr)


class _Walk:
    def __init__(self, root: Shape, costs: Costs) -> None:
        self._root = root
        self._costs = costs
        self._paths: dict[int, Path] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, _Entry] = {}
        self._locals: dict[str, list[_Local]] = {}

    # -- costs --------------------------------------------------------------------------------

    def cost(self, expr: Expr) -> int:
        match expr.kind:
            case "ident":
                local = self._local(expr.name)
                self._paths[expr.id] = local.path if local else (expr.name,)
                return 1
            case "select":
                return self._select(expr)
            case "call":
                return self._call(expr)
            case "list":
                return self._list(expr)
            case "map":
                return self._map(expr)
            case "struct":
                return capped(sum(map(self.cost, expr.parts)) + _STRUCT)
            case "comprehension" if expr.loop is not None:
                return self._comprehension(expr, expr.loop)
        return 0

    def _select(self, expr: Expr) -> int:
        operand = expr.parts[0]
        cost = self.cost(operand)
        if expr.tests:
            return cost
        path = self._path(operand)
        shape = self._shape(path)
        kind = shape.kind if shape is not None else operand.type.kind
        self._paths[expr.id] = (*path, expr.name)
        return capped(cost + (kind in ("map", "message", "object", "param")))

    def _list(self, expr: Expr) -> int:
        cost, size = 0, Size(MOST if expr.parts else 0, 0)
        for part in expr.parts:
            cost += self.cost(part)
            size = size.union(self._known_or_any(part))
        self._entries[expr.id] = _Entry("list", Size(1, 1), size)
        return capped(cost + NEW_LIST)

    def _map(self, expr: Expr) -> int:
        start = Size(MOST if expr.parts else 0, 0)
        cost, sizes = 0, [start, start]
        for index, part in enumerate(expr.parts):
            cost += self.cost(part)
            sizes[index % 2] = sizes[index % 2].union(self._known_or_any(part))
        self._entries[expr.id] = _Entry("map", *sizes)
        return capped(cost + _MAP)

    def _comprehension(self, expr: Expr, loop: Loop) -> int:
        cost = self.cost(loop.range) + self.cost(loop.start)
        start = _Local(self._path(loop.start), self._known(loop.start), self._entry(loop.start))
        self._push(loop.accumulator, start)
        if _is_binding(loop):
            cost += self.cost(loop.result)
            self._pop(loop.accumulator)
            self._copy(expr, loop.result)
            return capped(cost)
        for index, name in enumerate(loop.variables):
            self._push(name, self._variable(loop, index))
        each = self.cost(loop.condition) + self.cost(loop.step)
        for name in loop.variables:
            self._pop(name)
        cost += self.cost(loop.result)
        self._pop(loop.accumulator)
        count = self._known_or_any(loop.range)
        if loop.start.kind == "const":
            self._resize(expr, self._known(loop.start))
        elif loop.start.kind in ("list", "map"):
            self._resize(expr, count)
            entry = self._entry(loop.step)
            if entry is not None:
                self._entries[expr.id] = entry
        return capped(cost + capped(count.most * capped(each)))

    def _variable(self, loop: Loop, index: int) -> _Local:
        entry, path = self._entry(loop.range), self._path(loop.range)
        shape = self._shape(path)
        kind = entry.kind if entry else (shape.kind if shape and path else loop.range.type.kind)
        is_list = kind == "list"
        if index or (len(loop.variables) == 1 and is_list):
            return _Local((*path, "@items" if is_list else "@values"), entry and entry.value, None)
        return _Local((*path, "@indices" if is_list else "@keys"), entry and entry.key, None)

    def _call(self, expr: Expr) -> int:
        if expr.name == "dyn":
            cost = self.cost(expr.parts[0])
            self._copy(expr, expr.parts[0])
            return capped(cost + 1)
        costs = [self.cost(part) for part in expr.parts]
        operands = [self._operand(part) for part in expr.parts]
        if not expr.overloads:
            return 0
        before, target = 0, None
        if expr.target is not None:
            before, target = self.cost(expr.target), self._operand(expr.target)
        most, size = 0, None
        for overload in expr.overloads:
            found = self._called(expr, overload, target, operands, costs)
            most = max(most, found.cost)
            if found.size is not None:
                size = found.size if size is None else size.union(found.size)
            if overload in ("index_list", "index_map"):
                entry = self._entry(expr.parts[0])
                size = entry and entry.value
                step = "@items" if overload == "index_list" else "@values"
                self._paths[expr.id] = (*self._path(expr.parts[0]), step)
            if size is None:
                size = self._known(expr)
        self._resize(expr, size)
        return capped(before + most)

    def _called(
        self, expr: Expr, overload: str, target: Operand | None, args: list[Operand],
        costs: list[int],
    ) -> Called:  # fmt: skip
        given = capped(sum(costs))
        found = self._costs(expr.name, overload, target, args)
        if found is not None:
            return Called(capped(found.cost + given), found.size)
        match overload:
            case "logical_or" | "logical_and":
                return Called(given)
            case "conditional":
                self._join(expr, args[1].expr, args[2].expr)
                size = args[1].size.union(args[2].size)
                return Called(capped(costs[0] + max(costs[1:])), size)
            case "add_string" | "add_bytes" | "add_list" if len(args) == 2:
                self._join(expr, args[0].expr, args[1].expr)
                size = args[0].size.plus(args[1].size)
                return Called(capped(given + (1 if overload == "add_list" else size.read())), size)
        plain = _standard(overload, target, args)
        return Called(capped(plain.cost + given), plain.size)

    def _join(self, expr: Expr, one: Expr, other: Expr) -> None:
        first, second = self._entry(one), self._entry(other)
        if first is not None and second is not None:
            key, value = first.key.union(second.key), first.value.union(second.value)
            self._entries[expr.id] = _Entry(first.kind, key, value)

    # -- paths and sizes ----------------------------------------------------------------------

    def _push(self, name: str, local: _Local) -> None:
        self._locals.setdefault(name, []).append(local)

    def _pop(self, name: str) -> None:
        self._locals[name].pop()

    def _local(self, name: str) -> _Local | None:
        found = self._locals.get(name)
        return found[-1] if found else None

    def _path(self, expr: Expr) -> Path:
        local = self._local(expr.name) if expr.kind == "ident" else None
        return local.path if local else self._paths.get(expr.id, ())

    def _shape(self, path: Path) -> Shape | None:
        """What lies at a path; its first part is a variable."""
        shape: Shape | None = self._root if path else None
        for name in path[1:]:
            if shape is None:
                return None
            if name in ("@items", "@values"):
                shape = shape.element
            elif name == "@keys":
                shape = Shape("string") if shape.kind == "map" else None
            else:
                shape = shape.fields.get(name)
        return shape

    def _operand(self, expr: Expr) -> Operand:
        known = self._known(expr)
        return Operand(expr, known or UNKNOWN, known, self._element(expr))

    def _element(self, expr: Expr) -> tuple[Type, Size] | None:
        if not expr.type.of:
            return None
        path = self._path(expr)
        shape = self._shape((*path, "@items")) if path else None
        return expr.type.of[0], Size(0, shape.most) if shape is not None else UNKNOWN

    def _known_or_any(self, expr: Expr) -> Size:
        return self._known(expr) or UNKNOWN

    def _known(self, expr: Expr) -> Size | None:
        if expr.id in self._sizes:
            return self._sizes[expr.id]
        size = _written(expr)
        if size is not None:
            return size
        shape = self._shape(self._path(expr))
        if shape is not None:
            self._sizes[expr.id] = Size(0, shape.most)
            return self._sizes[expr.id]
        if _is_scalar(expr.type):
            return Size(1, 1)
        local = self._local(expr.name) if expr.kind == "ident" else None
        return local.size if local else None

    def _entry(self, expr: Expr) -> _Entry | None:
        found = self._entries.get(expr.id)
        if found is None and expr.kind == "ident" and (local := self._local(expr.name)):
            return local.entry
        return found

    def _resize(self, expr: Expr, size: Size | None) -> None:
        if size is not None:
            self._sizes[expr.id] = size

    def _copy(self, expr: Expr, other: Expr) -> None:
        self._resize(expr, self._known(other))
        entry = self._entry(other)
        if entry is not None:
            self._entries[expr.id] = entry


def _is_binding(loop: Loop) -> bool:
    is_never = loop.condition.kind == "const" and not loop.condition.value
    return loop.range.kind == "list" and not loop.range.parts and is_never


def _is_scalar(type_: Type) -> bool:
    if type_.kind == "optional" and type_.of:
        return _is_scalar(type_.of[0])
    return type_.kind in _SCALARS


def _written(expr: Expr) -> Size | None:
    """The size of what stands in the expression itself."""
    if expr.kind == "const":
        count = len(expr.value) if isinstance(expr.value, str | bytes) else 1
    elif expr.kind == "list":
        count = len(expr.parts)
    elif expr.kind == "map":
        count = len(expr.parts) // 2
    else:
        return None
    return Size(count, count)


def _standard(overload: str, target: Operand | None, args: list[Operand]) -> Called:
    """The costs of the language's own functions."""
    match overload:
        case "string_to_bytes" if len(args) == 1:
            size = args[0].size
            return Called(size.read(), Size(size.least, capped(size.most * 4)))
        case "bytes_to_string" if len(args) == 1:
            size = args[0].size
            return Called(size.read(), Size(size.least // 4, size.most))
        case "starts_with_string" | "ends_with_string" if len(args) == 1:
            return Called(args[0].size.read())
        case "in_list" if len(args) == 2:
            return Called(args[1].size.most)
        case "matches_string" if target is not None and len(args) == 1:
            return Called(searched(target.size, args[0].size))
        case "contains_string" if target is not None and len(args) == 1:
            return Called(capped(target.size.read() * args[0].size.read()))
    if overload in _COMPARES and len(args) == 2:
        return Called(scaled(min(args[0].size.most, args[1].size.most), PER_CHARACTER))
    return Called(1)


def searched(text: Size, pattern: Size) -> int:
    """What it costs to look for a pattern in a text."""
    whole = text.plus(Size(1, 1)).read()
    return capped(whole * pattern.read(PER_REGEX_CHARACTER))
