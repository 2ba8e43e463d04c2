"""The front ends of all Services, and what changed in them since the data plane was told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from muntin.proxy.dataplane import Change
from muntin.proxy.plan import Frontend, FrontendKey


class Table:
    """Desired against told. Pure bookkeeping: no front end is looked at unless it changed."""

    def __init__(self) -> None:
        self._wanted: dict[FrontendKey, Frontend] = {}
        self._told: dict[FrontendKey, Frontend] = {}
        self._keys: dict[str, set[FrontendKey]] = {}
        self._open: set[FrontendKey] = set()

    def set_service(self, service: str, frontends: Iterable[Frontend]) -> None:
        """Let ``service`` have exactly ``frontends``; an address of another Service stays its."""
        mine = {
            frontend.key: frontend
            for frontend in frontends
            if self._owner(frontend.key) in (None, service)
        }
        gone = self._keys.get(service, set()) - mine.keys()
        for key in gone:
            del self._wanted[key]
        changed = {key for key, frontend in mine.items() if self._wanted.get(key) != frontend}
        self._wanted.update(mine)
        self._open |= gone | changed
        if mine:
            self._keys[service] = set(mine)
        else:
            self._keys.pop(service, None)

    def changes(self) -> list[Change]:
        """What the data plane has to be told now."""
        made = []
        for key in self._open:
            old, new = self._told.get(key), self._wanted.get(key)
            if old is not None or new is not None:
                made.append(Change(key, old, new))
        return made

    def tell(self, changes: Iterable[Change], failures: Mapping[FrontendKey, str]) -> None:
        """Note that the data plane was told; what failed stays open."""
        for change in changes:
            if change.new is None:
                self._told.pop(change.key, None)
            else:
                self._told[change.key] = change.new
            if change.key not in failures:
                self._open.discard(change.key)

    def start_over(self) -> None:
        """The data plane knows nothing any more."""
        self._told.clear()
        self._open = set(self._wanted)

    def __len__(self) -> int:
        return len(self._wanted)

    def _owner(self, key: FrontendKey) -> str | None:
        known = self._wanted.get(key)
        return known.service if known else None
