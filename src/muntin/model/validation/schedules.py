"""Validation of schedules of cron jobs and of their time zones.

The grammar is that of robfig/cron v3 ParseStandard, which upstream uses, with its messages: five
fields, names of months and days, Sunday is 0 and never 7, no ``L`` or ``#``.
"""

from __future__ import annotations

import re
import zoneinfo
from functools import lru_cache

from muntin.kit import numbers
from muntin.kit.errors import Invalid
from muntin.model import durations
from muntin.model.validation.findings import Findings

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
# Lowest and highest value of each field, and the names of values.
FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: index + 1 for index, name in enumerate(_MONTHS)}),
    (0, 6, {name: index for index, name in enumerate(_DAYS)}),
)
_MACROS = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
_EVERY = "@every "
_ZONE_PARTS = 4  # names of the database have up to three
_zone_part = re.compile(r"[A-Za-z.\-_0-9+]{1,14}").fullmatch


@lru_cache(maxsize=256)
def schedule_problem(text: str) -> str:
    """What is wrong with ``text`` as a schedule; empty if nothing."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        head, _, text = text.partition(" ")
        zone = head.partition("=")[2]
        if time_zone_problem(zone):
            return f"provided bad location {zone}: {time_zone_problem(zone)}"
        text = text.strip()
    if text.startswith("@"):
        return _macro_problem(text)
    fields = text.split()
    if len(fields) != len(FIELDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for field, (low, high, names) in zip(fields, FIELDS, strict=True):
        for part in field.split(","):
            problem = _part_problem(part, low, high, names)
            if problem:
                return problem
    return ""


def _macro_problem(text: str) -> str:
    if text in _MACROS:
        return ""
    if not text.startswith(_EVERY):
        return f"unrecognized descriptor: {text}"
    try:
        durations.parse_duration(text.removeprefix(_EVERY))
    except Invalid:
        length = text.removeprefix(_EVERY)
        return f'failed to parse duration {text}: time: invalid duration "{length}"'
    return ""


def _part_problem(part: str, low: int, high: int, names: dict[str, int]) -> str:
    span, slash, step = part.partition("/")
    if step.count("/"):
        return f"too many slashes: {part}"
    first, dash, last = span.partition("-")
    if last.count("-"):
        return f"too many hyphens: {part}"
    start, end = low, high
    if first not in ("*", "?"):
        start, problem = _number(first, names)
        end = start if not slash else high
        if not problem and dash:
            end, problem = _number(last, names)
        if problem:
            return problem
    if slash:
        width, problem = _number(step, {})
        if problem:
            return problem
        if width == 0:
            return f"step of range should be a positive number: {part}"
    if start < low:
        return f"beginning of range ({start}) below minimum ({low}): {part}"
    if end > high:
        return f"end of range ({end}) above maximum ({high}): {part}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {part}"
    return ""


def _number(text: str, names: dict[str, int]) -> tuple[int, str]:
    named = names.get(text.lower())
    if named is not None:
        return named, ""
    try:
        number = numbers.parse_int(text)
    except Invalid:
        why = "value out of range" if numbers.is_digits(text) else "invalid syntax"
        return 0, f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": {why}'
    return number, f"negative number ({text}) not allowed: {text}" if number < 0 else ""


@lru_cache(maxsize=256)
def time_zone_problem(zone: str) -> str:
    """What is wrong with ``zone`` as a name of the IANA database; empty if nothing."""
    unknown = f"unknown time zone {zone}"
    parts = zone.split("/")
    if len(parts) > _ZONE_PARTS:  # `zoneinfo` looks for each as a package within the one before
        return unknown
    for part in parts:
        if part in (".", "..") or part.startswith("-") or not _zone_part(part):
            return unknown
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return unknown
    return ""


def schedule(text: str, zone: str | None, before: str, path: str, found: Findings) -> None:
    """When a cron job runs; ``before`` is the schedule that is replaced."""
    problem = schedule_problem(text)
    if problem:
        found.invalid(path, text, problem)
    if "TZ" not in text:
        return
    if "TZ" not in before:
        found.invalid(
            path, text, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        )
    elif zone is not None:
        found.invalid(path, text, "cannot use both timeZone field and TZ or CRON_TZ in schedule")


def time_zone(zone: str | None, path: str, found: Findings) -> None:
    """In which time zone a schedule is read."""
    if zone is None:
        return
    if not zone:
        found.invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    if zone.lower() == "local":
        found.invalid(
            path,
            zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        )
    problem = time_zone_problem(zone)
    if problem:
        found.invalid(path, zone, problem)
