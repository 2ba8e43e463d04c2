"""Writing to many watchers: some of them each turn of the loop, and no faster than they can use.

A thousand writes take the loop some ten milliseconds, in which no request would be answered. So
they are made in slices, requests come between, and what events these bring goes out together with
what a watcher is waiting for already, in one write. When more has come by the end of a round of
writes, or is being stored, a rest twice as long comes first: changes in a row are told together,
and writing takes a third of the time. A single change, and what few watchers see, waits for
nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

SLICE_S = 0.0003  # a request takes some turns: the shorter they are, the sooner it is answered
REST = 2  # as long as the round before it
# Timers are no finer than the first; more than the second would be felt.
LEAST_REST_S, MOST_REST_S = 0.001, 0.02


class Due(Protocol):
    """Something with bytes to write."""

    def flush(self) -> None:
        """Write them."""


class Pump:
    """Flushes those that are added, in order, each as often as it was added.

    ``expects`` says whether there will soon be more.
    """

    def __init__(self, expects: Callable[[], bool] = lambda: False) -> None:
        self._expects = expects
        self._round: deque[Due] = deque()  # being flushed
        self._next: deque[Due] = deque()
        self._running = False
        self._spent_s = 0.0  # by this round

    def add(self, due: Due) -> None:
        """Flush it soon."""
        self._next.append(due)
        if not self._running:
            self._running = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        if not self._round:
            self._round, self._next = self._next, self._round
        due, now = self._round, time.perf_counter
        began = now()
        end = began + SLICE_S
        while due:
            due.popleft().flush()
            if now() > end:
                break
        self._spent_s += now() - began
        loop = asyncio.get_running_loop()
        if due:
            loop.call_soon(self._run)
            return
        rest_s, self._spent_s = min(REST * self._spent_s, MOST_REST_S), 0.0
        if rest_s >= LEAST_REST_S and (self._next or self._expects()):
            loop.call_later(rest_s, self._run)
        elif self._next:
            loop.call_soon(self._run)
        else:
            self._running = False
