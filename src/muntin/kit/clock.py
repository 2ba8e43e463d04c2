"""Time as an argument: components take a :class:`Clock`; tests hand in :class:`FakeClock`."""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from typing import Protocol


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


def rfc3339(seconds: float, *, micros: bool = False) -> str:
    """A Kubernetes timestamp: ``2026-01-02T03:04:05Z``, with ``micros`` a MicroTime."""
    if not micros:
        return _second(math.floor(seconds))
    return time_text(datetime.fromtimestamp(seconds, UTC), micros=True)


def time_text(moment: datetime, *, micros: bool = False) -> str:
    """`rfc3339` of ``moment``, which is in UTC. The year has four digits, also before 1000."""
    timespec = "microseconds" if micros else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=timespec) + "Z"


@lru_cache(maxsize=16)
def _second(second: int) -> str:
    """The text of one second, in which many things may happen."""
    return time_text(datetime.fromtimestamp(second, UTC))


def parse_rfc3339(text: str) -> float:
    """Seconds since the epoch of a Kubernetes Time or MicroTime."""
    return datetime.fromisoformat(text).timestamp()
