"""Kubernetes timestamps (RFC 3339) as seconds since the epoch, and back; pure, and quick to import.

Every text gives a number or one error, and every number a text.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import lru_cache

from muntin.kit.errors import Invalid

# What RFC 3339 can write: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
_FIRST_S, _LAST_S = -62_135_596_800, 253_402_300_799


def rfc3339(seconds: float, *, micros: bool = False) -> str:
    """A Kubernetes timestamp: ``2026-01-02T03:04:05Z``, with ``micros`` a MicroTime.

    Moments before year 1 and after year 9999, which the form cannot write, become the nearest that
    it can.
    """
    seconds = min(max(seconds, _FIRST_S), _LAST_S)
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


class NotATime(Invalid, ValueError):
    """A text that is no RFC 3339 time."""


def parse_rfc3339(text: str) -> float:
    """Seconds since the epoch of a Kubernetes Time or MicroTime.

    Raises:
        NotATime: another form, a day or zone that does not exist, or no zone.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise NotATime(f"{text[:40]!r} is not an RFC 3339 time: it has no time zone")
        return moment.timestamp()
    except (ValueError, TypeError, OverflowError) as err:
        if isinstance(err, NotATime):
            raise
        shown = repr(text)[:60]
        raise NotATime(f"{shown} is not an RFC 3339 time such as 2026-01-02T03:04:05Z") from err
