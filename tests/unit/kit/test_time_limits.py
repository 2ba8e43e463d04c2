"""Times at and beyond the ends of what a timestamp can write."""

from __future__ import annotations

import math

import pytest

from muntin.kit import clock
from muntin.kit.errors import Invalid
from muntin.model import durations, times


@pytest.mark.parametrize("micros", [False, True])
@pytest.mark.parametrize("seconds", [2.0**63, 1e12, 1e300, math.inf])
def test_moments_after_year_9999_are_its_last_second(seconds: float, micros: bool) -> None:
    assert clock.rfc3339(seconds, micros=micros).startswith("9999-12-31T23:59:59")
    assert clock.rfc3339(-seconds, micros=micros).startswith("0001-01-01T00:00:00")
    assert clock.parse_rfc3339(clock.rfc3339(seconds)) == 253_402_300_799


@pytest.mark.parametrize(
    "text",
    ["", "x", "2024", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01T00:00:00+99:99",
     "2024-13-01T00:00:00Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "9" * 5_000,
     "2024-01-01T00:00:60Z", "\ud800"],
)  # fmt: skip
def test_what_is_no_time_raises_one_error(text: str) -> None:
    for parse in (clock.parse_rfc3339, durations.epoch_s):
        with pytest.raises(Invalid):
            parse(text)
    if text:
        with pytest.raises(Invalid):
            times.seconds_of(text)


@pytest.mark.parametrize(
    "text", ["9" * 400 + "s", "9" * 5_000 + "h", "2562048h", "²s", "1" * 30 + "ns"]
)
def test_durations_have_64_bits_of_nanoseconds(text: str) -> None:
    with pytest.raises(Invalid, match="duration"):
        durations.parse_duration(text)
    assert durations.parse_duration("2562047h47m16s") == 2562047 * 3600 + 47 * 60 + 16
