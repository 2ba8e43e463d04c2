"""Functions in Python that expressions may call."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from muntin.kit.cel.errors import EvaluationError
from muntin.kit.cel.messages import type_of
from muntin.kit.cel.rewriting import ENTRIES
from muntin.kit.cel.shapes import OPAQUE

# The name of further overloads of ``string``, which the implementation lets nobody declare: calls
# that fit no overload of its own get this name, which is as long.
STRING = "_text_"


@dataclass(frozen=True, slots=True)
class Function:
    """One overload: ``impl`` gets plain values of the ``parameters`` (type signatures such as
    ``list(dyn)``) and gives one of ``returns``. A ``member`` is called on its first parameter."""

    name: str
    parameters: tuple[str, ...]
    returns: str
    impl: Callable[..., Any]
    member: bool = True


def _entries(maps: list[dict[Any, Any]]) -> dict[Any, Any]:
    """The entries of all ``maps``; a key that comes twice is an error, as in cel-go."""
    found: dict[Any, Any] = {}
    for entry in maps:
        for key, value in entry.items():
            if key in found:
                raise EvaluationError(f"insert failed: key {key} already exists")
            found[key] = value
    return found


MAP_ENTRIES = Function(ENTRIES, ("list(map(dyn,dyn))",), "map(dyn,dyn)", _entries)


@lru_cache(maxsize=16)
def merged(functions: tuple[Function, ...], opaque: frozenset[str]) -> tuple[Function, ...]:
    """The functions with all opaque types as one: those that differ by it alone become one that
    chooses by its arguments."""
    found: dict[tuple[str, bool, tuple[str, ...]], list[Function]] = {}
    for function in functions:
        parameters = tuple(erase(text, opaque) for text in function.parameters)
        found.setdefault((function.name, function.member, parameters), []).append(function)
    return tuple(
        replace(_chosen(group), parameters=key[2], returns=_returns(group, opaque))
        for key, group in found.items()
    )


def erase(signature: str, opaque: frozenset[str]) -> str:
    """A type signature with the names of opaque types replaced."""
    return re.sub(r"[\w.]+", lambda name: OPAQUE if name[0] in opaque else name[0], signature)


def _returns(group: Sequence[Function], opaque: frozenset[str]) -> str:
    kinds = {erase(function.returns, opaque) for function in group}
    return kinds.pop() if len(kinds) == 1 else "dyn"


def _chosen(group: Sequence[Function]) -> Function:
    if len(group) == 1:
        return group[0]
    by_types = {function.parameters: function.impl for function in group}
    plain = group[0].parameters

    def call(*arguments: Any) -> Any:
        types = tuple(
            type_of(value) or declared for value, declared in zip(arguments, plain, strict=True)
        )
        return by_types[types](*arguments)

    return replace(group[0], impl=call)
