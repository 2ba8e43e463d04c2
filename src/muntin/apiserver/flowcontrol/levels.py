"""Priority levels: how many seats each has, who sits on them, and who must wait.

All limited levels share the server's seats by their shares. A level may use seats that others do
not, up to its borrowing limit, but never those that another keeps for itself: of its nominal
seats all but the lendable part. A seat that was lent comes back when its request ends.
Source: Kubernetes documentation, API Priority and Fairness.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from muntin.apiserver.flowcontrol.queues import FairQueues, Waiter

MOST_LIST_SEATS = 10
_SEATS_OF_LEVEL = 0.15  # of a level's seats one request may take, as upstream


class Level:
    """One priority level at work."""

    def __init__(self, name: str, uid: str, spec: Mapping[str, Any]) -> None:
        self.name = name
        self.uid = uid
        self._spec = spec
        self.exempt = spec.get("type") == "Exempt"
        limited = spec.get("limited") or spec.get("exempt") or {}
        shares = limited.get("nominalConcurrencyShares", limited.get("assuredConcurrencyShares"))
        self.shares = int(shares if shares is not None else 0 if self.exempt else 30)
        self.lendable_percent = int(limited.get("lendablePercent") or 0)
        self.borrowing_percent = limited.get("borrowingLimitPercent")
        response = limited.get("limitResponse") or {}
        queuing = response.get("queuing") or {}
        self.queues: FairQueues | None = None
        self.hand_size = 1
        if response.get("type") == "Queue" and not self.exempt:
            self.hand_size = int(queuing.get("handSize") or 8)
            self.queues = FairQueues(
                int(queuing.get("queues") or 64),
                self.hand_size,
                int(queuing.get("queueLengthLimit") or 50),
                self.may_start,
            )
        self.nominal = self.least = self.most = 0
        self.in_use = 0
        self.executing = 0
        self.pool: Pool | None = None

    def is_configured_as(self, other: Level) -> bool:
        """Whether both are the same object with the same spec."""
        return (self.uid, self._spec) == (other.uid, other._spec)

    @property
    def most_seats_of_one(self) -> int:
        """The widest that a request of this level is thought to be."""
        wide = min(math.ceil(self.nominal * _SEATS_OF_LEVEL), self.nominal // self.hand_size)
        return min(MOST_LIST_SEATS, max(1, wide))

    def may_start(self, seats: int) -> bool:
        """Whether ``seats`` more can be taken now."""
        wanted = self.in_use + seats
        if self.exempt or wanted <= self.least:
            return True
        if wanted > self.most:
            return self.executing == 0  # too wide ever to fit: alone
        assert self.pool is not None
        return self.pool.has_room(self, seats)

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return self.queues.waiting if self.queues is not None else 0


class Pool:
    """The seats of one server, and its levels by name."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.levels: dict[str, Level] = {}

    def replace(self, levels: Iterable[Level]) -> None:
        """Serve by ``levels`` from now on; requests that run or wait stay with the old ones."""
        self.levels = {level.name: level for level in levels}
        total = sum(level.shares for level in self.levels.values())
        for level in self.levels.values():
            level.pool = self
            nominal = math.ceil(self.seats * level.shares / total) if total else 0
            level.nominal = nominal
            level.least = nominal - round(nominal * level.lendable_percent / 100)
            percent = level.borrowing_percent
            borrowed = self.seats if percent is None else round(nominal * int(percent) / 100)
            level.most = min(self.seats, nominal + borrowed)

    def has_room(self, level: Level, seats: int) -> bool:
        """Whether ``level`` can take ``seats`` of those that nobody uses or keeps for itself."""
        taken = 0
        for other in self.levels.values():
            if other is level:
                continue
            taken += 0 if other.exempt else max(other.in_use, other.least)
        return level.in_use + seats <= max(level.least, self.seats - taken)

    def dispatch(self, now_s: float) -> list[tuple[Level, Waiter]]:
        """Start whoever can start now, of any level."""
        started = []
        for level in self.levels.values():
            queues = level.queues
            if queues is None or not queues.waiting:
                continue
            queues.advance(now_s, level.nominal)
            while queues.waiting and (waiter := queues.dispatch(now_s)) is not None:
                level.in_use += waiter.seats
                level.executing += 1
                started.append((level, waiter))
        return started
