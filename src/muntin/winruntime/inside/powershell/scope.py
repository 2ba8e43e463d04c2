"""Variables and functions of running blocks: each scope sees those of its callers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Scope:
    """One scope; names are kept in lower case."""

    def __init__(self, parent: Scope | None = None, *, script: bool = False) -> None:
        """``script`` marks the outermost scope of a script file."""
        self.parent = parent
        self.values: dict[str, Any] = {}
        self.names: dict[str, str] = {}
        self.types: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self.aliases: dict[str, str] = {}
        self.script = script or parent is None

    def chain(self) -> Iterator[Scope]:
        """This scope and the ones around it, inner first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def owner(self, name: str) -> Scope | None:
        """The nearest scope that has the variable."""
        return next((scope for scope in self.chain() if name in scope.values), None)

    def get(self, name: str) -> Any:
        """The variable's value; None where there is none."""
        owner = self.owner(name)
        return None if owner is None else owner.values[name]

    def set(self, name: str, value: Any) -> None:
        """Set the variable here."""
        lower = name.lower()
        self.values[lower] = value
        self.names.setdefault(lower, name)

    def outermost(self) -> Scope:
        """The global scope."""
        return list(self.chain())[-1]

    def of_script(self) -> Scope:
        """The scope of the running script file."""
        return next(scope for scope in self.chain() if scope.script)

    def named(self, scope: str) -> Scope:
        """The scope that ``$scope:name`` means."""
        if scope == "global":
            return self.outermost()
        return self.of_script() if scope == "script" else self

    def function(self, name: str) -> Any:
        """The nearest function of that name, or None."""
        lower = name.lower()
        return next((s.functions[lower] for s in self.chain() if lower in s.functions), None)

    def alias(self, name: str) -> str | None:
        """What the script's own alias stands for, or None."""
        lower = name.lower()
        return next((s.aliases[lower] for s in self.chain() if lower in s.aliases), None)
