"""Which resources the server has, asked for now and then."""

from __future__ import annotations

import asyncio

from muntin.kit.clock import Clock
from muntin.model.resources import Resource, by_kind
from muntin.seams.kube.discovery import RawClient, preferred_resources


class Catalog:
    """The server's resources, at most ``max_age_s`` old."""

    def __init__(self, client: RawClient, clock: Clock, max_age_s: float) -> None:
        self._client = client
        self._clock = clock
        self._max_age_s = max_age_s
        self._lock = asyncio.Lock()
        self._asked = float("-inf")
        self._found: list[Resource] = []

    def forget(self) -> None:
        """Ask anew at the next question: what is served has changed."""
        self._asked = float("-inf")

    async def deletable(self, *, fresh: bool = False) -> list[Resource]:
        """The resources whose objects can be listed, watched and deleted; ``fresh``: right now.

        What the table of resources knows is its row: one that others read is found in the caches.
        """
        async with self._lock:
            if fresh or self._clock.monotonic() - self._asked >= self._max_age_s:
                self._found = await preferred_resources(self._client)
                self._asked = self._clock.monotonic()
        needed = {"list", "watch", "delete"}
        return [_tabled(row) for row in self._found if needed <= set(row.verbs)]


def _tabled(found: Resource) -> Resource:
    """The row of the table that is the same resource; itself for one that is in none."""
    row = by_kind(found.api_version, found.kind)
    same = row is not None and (row.plural, row.namespaced) == (found.plural, found.namespaced)
    return row if row is not None and same else found
