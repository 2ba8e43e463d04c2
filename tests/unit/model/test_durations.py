"""Spans as kubectl writes them; pairs after duration_test.go of apimachinery."""

from __future__ import annotations

import pytest

from muntin.model import durations

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
