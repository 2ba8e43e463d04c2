"""The policies of one kind that are bound, each with its bindings; read again after a change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from muntin.apiserver.cache import Event, ResourceCache

Object = dict[str, Any]
P = TypeVar("P")


class Bound(Generic[P]):
    """Policies that ``make`` reads, with their bindings."""

    def __init__(
        self, policies: ResourceCache, bindings: ResourceCache, make: Callable[[Object], P]
    ) -> None:
        self._policies = policies
        self._bindings = bindings
        self._make = make
        self._known: list[tuple[P, list[Object]]] | None = None
        for found in (policies, bindings):
            found.observers.append(self._forget)

    def _forget(self, _: Event) -> None:
        self._known = None

    def all(self) -> list[tuple[P, list[Object]]]:
        """The policies that have a binding, each with its bindings."""
        if self._known is None:
            by_policy: dict[str, list[Object]] = {}
            for item in self._bindings.items.values():
                obj = item.object()
                by_policy.setdefault((obj.get("spec") or {}).get("policyName", ""), []).append(obj)
            self._known = [
                (self._make(item.object()), by_policy[item.name])
                for item in self._policies.items.values()
                if item.name in by_policy
            ]
        return self._known
