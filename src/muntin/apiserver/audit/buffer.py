"""Audit events that wait for a backend which works in the background."""

from __future__ import annotations

import asyncio
import logging

from muntin.kit.clock import Clock
from muntin.kit.log import fields

log = logging.getLogger(__name__)

BUFFERED = 10_000


class Buffer:
    """Lines in order; those that come while it is full are dropped, and their number is logged."""

    def __init__(self, clock: Clock, wait_s: float) -> None:
        self._clock = clock
        self._wait_s = wait_s
        self._lines: list[bytes] = []
        self._due = asyncio.Event()
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._lines)

    def put(self, line: bytes) -> None:
        """Keep ``line`` until it is taken."""
        if len(self._lines) >= BUFFERED:
            self.dropped += 1
            return
        self._lines.append(line)
        self._due.set()

    async def due(self) -> None:
        """Return some time after there is something to take."""
        await self._due.wait()
        await self._clock.sleep(self._wait_s)
        self._due.clear()

    def take(self, most: int = BUFFERED) -> list[bytes]:
        """The oldest lines, at most so many."""
        lines, self._lines = self._lines[:most], self._lines[most:]
        if self.dropped:
            log.warning("audit events were dropped", **fields(events=self.dropped))
            self.dropped = 0
        return lines
