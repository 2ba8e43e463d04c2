"""Restart and pull back-off: 10 s, doubling up to 5 min, forgotten after twice that in peace.

Pure; time is an argument. Source: client-go util/flowcontrol/backoff.go,
kubernetes v1.34 pkg/kubelet/kubelet.go (MaxCrashLoopBackOff, imageBackOffPeriod).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

FIRST_S = 10.0
LONGEST_S = 300.0


@dataclass(slots=True)
class _Entry:
    delay_s: float
    updated: float


class Backoff:
    """Delays by key."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def delay_s(self, key: str) -> float:
        """The delay in force for ``key``; 0 when it never failed."""
        entry = self._entries.get(key)
        return entry.delay_s if entry else 0.0

    def until(self, key: str, since: float, now: float) -> float:
        """When ``key`` may be tried again after the end at ``since``; ``now`` at the latest is now.

        A result not after ``now`` means that it may be tried at once.
        """
        entry = self._entries.get(key)
        if entry is None or since - entry.updated > 2 * LONGEST_S:
            return now
        return since + entry.delay_s

    def next(self, key: str, now: float) -> None:
        """``key`` is tried now: the next delay is twice as long."""
        entry = self._entries.get(key)
        if entry is None or now - entry.updated > 2 * LONGEST_S:
            self._entries[key] = _Entry(FIRST_S, now)
        else:
            entry.delay_s = min(2 * entry.delay_s, LONGEST_S)
            entry.updated = now

    def forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._entries.pop(key, None)


def duration(seconds: float) -> str:
    """A delay as Go prints it: ``10s``, ``1m20s``, ``5m0s``."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
