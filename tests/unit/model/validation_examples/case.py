"""How the examples are written: a good object, what is changed in it, what is then found wrong.

A change is a path with dots (``spec.containers.0.image``) and a value, or `DROP`. An expected text
may end with ``…``: then only its beginning is compared. All causes must be expected, in order.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.model import defaults, validation
from muntin.model.resources import Resource

DROP = object()
LABEL = "a lowercase RFC 1123 label must consist of…"
SUBDOMAIN = "a lowercase RFC 1123 subdomain must consist of…"
KEY = "name part must consist of…"
VALUE = "a valid label must be…"
IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
NEGATIVE = "Invalid value: -1: must be greater than or equal to 0"
ID = "Invalid value: -1: must be between 0 and 2147483647, inclusive"
PORT = "must be between 1 and 65535, inclusive"
IMMUTABLE = "field is immutable"

Changes = Mapping[str, Any]


def put(obj: Any, changes: Changes) -> Any:
    """A copy of ``obj`` with ``changes``; missing maps are made, lists grow by one."""
    result = copy.deepcopy(obj)
    for path, value in changes.items():
        *parents, last = path.split(".")
        holder = result
        for part in parents:
            holder = holder[int(part)] if part.isdigit() else holder.setdefault(part, {})
        if last.isdigit() and isinstance(holder, list):
            holder[int(last) : int(last) + 1] = [copy.deepcopy(value)]
        elif value is DROP:
            holder.pop(last, None)
        else:
            holder[last] = copy.deepcopy(value)
    return result


@dataclass(frozen=True)
class Case:
    """One object that is refused; ``old`` is what it was to replace."""

    resource: Resource
    operation: str
    source: str
    new: Any
    old: Any
    expected: tuple[str, ...]
    asked: str = ""

    def causes(self) -> list[Any]:
        """What is found wrong."""
        if self.operation == "create":
            return validation.validate_create(self.resource, self.new, self.asked)
        if self.operation == "status":
            return validation.validate_status_update(self.resource, self.new, self.old)
        through = "" if self.operation == "update" else self.operation
        return validation.validate_update(self.resource, self.new, self.old, through, self.asked)


class Examples:
    """The examples of one kind; ``short`` are beginnings of paths that are written shorter.

    ``asked``: the version through which clients speak of it, if not the stored one."""

    def __init__(
        self, resource: Resource, base: Mapping[str, Any], short: Mapping[str, str] | None = None,
        *, asked: str = "",
    ) -> None:  # fmt: skip
        self.resource, self.base, self.cases = resource, base, []
        self.short = dict(short or {})
        self.asked = asked

    def create(self, source: str, *rows: tuple[Any, ...]) -> None:
        """New objects: (changes, expected...)."""
        for changes, *expected in rows:
            self._add("create", source, {}, changes, expected)

    def update(self, source: str, *rows: tuple[Any, ...]) -> None:
        """Changed objects: (changes of the old, changes of the new, expected...)."""
        self.through("update", source, *rows)

    def status(self, source: str, *rows: tuple[Any, ...]) -> None:
        """Changed statuses, written as for `update`."""
        self.through("status", source, *rows)

    def through(self, operation: str, source: str, *rows: tuple[Any, ...]) -> None:
        """Changes through a subresource, written as for `update`."""
        for before, changes, *expected in rows:
            self._add(operation, source, before, changes, expected)

    def made(self, changes: Changes) -> Any:
        """The good object with ``changes``, defaulted; what was dropped stays away."""
        changes = {self._long(path): value for path, value in changes.items()}
        meta: dict[str, Any] = {"name": "a", "uid": "u"}
        if self.resource.namespaced:
            meta["namespace"] = "default"
        base = put({"metadata": meta}, {})
        base = {**base, **copy.deepcopy(dict(self.base))}
        base["metadata"] = {**meta, **base["metadata"]}
        result = put(base, changes)
        defaults.apply(self.resource, result)
        return put(result, {path: value for path, value in changes.items() if value is DROP})

    def _long(self, path: str) -> str:
        for short, long in self.short.items():
            if path.startswith(short):
                return long + path.removeprefix(short)
        return path

    def _shown(self, text: str) -> str:
        for short, long in self.short.items():
            if text.startswith(short):
                parts = long.removesuffix(".").split(".")
                path = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in parts)
                return f"{path.removeprefix('.')}.{text.removeprefix(short)}"
        return text

    def _add(
        self, operation: str, source: str, before: Changes, changes: Changes, expected: list[str]
    ) -> None:
        old = None if operation == "create" else self.made(before)
        texts = tuple(self._shown(text) for text in expected)
        case = Case(self.resource, operation, source, self.made(changes), old, texts, self.asked)
        self.cases.append(case)
