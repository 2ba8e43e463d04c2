"""Schedules: when they are due, as robfig/cron v3 has it; expected times were asked of it."""

import pytest

from muntin.controllers.rules.cron_schedule import parse
from muntin.kit.clock import parse_rfc3339, rfc3339
from muntin.kit.errors import Invalid

NEW_YORK, BERLIN, SAO_PAULO = "America/New_York", "Europe/Berlin", "America/Sao_Paulo"


@pytest.mark.parametrize(
    "text, zone, after, expected",
    [
        # the clock is put forward: a time that does not exist is left out
        ("30 2 * * *", NEW_YORK, "2024-03-09T12:00", ["2024-03-11T06:30", "2024-03-12T06:30"]),
        ("15 2 * * 0", BERLIN, "2024-03-30T12:00", ["2024-04-07T00:15", "2024-04-14T00:15"]),
        ("0 0 * * *", SAO_PAULO, "2018-11-03T12:00", ["2018-11-05T02:00", "2018-11-06T02:00"]),
        (
            "0 */4 * * *",
            NEW_YORK,
            "2024-03-10T03:00",
            ["2024-03-10T05:00", "2024-03-10T08:00", "2024-03-10T12:00"],
        ),
        # and back: a time that comes twice is due twice
        (
            "30 1 * * *",
            NEW_YORK,
            "2024-11-02T12:00",
            ["2024-11-03T05:30", "2024-11-03T06:30", "2024-11-04T06:30"],
        ),
        (
            "0 * * * *",
            NEW_YORK,
            "2024-11-03T04:30",
            ["2024-11-03T05:00", "2024-11-03T06:00", "2024-11-03T07:00"],
        ),
        (
            "*/15 1 * * *",
            "Australia/Lord_Howe",
            "2024-04-06T14:10",
            ["2024-04-06T14:15", "2024-04-06T14:30", "2024-04-06T14:45", "2024-04-06T15:00"],
        ),
        ("0 9 * * 1-5", "Asia/Kathmandu", "2024-06-07T12:00", ["2024-06-10T03:15"]),
        # a day of the month or of the week, unless one of them is open
        ("0 0 13 * 5", "", "2024-09-01T00:00", ["2024-09-06T00:00", "2024-09-13T00:00"]),
        ("0 0 */2 * 1", "", "2024-01-01T00:00", ["2024-01-03T00:00", "2024-01-05T00:00"]),
        ("0 0 */1 * 1", "", "2024-01-01T00:00", ["2024-01-08T00:00", "2024-01-15T00:00"]),
        ("0 0 ? * mon", "", "2024-01-01T00:00", ["2024-01-08T00:00", "2024-01-15T00:00"]),
        ("0 12 29 FEB *", "", "2024-03-01T00:00", ["2028-02-29T12:00"]),
        ("5-20/7,50 3 1 1 *", "", "2024-01-01T03:10", ["2024-01-01T03:12", "2024-01-01T03:19"]),
        ("@hourly", "", "2024-01-01T00:00", ["2024-01-01T01:00", "2024-01-01T02:00"]),
        ("@weekly", "", "2024-01-01T00:00", ["2024-01-07T00:00"]),
        ("@every 1h30m", "", "2024-01-01T00:00", ["2024-01-01T01:30", "2024-01-01T03:00"]),
        ("TZ=Europe/Berlin 0 7 * * *", "", "2024-01-01T12:00", ["2024-01-02T06:00"]),
    ],
)
def test_when_a_schedule_is_due(text, zone, after, expected):
    at, found = parse_rfc3339(f"{after}:00Z"), []
    for _ in expected:
        at = parse(text, zone).next(at)
        found.append(rfc3339(at))
    assert found == [f"{each}:00Z" for each in expected]


def test_some_are_never_due():
    assert parse("59 23 31 2 *").next(parse_rfc3339("2024-03-01T00:00:00Z")) is None


def test_a_day_that_a_calendar_leaves_out_holds_nothing_up():
    at = parse_rfc3339("2011-12-29T12:00:00Z")
    assert rfc3339(parse("0 5 * * *", "Pacific/Apia").next(at)) == "2011-12-29T15:00:00Z"
    assert parse("0 5 30 12 *", "Pacific/Apia").next(at) > at


def test_periods_are_whole_seconds():
    assert parse("@every 1500ms").next(10.9) == 11.0
    assert parse("@every 10ms").next(10.0) == 11.0


@pytest.mark.parametrize(
    "text", ["", "* * * *", "@sometimes", "60 * * * *", "TZ=Nowhere/At 0 0 * * *"]
)
def test_what_is_no_schedule_is_told(text):
    with pytest.raises(Invalid):
        parse(text)


@pytest.mark.parametrize("zone", ["UTC", NEW_YORK])
def test_nothing_is_due_after_the_last_year_of_calendars(zone):
    last = parse_rfc3339("9999-12-31T23:59:59Z")
    assert parse("* * * * *", zone).next(last) is None
    assert parse("0 0 1 1 *", zone).next(last - 86400 * 40) is None
