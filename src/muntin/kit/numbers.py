"""Parses untrusted integers: ASCII digits within a range, otherwise a single error type.

`str.isdigit` is true for ``²``, which `int` refuses; `int` takes ``1_0``, spaces and digits of
other scripts, and raises ValueError for more than 4,300 digits. So no other module calls
`str.isdigit` or its like.
"""

from __future__ import annotations

import json

from muntin.kit.errors import Invalid

INT32_MAX = 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_LONGEST = 20  # digits of 2**64
_TOO_LARGE = 10**_LONGEST
_SHOWN = 100


def is_digits(text: str) -> bool:
    """Whether ``text`` is one or more of the digits 0 to 9."""
    return text.isascii() and text.isdigit()


def int_or_none(text: object, least: int = 0, most: int = INT64_MAX) -> int | None:
    """The number that ``text`` writes in digits, with a minus if ``least`` is negative.

    None for everything else, and for a number that is not between ``least`` and ``most``. These
    lie within 64 bits.
    """
    if not isinstance(text, str):
        return None
    number = _signed(text) if least < 0 else _unsigned(text)
    return number if number is not None and least <= number <= most else None


def parse_int(text: str, bits: int = 64) -> int:
    """A signed number as Go's ``strconv.ParseInt`` reads it.

    Raises:
        Invalid: in Go's words.
    """
    number = _signed(text.removeprefix("+") if text[1:2] != "-" else text)
    if number is None:
        raise wrong("ParseInt", text, "invalid syntax")
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise wrong("ParseInt", text, "value out of range")
    return number


def parse_uint(text: str, bits: int = 64) -> int:
    """A number as Go's ``strconv.ParseUint`` reads it.

    Raises:
        Invalid: in Go's words.
    """
    number = _unsigned(text)
    if number is None:
        raise wrong("ParseUint", text, "invalid syntax")
    if number >= 2**bits:
        raise wrong("ParseUint", text, "value out of range")
    return number


def wrong(function: str, text: str, why: str) -> Invalid:
    """Go's error for a text that ``function`` cannot read; very long texts are cut."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    quoted = json.dumps(shown, ensure_ascii=False)
    return Invalid(f"strconv.{function}: parsing {quoted}: {why}")


def _signed(text: str) -> int | None:
    if not text.startswith("-"):
        return _unsigned(text)
    number = _unsigned(text[1:])
    return None if number is None else -number


def _unsigned(text: str) -> int | None:
    """The number; one too large for 64 bits is `_TOO_LARGE`, however long its text is."""
    if not is_digits(text):
        return None
    digits = text.lstrip("0")
    return int(digits or "0") if len(digits) <= _LONGEST else _TOO_LARGE
