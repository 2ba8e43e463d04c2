"""DateTime and TimeSpan with .NET's format strings (invariant culture as en-US)."""

from __future__ import annotations

import datetime as dt
import re
import time
from typing import Any

from .errors import NetError
from .values import NetObject, to_number

_STANDARD = {
    "d": "M/d/yyyy",
    "D": "dddd, MMMM d, yyyy",
    "t": "h:mm tt",
    "T": "h:mm:ss tt",
    "f": "dddd, MMMM d, yyyy h:mm tt",
    "F": "dddd, MMMM d, yyyy h:mm:ss tt",
    "g": "M/d/yyyy h:mm tt",
    "G": "M/d/yyyy h:mm:ss tt",
    "M": "MMMM d",
    "m": "MMMM d",
    "Y": "MMMM yyyy",
    "y": "MMMM yyyy",
    "s": "yyyy-MM-ddTHH:mm:ss",
    "u": "yyyy-MM-dd HH:mm:ssZ",
    "o": "yyyy-MM-ddTHH:mm:ss.fffffffK",
    "O": "yyyy-MM-ddTHH:mm:ss.fffffffK",
    "R": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
    "r": "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
}
_PIECE = re.compile(
    r"'([^']*)'|\"([^\"]*)\"|\\(.)|d{1,4}|M{1,4}|yyyy|yy?|HH?|hh?|mm?|ss?|f{1,7}|F{1,7}|tt?|z{1,3}|K|."
)
_EPOCH_TICKS = 621355968000000000
_INPUTS = (
    "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M",
    "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M %p", "%m/%d/%Y", "%H:%M:%S", "%H:%M", "%d %B %Y", "%B %d, %Y", "%d %b %Y",
    "%a, %d %b %Y %H:%M:%S GMT", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S",
)  # fmt: skip


class TimeSpan(NetObject):
    """A length of time, kept in ticks of 100 ns."""

    net_name = "System.TimeSpan"

    def __init__(self, ticks: int) -> None:
        """``ticks`` of 100 ns."""
        self.Ticks = ticks

    @classmethod
    def of_seconds(cls, seconds: float) -> TimeSpan:
        """From seconds."""
        return cls(round(seconds * 10_000_000))

    def seconds(self) -> float:
        """As seconds."""
        return self.Ticks / 10_000_000

    def _part(self, unit: int, size: int) -> int:
        value = abs(self.Ticks) // unit % size
        return -value if self.Ticks < 0 else value

    @property
    def Days(self) -> int:
        """Whole days."""
        return self._part(864_000_000_000, 1 << 40)

    @property
    def Hours(self) -> int:
        """Hours beyond the days."""
        return self._part(36_000_000_000, 24)

    @property
    def Minutes(self) -> int:
        """Minutes beyond the hours."""
        return self._part(600_000_000, 60)

    @property
    def Seconds(self) -> int:
        """Seconds beyond the minutes."""
        return self._part(10_000_000, 60)

    @property
    def Milliseconds(self) -> int:
        """Milliseconds beyond the seconds."""
        return self._part(10_000, 1000)

    @property
    def TotalDays(self) -> float:
        """All of it in days."""
        return self.seconds() / 86400

    @property
    def TotalHours(self) -> float:
        """All of it in hours."""
        return self.seconds() / 3600

    @property
    def TotalMinutes(self) -> float:
        """All of it in minutes."""
        return self.seconds() / 60

    @property
    def TotalSeconds(self) -> float:
        """All of it in seconds."""
        return self.seconds()

    @property
    def TotalMilliseconds(self) -> float:
        """All of it in milliseconds."""
        return self.Ticks / 10_000

    def ToString(self, pattern: str = "c") -> str:
        """``[-][d.]hh:mm:ss[.fffffff]``, or by a custom pattern."""
        if pattern not in ("c", "g", "G", "t", "T", ""):
            return self.format(pattern)
        sign = "-" if self.Ticks < 0 else ""
        days = f"{abs(self.Days)}." if self.Days else ""
        rest = abs(self.Ticks) % 10_000_000
        tail = f".{rest:07d}" if rest else ""
        clock = f"{abs(self.Hours):02d}:{abs(self.Minutes):02d}:{abs(self.Seconds):02d}"
        return sign + days + clock + tail

    def format(self, pattern: str) -> str:
        """By a custom pattern of ``d h m s f``."""
        values = {"d": self.Days, "h": self.Hours, "m": self.Minutes, "s": self.Seconds}

        def one(match: re.Match[str]) -> str:
            text = match.group()
            if text[0] == "\\":
                return text[1:]
            if text[0] == "'":
                return text[1:-1]
            if text[0] == "f":
                return f"{abs(self.Ticks) % 10_000_000:07d}"[: len(text)]
            return str(abs(values[text[0]])).rjust(len(text), "0")

        if len(pattern) == 1:
            return self.ToString()
        return re.sub(r"\\.|'[^']*'|d+|hh?|mm?|ss?|f+", one, pattern)

    def Add(self, other: TimeSpan) -> TimeSpan:
        """The sum."""
        return TimeSpan(self.Ticks + other.Ticks)

    def Subtract(self, other: TimeSpan) -> TimeSpan:
        """The difference."""
        return TimeSpan(self.Ticks - other.Ticks)

    def compare_to(self, other: Any) -> int:
        """Order by length."""
        ticks = other.Ticks if isinstance(other, TimeSpan) else int(to_number(other))
        return (self.Ticks > ticks) - (self.Ticks < ticks)

    def equals(self, other: Any) -> bool:
        """Same length."""
        return isinstance(other, TimeSpan) and self.Ticks == other.Ticks

    def sort_value(self) -> float:
        """For sorting."""
        return float(self.Ticks)


class DateTime(NetObject):
    """A moment; ``Kind`` is Utc, Local or Unspecified."""

    net_name = "System.DateTime"

    def __init__(self, value: dt.datetime, kind: str = "Unspecified") -> None:
        """``value`` is naive: the wall clock that ``kind`` says."""
        self.value = value
        self.Kind = kind

    Year = property(lambda self: self.value.year)
    Month = property(lambda self: self.value.month)
    Day = property(lambda self: self.value.day)
    Hour = property(lambda self: self.value.hour)
    Minute = property(lambda self: self.value.minute)
    Second = property(lambda self: self.value.second)
    Millisecond = property(lambda self: self.value.microsecond // 1000)
    DayOfYear = property(lambda self: self.value.timetuple().tm_yday)

    @property
    def DayOfWeek(self) -> str:
        """The English name of the day."""
        return self.value.strftime("%A")

    @property
    def Date(self) -> DateTime:
        """Midnight of that day."""
        return DateTime(self.value.replace(hour=0, minute=0, second=0, microsecond=0), self.Kind)

    @property
    def TimeOfDay(self) -> TimeSpan:
        """Since midnight."""
        return TimeSpan(self.Ticks - self.Date.Ticks)

    @property
    def Ticks(self) -> int:
        """Units of 100 ns since year 1."""
        delta = self.value - dt.datetime(1970, 1, 1)
        micro = (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds
        return _EPOCH_TICKS + micro * 10

    def ToString(self, pattern: str = "") -> str:
        """By a standard or custom pattern; without one as string expansion does (invariant)."""
        return self.format(pattern or "MM/dd/yyyy HH:mm:ss")

    def ToShortDateString(self) -> str:
        """``M/d/yyyy``."""
        return self.format("d")

    def ToLongDateString(self) -> str:
        """With the names of day and month."""
        return self.format("D")

    def ToShortTimeString(self) -> str:
        """``h:mm tt``."""
        return self.format("t")

    def ToLongTimeString(self) -> str:
        """``h:mm:ss tt``."""
        return self.format("T")

    def ToUniversalTime(self) -> DateTime:
        """The same moment in UTC."""
        if self.Kind == "Utc":
            return self
        utc = self.value.astimezone(dt.UTC).replace(tzinfo=None)
        return DateTime(utc, "Utc")

    def ToLocalTime(self) -> DateTime:
        """The same moment on the local clock."""
        if self.Kind == "Local":
            return self
        local = self.value.replace(tzinfo=dt.UTC).astimezone().replace(tzinfo=None)
        return DateTime(local, "Local")

    def _plus(self, seconds: float) -> DateTime:
        return DateTime(self.value + dt.timedelta(seconds=seconds), self.Kind)

    def Add(self, span: TimeSpan) -> DateTime:
        """Later by ``span``."""
        return self._plus(span.seconds())

    def AddDays(self, count: Any) -> DateTime:
        """Later by days."""
        return self._plus(to_number(count) * 86400)

    def AddHours(self, count: Any) -> DateTime:
        """Later by hours."""
        return self._plus(to_number(count) * 3600)

    def AddMinutes(self, count: Any) -> DateTime:
        """Later by minutes."""
        return self._plus(to_number(count) * 60)

    def AddSeconds(self, count: Any) -> DateTime:
        """Later by seconds."""
        return self._plus(to_number(count))

    def AddMilliseconds(self, count: Any) -> DateTime:
        """Later by milliseconds."""
        return self._plus(to_number(count) / 1000)

    def AddMonths(self, count: Any) -> DateTime:
        """Later by months; the day is cut to the month's length."""
        months = self.value.month - 1 + int(to_number(count))
        year, month = self.value.year + months // 12, months % 12 + 1
        first = dt.datetime(year + month // 12, month % 12 + 1, 1)
        last = (first - dt.timedelta(days=1)).day
        day = min(self.value.day, last)
        return DateTime(self.value.replace(year=year, month=month, day=day), self.Kind)

    def AddYears(self, count: Any) -> DateTime:
        """Later by years."""
        return self.AddMonths(to_number(count) * 12)

    def Subtract(self, other: Any) -> Any:
        """A TimeSpan between two moments, or an earlier moment."""
        if isinstance(other, TimeSpan):
            return self._plus(-other.seconds())
        return TimeSpan(self.Ticks - other.Ticks)

    def format(self, pattern: str) -> str:
        """By a standard or custom pattern."""
        if len(pattern) == 1:
            if pattern not in _STANDARD:
                raise NetError(
                    "System.FormatException", "Input string was not in a correct format."
                )
            pattern = _STANDARD[pattern]
        return _PIECE.sub(self._piece, pattern.lstrip("%"))

    def _piece(self, match: re.Match[str]) -> str:
        text, v = match.group(), self.value
        for quoted in match.groups():
            if quoted is not None:
                return quoted
        kind, count = text[0], len(text)
        if kind == "f":
            return f"{v.microsecond * 10:07d}"[:count]
        if kind == "F":
            return f"{v.microsecond * 10:07d}"[:count].rstrip("0")
        if kind == "K":
            return {"Utc": "Z", "Local": self._offset(3)}.get(self.Kind, "")
        if kind == "z":
            return self._offset(count)
        if kind == "t":
            return v.strftime("%p")[:count]
        if count > 2 and kind in "dM":
            return v.strftime(
                {"d": "%a", "M": "%b"}[kind] if count == 3 else {"d": "%A", "M": "%B"}[kind]
            )
        numbers = {
            "d": v.day, "M": v.month, "H": v.hour, "h": v.hour % 12 or 12, "m": v.minute,
            "s": v.second, "y": v.year if count == 4 else v.year % 100,
        }  # fmt: skip
        return str(numbers[kind]).rjust(count, "0") if kind in numbers else text

    def _offset(self, count: int) -> str:
        seconds = 0
        if self.Kind != "Utc":
            seconds = int((self.value.astimezone().utcoffset() or dt.timedelta()).total_seconds())
        sign, minutes = "-" if seconds < 0 else "+", abs(seconds) // 60
        hours = f"{minutes // 60:02d}" if count > 1 else str(minutes // 60)
        return sign + hours + (f":{minutes % 60:02d}" if count > 2 else "")

    def compare_to(self, other: Any) -> int:
        """Order in time."""
        ticks = to_datetime(other).Ticks
        return (self.Ticks > ticks) - (self.Ticks < ticks)

    def equals(self, other: Any) -> bool:
        """Same moment."""
        return isinstance(other, DateTime) and self.Ticks == other.Ticks

    def sort_value(self) -> float:
        """For sorting."""
        return float(self.Ticks)


def now() -> DateTime:
    """The local clock."""
    return DateTime(dt.datetime.now(), "Local")


def utc_now() -> DateTime:
    """The UTC clock."""
    return DateTime(dt.datetime.now(dt.UTC).replace(tzinfo=None), "Utc")


def from_unix(seconds: float) -> DateTime:
    """Local time of a Unix timestamp."""
    return DateTime(dt.datetime.fromtimestamp(seconds), "Local")


def _naive(numbers: list[int]) -> dt.datetime:
    year, month, day, hour, minute, second, milli = numbers[:7]
    return dt.datetime(year, month, day, hour, minute, second, milli * 1000)


def make_datetime(*parts: Any) -> DateTime:
    """``New-Object DateTime`` from ticks or from year, month, day [, hour, minute, second, ms]."""
    numbers = [int(to_number(part)) for part in parts]
    if len(numbers) == 1:
        micro = (numbers[0] - _EPOCH_TICKS) // 10
        return DateTime(dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micro))
    numbers += [0] * (7 - len(numbers))
    try:
        return DateTime(_naive(numbers))
    except ValueError as err:
        raise NetError(
            "System.ArgumentOutOfRangeException",
            "Year, Month, and Day parameters describe an un-representable DateTime.",
        ) from err


def to_datetime(value: Any) -> DateTime:
    """``[datetime]value``.

    Raises:
        NetError: FormatException.
    """
    if isinstance(value, DateTime):
        return value
    if isinstance(value, int):
        return make_datetime(value)
    text = str(value).strip()
    match = re.fullmatch(r"(.*T.*?)(Z|[+-]\d\d:\d\d)", text)
    if match:
        moment = dt.datetime.fromisoformat(
            re.sub(r"(\.\d{6})\d+", r"\1", text).replace("Z", "+00:00")
        )
        return DateTime(moment.astimezone().replace(tzinfo=None), "Local")
    for pattern in _INPUTS:
        try:
            parsed = dt.datetime.strptime(text, pattern)
        except ValueError:
            continue
        if parsed.year == 1900 and "%Y" not in pattern:
            today = dt.date.today()
            parsed = dt.datetime.combine(today, parsed.time())
        return DateTime(parsed)
    raise NetError("System.FormatException", "String was not recognized as a valid DateTime.")


def to_timespan(value: Any) -> TimeSpan:
    """``[timespan]value``: ``[-][d.]hh:mm[:ss[.f]]``, a whole number of days, or ticks."""
    if isinstance(value, TimeSpan):
        return value
    if isinstance(value, (int, float)):
        return TimeSpan(int(value))
    match = re.fullmatch(
        r"(-?)(?:(\d+)\.)?(\d+):(\d+)(?::(\d+)(?:\.(\d{1,7}))?)?", str(value).strip()
    )
    if match is None:
        if re.fullmatch(r"-?\d+", str(value).strip()):
            return TimeSpan(int(value) * 864_000_000_000)
        raise NetError("System.FormatException", "String was not recognized as a valid TimeSpan.")
    days, hours, minutes, seconds = (int(match.group(i) or 0) for i in (2, 3, 4, 5))
    ticks = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10_000_000
    ticks += int((match.group(6) or "0").ljust(7, "0"))
    return TimeSpan(-ticks if match.group(1) else ticks)


def make_timespan(*parts: Any) -> TimeSpan:
    """``New-Object TimeSpan``: ticks; h, m, s; or d, h, m, s [, ms]."""
    numbers = [int(to_number(part)) for part in parts]
    if len(numbers) == 1:
        return TimeSpan(numbers[0])
    if len(numbers) == 3:
        numbers = [0, *numbers]
    numbers += [0] * (5 - len(numbers))
    days, hours, minutes, seconds, milli = numbers
    return TimeSpan((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 10**7 + milli * 10**4)


class Stopwatch(NetObject):
    """System.Diagnostics.Stopwatch."""

    net_name = "System.Diagnostics.Stopwatch"

    def __init__(self) -> None:
        """Stopped at zero."""
        self._sum = 0.0
        self._since: float | None = None

    def Start(self) -> None:
        """Run."""
        if self._since is None:
            self._since = time.monotonic()

    def Stop(self) -> None:
        """Stop, keeping the time."""
        self._sum, self._since = self._now(), None

    def Reset(self) -> None:
        """Stop at zero."""
        self._sum, self._since = 0.0, None

    def Restart(self) -> None:
        """Run from zero."""
        self._sum, self._since = 0.0, time.monotonic()

    def _now(self) -> float:
        return self._sum + (time.monotonic() - self._since if self._since is not None else 0.0)

    @property
    def IsRunning(self) -> bool:
        """Whether it runs."""
        return self._since is not None

    @property
    def Elapsed(self) -> TimeSpan:
        """The time so far."""
        return TimeSpan.of_seconds(self._now())

    @property
    def ElapsedMilliseconds(self) -> int:
        """The time so far in milliseconds."""
        return int(self._now() * 1000)


def start_stopwatch() -> Stopwatch:
    """A running stopwatch."""
    watch = Stopwatch()
    watch.Start()
    return watch
