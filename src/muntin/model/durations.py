"""Times of API objects, how `kubectl` writes how long ago they were, and Go's durations.

Source: apimachinery pkg/util/duration/duration.go (HumanDuration) v1.34; Go's time.ParseDuration.
"""

from __future__ import annotations

import re
from functools import lru_cache

from muntin.kit.errors import Invalid
from muntin.kit.timestamps import parse_rfc3339

_MINUTE, _HOUR = 60, 3600
_DAY_HOURS, _YEAR_DAYS = 24, 365


@lru_cache(maxsize=4096)
def epoch_s(stamp: str) -> float:
    """Seconds since 1970 of an RFC 3339 time such as ``2024-05-01T12:00:00Z``."""
    return parse_rfc3339(stamp)


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def human(seconds: float) -> str:
    """A span in at most two units, coarser the longer it is: ``8s``, ``5m10s``, ``3h``, ``2d4h``.

    Up to two seconds in the future count as now; more is ``<invalid>``.
    """
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    minutes, hours = whole // _MINUTE, whole // _HOUR
    if minutes < 10:
        return _pair(minutes, "m", whole % _MINUTE, "s")
    if minutes < 3 * 60:
        return f"{minutes}m"
    if hours < 8:
        return _pair(hours, "h", minutes % 60, "m")
    if hours < 2 * _DAY_HOURS:
        return f"{hours}h"
    days = hours // _DAY_HOURS
    if days < 8:
        return _pair(days, "d", hours % _DAY_HOURS, "h")
    if days < 2 * _YEAR_DAYS:
        return f"{days}d"
    if days < 8 * _YEAR_DAYS:
        return _pair(days // _YEAR_DAYS, "y", days % _YEAR_DAYS, "d")
    return f"{days // _YEAR_DAYS}y"


def since(stamp: str | None, now_s: float) -> str:
    """How long before ``now_s`` (seconds since 1970) ``stamp`` was; ``<unknown>`` without one."""
    return human(now_s - epoch_s(stamp)) if stamp else "<unknown>"


_UNITS_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0,
            "h": 3600.0}  # fmt: skip
_part = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([^0-9.]*)").match
_LONGEST_S = 2**63 / 1e9  # a duration is 64 bits of nanoseconds


def parse_duration(text: str) -> float:
    """Seconds of a duration as Go writes it: ``300ms``, ``1.5h``, ``-2h45m``, ``0``.

    Raises:
        Invalid: with the words of Go's time.ParseDuration.
    """
    sign, rest = (-1.0, text[1:]) if text[:1] == "-" else (1.0, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    seconds, at = 0.0, 0
    while at < len(rest):
        found = _part(rest, at)
        if found is None:
            raise Invalid(f'time: invalid duration "{text}"')
        number, unit = found.groups()
        if not unit:
            raise Invalid(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS_S:
            raise Invalid(f'time: unknown unit "{unit}" in duration "{text}"')
        seconds += float(number) * _UNITS_S[unit]
        at = found.end()
    if not at or seconds >= _LONGEST_S:
        raise Invalid(f'time: invalid duration "{text}"')
    return sign * seconds
