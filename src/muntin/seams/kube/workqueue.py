"""A queue of keys to reconcile: each at most once at a time, failed ones later and later.

Level-triggered: a key added while it waits is one entry; added while it is being worked on, it is
worked on once more afterwards. Nothing but the key is kept, the worker looks at the world itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.log import fields
from muntin.seams.kube import metrics

log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)

BASE_DELAY_S = 0.005
MAX_DELAY_S = 30.0
"""Upstream's workqueue begins at 5 ms and goes up to 1000 s; nobody waits that long here."""


class WorkQueue(Generic[K]):
    """See the module. Only :meth:`run` may be awaited for; the other methods return at once."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        base_delay_s: float = BASE_DELAY_S,
        max_delay_s: float = MAX_DELAY_S,
        name: str = "",
    ) -> None:
        self._labels = (name,) if name else None  # queues without a name are not counted
        self._clock = clock or SystemClock()
        self._base_delay_s = base_delay_s
        self._max_delay_s = max_delay_s
        self._ready: deque[K] = deque()
        self._dirty: set[K] = set()
        self._processing: set[K] = set()
        self._failures: dict[K, int] = {}
        self._due: dict[K, float] = {}
        self._wake = asyncio.Event()
        self._group: supervised.Group | None = None

    def __len__(self) -> int:
        return len(self._ready)

    def add(self, key: K) -> None:
        """Have ``key`` worked on as soon as possible."""
        if key in self._dirty:
            return
        self._dirty.add(key)
        if self._labels is not None:
            metrics.ADDS.add(self._labels)
            metrics.DEPTH.set(self._labels, len(self._ready) + 1)
        if key not in self._processing:
            self._ready.append(key)
            self._wake.set()

    def add_after(self, key: K, delay_s: float) -> None:
        """Add ``key`` in ``delay_s`` seconds, unless it is already due earlier."""
        if delay_s <= 0:
            self.add(key)
            return
        due = self._clock.monotonic() + delay_s
        if key in self._due and self._due[key] <= due:
            return
        self._due[key] = due
        if self._group is not None:
            self._group.start_once("workqueue-timer", partial(self._add_at, key, due))

    def retry(self, key: K) -> float:
        """Add ``key`` after the delay that its number of failures asks for; that delay."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        if self._labels is not None:
            metrics.RETRIES.add(self._labels)
        delay_s = min(self._max_delay_s, self._base_delay_s * 2.0 ** min(failures, 40))
        self.add_after(key, delay_s)
        return delay_s

    def forget(self, key: K) -> None:
        """``key`` succeeded: its next failure is its first."""
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        """How often ``key`` failed since it last succeeded."""
        return self._failures.get(key, 0)

    async def get(self) -> K:
        """The next key; :meth:`done` must be called when it has been worked on."""
        while not self._ready:
            self._wake.clear()
            await self._wake.wait()
        key = self._ready.popleft()
        self._dirty.discard(key)
        self._processing.add(key)
        return key

    def done(self, key: K) -> None:
        """The work on ``key`` ended, well or not."""
        self._processing.discard(key)
        if key in self._dirty:
            self._ready.append(key)
            self._wake.set()

    async def run(self, work: Callable[[K], Awaitable[None]], *, workers: int = 1) -> None:
        """Work until cancelled. ``work`` handles its own errors, by :meth:`retry` for instance.

        An exception that it does not handle is logged, counted, and the key tried again later.
        """
        async with supervised.Group() as group:
            self._group = group
            for key, due in list(self._due.items()):
                group.start_once("workqueue-timer", partial(self._add_at, key, due))
            for _ in range(workers):
                group.start("workqueue-worker", partial(self._worker, work))

    async def _worker(self, work: Callable[[K], Awaitable[None]]) -> None:
        while True:
            key = await self.get()
            started = time.perf_counter()
            try:
                await work(key)
            except Exception:
                supervised.FAILURES.add(("workqueue-key",))
                log.exception("work on a key failed, will retry", **fields(key=key))
                self.retry(key)
            finally:
                self.done(key)
                if self._labels is not None:
                    metrics.WORK.observe(self._labels, time.perf_counter() - started)
                    metrics.DEPTH.set(self._labels, len(self._ready))
            await asyncio.sleep(0)  # others run between two keys

    async def _add_at(self, key: K, due: float) -> None:
        await self._clock.sleep(due - self._clock.monotonic())
        if self._due.get(key) == due:
            del self._due[key]
            self.add(key)
