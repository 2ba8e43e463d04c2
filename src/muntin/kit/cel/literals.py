"""Mistakes in what an expression spells out: patterns, times, durations, mixed lists and maps.

The compiler lets them pass; they would fail whenever the expression is evaluated.
Source: cel-go v0.26 cel/validator.go, checker/checker.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from muntin.kit.cel.syntax import Expr, Type

Found = tuple[Expr, str]  # the place, and what is wrong there

_DURATION = re.compile(r"[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+")


def mistakes(expr: Expr, *, mixes: bool = False, checks: bool = True) -> Iterator[Found]:
    """All of them in ``expr``, outer ones first; ``mixes`` lets lists and maps be mixed, without
    ``checks`` texts may be what they like."""
    mixes = mixes or expr.name == "format"
    if expr.kind == "call":
        yield from _call(expr) if checks else ()
    elif mixes:
        pass
    elif expr.kind == "list":
        yield from _mixed(expr.parts)
    elif expr.kind == "map":
        yield from _mixed(expr.parts[::2])
        yield from _mixed(expr.parts[1::2])
    below = [*expr.parts, *((expr.target,) if expr.target is not None else ())]
    if expr.loop is not None:
        loop = expr.loop
        below += [loop.range, loop.start, loop.condition, loop.step, loop.result]
    for part in below:
        yield from mistakes(part, mixes=mixes, checks=checks)


def _call(expr: Expr) -> Iterator[Found]:
    check = _CHECKS.get(expr.name)
    if check is None or not expr.parts:
        return
    text = expr.parts[-1]
    if text.kind == "const" and text.name == "string" and not check(text.value):
        yield text, f"invalid {expr.name} argument"


def _is_pattern(text: str) -> bool:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options)
    except re2.error:
        return False
    return True


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None


def _is_timestamp(text: str) -> bool:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return False
    return found.tzinfo is not None and "T" in text.upper()


_CHECKS = {"matches": _is_pattern, "duration": _is_duration, "timestamp": _is_timestamp}


def _mixed(parts: tuple[Expr, ...]) -> Iterator[Found]:
    """Elements of another type than the first."""
    first: Type | None = None
    for part in parts:
        if first is None:
            first = part.type
        elif not _fits(first, part.type):
            yield part, f"expected type '{shown(first)}' but found '{shown(part.type)}'"
            return


def _fits(one: Type, other: Type) -> bool:
    if "dyn" in (one.kind, other.kind) or "param" in (one.kind, other.kind):
        return True
    if "null" in (one.kind, other.kind) or "any" in (one.kind, other.kind):
        return True
    if (one.kind, one.name) != (other.kind, other.name):
        return False
    return all(_fits(a, b) for a, b in zip(one.of, other.of, strict=False))


def shown(type_: Type) -> str:
    """A type in the words of the language."""
    name = type_.name or type_.kind
    return f"{name}({', '.join(map(shown, type_.of))})" if type_.of else name


def operands(expr: Expr, operator: str, at: int, places: dict[int, int]) -> tuple[Expr, ...]:
    """What the ``operator`` at a place stands between; nothing if there is none."""
    if expr.kind == "call" and expr.name == operator and places.get(expr.id) == at:
        return expr.parts
    below = [*expr.parts, *((expr.target,) if expr.target is not None else ())]
    if expr.loop is not None:
        loop = expr.loop
        below += [loop.range, loop.start, loop.condition, loop.step, loop.result]
    for part in below:
        if found := operands(part, operator, at, places):
            return found
    return ()
