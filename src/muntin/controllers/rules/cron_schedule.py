"""When a schedule is due: the meaning of robfig/cron v3, which upstream uses.

No library on PyPI agrees with it where a clock is put forward (a time that does not exist is left
out, and not made up for) and back (a time that comes twice is due twice), nor about ``*/2`` in days
of the month beside days of the week. The grammar is in `validation.schedules`.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from muntin.kit.errors import Invalid
from muntin.model import durations
from muntin.model.validation.schedules import FIELDS, schedule_problem

_UNITS = ("month", "day", "hour", "minute", "second")
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_DAY_S = 86400
_YEARS = 5
"""A schedule that is not due for so long never is, as the 31st of February."""

_MACROS: Mapping[str, str] = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True, slots=True)
class Every:
    """Due again and again after so many whole seconds, ``@every 90s``."""

    period_s: int

    def next(self, after: float) -> float:
        """The next time after ``after``, both in seconds since 1970."""
        return float(int(after) + self.period_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Due in these minutes of these hours of these days, by the clocks of ``zone``.

    ``days_and_weekdays``: a day has to be both; else either will do.
    """

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    days_and_weekdays: bool
    zone: tzinfo

    def next(self, after: float) -> float | None:
        """The first time after ``after``, in seconds since 1970; None if there is none.

        Nor is there one after the year 9999, the last that calendars here have.
        """
        try:
            return self._next(int(after) + 1)
        except (ValueError, OverflowError):
            return None

    def _next(self, at: int) -> float | None:
        begun = False
        last_year = self._local(at).year + _YEARS
        while self._local(at).year <= last_year:
            for unit in _UNITS:
                at, begun, wrapped = self._seek(unit, at, begun)
                if wrapped:
                    break
            else:
                return float(at)
        return None

    def _seek(self, unit: str, at: int, begun: bool) -> tuple[int, bool, bool]:
        """Go on from ``at`` by whole units until one is meant.

        ``begun``: the smaller units are at their lowest already. Ends early, and says so, where a
        larger unit has changed.
        """
        while not self._means(unit, self._local(at)):
            if not begun:
                at, begun = self._begin(unit, at), True
            at = self._step(unit, at)
            if getattr(self._local(at), unit) == (1 if unit in ("month", "day") else 0):
                return at, begun, True
        return at, begun, False

    def _means(self, unit: str, local: datetime) -> bool:
        if unit == "month":
            return local.month in self.months
        if unit == "day":
            day, weekday = local.day in self.days, local.isoweekday() % 7 in self.weekdays
            return day and weekday if self.days_and_weekdays else day or weekday
        if unit == "hour":
            return local.hour in self.hours
        return local.minute in self.minutes if unit == "minute" else local.second == 0

    def _begin(self, unit: str, at: int) -> int:
        if unit in ("minute", "second"):
            return at - at % _SECONDS[unit]
        local = self._local(at).replace(minute=0, second=0)
        if unit != "hour":
            local = local.replace(hour=0)
        return self._moment(local.replace(day=1) if unit == "month" else local)

    def _step(self, unit: str, at: int) -> int:
        if unit == "second":  # none but the first is ever meant
            return at + 60 - at % 60
        if unit in _SECONDS:
            return at + _SECONDS[unit]
        local = self._local(at)
        if unit == "month":
            year, month = divmod(local.year * 12 + local.month, 12)
            first = local.replace(year=year, month=month + 1, day=1)
            return self._moment(first + timedelta(days=local.day - 1))
        later = self._moment(local + timedelta(days=1))
        hour = self._local(later).hour  # midnight, unless the clock is changed then
        later += ((24 - hour) if hour > 12 else -hour) * 3600
        return later if later > at else at + _DAY_S  # a calendar that leaves out a whole day

    def _local(self, at: int) -> datetime:
        return datetime.fromtimestamp(at, self.zone)

    def _moment(self, local: datetime) -> int:
        """When clocks show that; of a time that they leave out or show twice, as Go has it."""
        at = int(local.replace(tzinfo=UTC).timestamp())
        offset = self._offset_s(at)
        if offset and self._offset_s(at - offset) != offset:
            offset = self._offset_s(at - offset)
        return at - offset

    def _offset_s(self, at: int) -> int:
        return int((self._local(at).utcoffset() or timedelta()).total_seconds())


@lru_cache(maxsize=1024)
def parse(text: str, zone: str = "") -> Spec | Every:
    """The meaning of ``text`` by the clocks of ``zone``; empty is UTC.

    Raises:
        Invalid: with the words of upstream's parser.
    """
    problem = schedule_problem(text)
    if problem:
        raise Invalid(problem)
    if text.startswith(("TZ=", "CRON_TZ=")):
        head, _, text = text.partition(" ")
        zone, text = head.partition("=")[2], text.strip()
    if text.startswith("@every "):
        return Every(max(1, int(durations.parse_duration(text.removeprefix("@every ")))))
    fields = _MACROS.get(text, text).split()
    minutes, hours, days, months, weekdays = (
        _values(field, *bounds) for field, bounds in zip(fields, FIELDS, strict=True)
    )
    return Spec(
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=weekdays,
        days_and_weekdays=_is_open(fields[2]) or _is_open(fields[4]),
        zone=zoneinfo.ZoneInfo(zone) if zone else UTC,
    )


def _is_open(field: str) -> bool:
    """Whether a field leaves all to the other one: it has a star, and no step that matters."""
    parts = (part.partition("/") for part in field.split(","))
    return any(
        span.partition("-")[0] in ("*", "?") and (not step or int(step) == 1)
        for span, _, step in parts
    )


def _values(field: str, low: int, high: int, names: Mapping[str, int]) -> frozenset[int]:
    def number(text: str) -> int:
        named = names.get(text.lower())
        return int(text) if named is None else named

    found: set[int] = set()
    for part in filter(None, field.split(",")):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        if first in ("*", "?"):
            start, end = low, high
        else:
            start = number(first)
            end = number(last) if dash else (high if slash else start)
        found.update(range(start, end + 1, int(step) if slash else 1))
    return frozenset(found)
