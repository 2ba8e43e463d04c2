"""Writing to many watchers: some of them each turn of the loop.

A thousand writes take the loop some ten milliseconds, in which no request would be answered. So
they are made in slices, requests come between, and what events these bring goes out together with
what a watcher is waiting for already, in one write.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Protocol

SLICE_S = 0.0003  # a request takes some turns: the shorter they are, the sooner it is answered


class Due(Protocol):
    """Something with bytes to write."""

    def flush(self) -> None:
        """Write them."""


class Pump:
    """Flushes those that are added, in order, each as often as it was added."""

    def __init__(self) -> None:
        self._due: deque[Due] = deque()
        self._running = False

    def add(self, due: Due) -> None:
        """Flush it soon."""
        self._due.append(due)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        due, now = self._due, time.perf_counter
        end = now() + SLICE_S
        while due:
            due.popleft().flush()
            if now() > end:
                break
        self._running = bool(due)
        if due:
            asyncio.get_running_loop().call_soon(self._run)
