"""Modules that are loaded when they are needed: a server judges few of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


class Later:
    """A module by its full name; an attribute of it is a function that loads it when called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Callable[..., None]:
        name = self._name
        found: Callable[..., None] | None = None

        def call(*args: object) -> None:
            nonlocal found
            if found is None:
                found = getattr(import_module(name), function)
            found(*args)

        call.__module__, call.__name__ = name, function
        return call
