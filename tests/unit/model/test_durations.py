"""Spans as kubectl writes them; pairs after duration_test.go of apimachinery."""

from __future__ import annotations

import re

import pytest

from muntin.kit.errors import Invalid
from muntin.model import durations
from muntin.model.durations import parse_duration

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (1, "1s"),
        (70, "70s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (9 * MINUTE + 59, "9m59s"),
        (10 * MINUTE + 1, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (5 * HOUR + 40 * MINUTE, "5h40m"),
        (8 * HOUR + 30 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (7 * DAY + 5 * HOUR, "7d5h"),
        (8 * DAY + 5 * HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 8 * DAY, "2y8d"),
        (8 * YEAR + 8 * DAY, "8y"),
    ],
)
def test_human(seconds: float, text: str) -> None:
    assert durations.human(seconds) == text


def test_since() -> None:
    now = durations.epoch_s("2024-05-01T12:00:00Z")
    assert durations.since("2024-05-01T11:59:30Z", now) == "30s"
    assert durations.since(None, now) == "<unknown>"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("30s", 30), ("1m30s", 90), ("300ms", 0.3), ("-1.5h", -5400), ("2h0m0.5s", 7200.5)],
)
def test_durations_as_go_writes_them(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("soon", 'time: invalid duration "soon"'),
        ("30", 'time: missing unit in duration "30"'),
        ("3x", 'time: unknown unit "x" in duration "3x"'),
    ],
)
def test_what_is_no_duration(text, message):
    with pytest.raises(Invalid, match=re.escape(message)):
        parse_duration(text)
