"""Timestamps without a clock."""

from muntin.model import times


def test_texts_and_seconds():
    assert times.text_of(1_700_000_000.9) == "2023-11-14T22:13:20Z"
    assert times.micro_text_of(1_700_000_000.25) == "2023-11-14T22:13:20.250000Z"
    assert times.seconds_of("2023-11-14T22:13:20Z") == 1_700_000_000.0
    assert times.seconds_of("2023-11-14T22:13:20.250000Z") == 1_700_000_000.25
    assert times.seconds_of(None) is None
