"""Static members of DateTime, TimeSpan and Stopwatch."""

from __future__ import annotations

from typing import Any

from . import datetimes
from . import values as v


class DateTimes:
    """Statics of DateTime."""

    MinValue = datetimes.make_datetime(1, 1, 1)
    MaxValue = datetimes.make_datetime(9999, 12, 31, 23, 59, 59, 999)

    @staticmethod
    def get_Now() -> datetimes.DateTime:
        return datetimes.now()

    @staticmethod
    def get_UtcNow() -> datetimes.DateTime:
        return datetimes.utc_now()

    @staticmethod
    def get_Today() -> datetimes.DateTime:
        return datetimes.now().Date

    @staticmethod
    def Parse(text: Any, *_: Any) -> datetimes.DateTime:
        return datetimes.to_datetime(v.to_text(text))

    @staticmethod
    def DaysInMonth(year: Any, month: Any) -> int:
        import calendar

        return calendar.monthrange(v.to_int(year), v.to_int(month))[1]

    @staticmethod
    def IsLeapYear(year: Any) -> bool:
        import calendar

        return calendar.isleap(v.to_int(year))


class TimeSpans:
    """Statics of TimeSpan."""

    Zero = datetimes.TimeSpan(0)

    @staticmethod
    def FromSeconds(value: Any) -> datetimes.TimeSpan:
        return datetimes.TimeSpan.of_seconds(v.to_number(value))

    @staticmethod
    def FromMilliseconds(value: Any) -> datetimes.TimeSpan:
        return datetimes.TimeSpan.of_seconds(v.to_number(value) / 1000)

    @staticmethod
    def FromMinutes(value: Any) -> datetimes.TimeSpan:
        return datetimes.TimeSpan.of_seconds(v.to_number(value) * 60)

    @staticmethod
    def FromHours(value: Any) -> datetimes.TimeSpan:
        return datetimes.TimeSpan.of_seconds(v.to_number(value) * 3600)

    @staticmethod
    def FromDays(value: Any) -> datetimes.TimeSpan:
        return datetimes.TimeSpan.of_seconds(v.to_number(value) * 86400)

    @staticmethod
    def Parse(text: Any) -> datetimes.TimeSpan:
        return datetimes.to_timespan(v.to_text(text))


class Stopwatches:
    """Statics of Stopwatch."""

    @staticmethod
    def StartNew() -> datetimes.Stopwatch:
        return datetimes.start_stopwatch()
