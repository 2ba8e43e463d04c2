"""Time as an argument: components take a :class:`Clock`; tests hand in :class:`FakeClock`."""

from __future__ import annotations

import asyncio
import heapq
import time
from itertools import count
from typing import Protocol

from muntin.kit.timestamps import NotATime, parse_rfc3339, rfc3339, time_text

__all__ = [
    "Clock",
    "FakeClock",
    "NotATime",
    "SystemClock",
    "parse_rfc3339",
    "rfc3339",
    "time_text",
]


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds of a clock that never runs back."""

    async def sleep(self, delay_s: float) -> None:
        """Return after ``delay_s`` seconds of this clock."""


class SystemClock:
    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)


class FakeClock:
    """A clock that stands still until :meth:`advance`; sleepers wake in order of their time."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._time = start
        self._start = start
        self._order = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._time

    def monotonic(self) -> float:
        return self._time - self._start

    async def sleep(self, delay_s: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._time + max(0.0, delay_s), next(self._order), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Move the clock on, waking each sleeper at its own moment."""
        end = self._time + seconds
        await asyncio.sleep(0)
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, future = heapq.heappop(self._sleepers)
            self._time = max(self._time, at)
            if not future.done():
                future.set_result(None)
            for _ in range(5):
                await asyncio.sleep(0)
        self._time = end
        for _ in range(5):
            await asyncio.sleep(0)
