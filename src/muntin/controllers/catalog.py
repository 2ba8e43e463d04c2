"""Which resources the server has, asked for now and then."""

from __future__ import annotations

import asyncio

from muntin.kit.clock import Clock
from muntin.model.resources import Resource
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
        """The resources whose objects can be listed, watched and deleted; ``fresh``: right now."""
        async with self._lock:
            if fresh or self._clock.monotonic() - self._asked >= self._max_age_s:
                self._found = await preferred_resources(self._client)
                self._asked = self._clock.monotonic()
        needed = {"list", "watch", "delete"}
        return [resource for resource in self._found if needed <= set(resource.verbs)]
