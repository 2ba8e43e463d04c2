"""How long a client that was turned away should stay away: longer when many are.

Source: apiserver v1.34 pkg/util/flowcontrol/dropped_requests_tracker.go.
"""

from __future__ import annotations

from collections import deque

LONGEST_S = 32


class RetryAfter:
    """The ``Retry-After`` of one priority level, from what was dropped lately."""

    def __init__(self) -> None:
        self.seconds = 1
        self._history: deque[tuple[int, int]] = deque(maxlen=2 * LONGEST_S)
        self._second = 0
        self._count = 0
        self._raised_at = 0

    def dropped(self, now: int) -> None:
        """Count one at ``now`` (whole seconds)."""
        if now == self._second:
            self._count += 1
            return
        self._history.append((self._second, self._count))
        self._second, self._count = now, 1
        self._adapt(now)

    def _adapt(self, now: int) -> None:
        """Twice as long after three a second, a second less after fewer than one."""
        lately = sum(count for at, count in self._history if now - self.seconds <= at < now)
        if now - self._raised_at >= self.seconds and lately >= 3 * self.seconds:
            self.seconds = min(LONGEST_S, 2 * self.seconds)
            self._raised_at = now
        elif lately < self.seconds and self.seconds > 1:
            self.seconds -= 1
