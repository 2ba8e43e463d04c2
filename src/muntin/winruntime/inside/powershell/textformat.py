"""Composite formatting (``-f``), number formats and wildcard patterns."""

from __future__ import annotations

import re
from typing import Any

from .errors import NetError
from .values import Char, float_text, to_text

_ITEM = re.compile(r"\{\{|\}\}|\{(\d+)(?:,(-?\d+))?(?::((?:[^{}]|\{\{|\}\})*))?\}|[{}]")
_BAD = "Input string was not in a correct format."
_BAD_INDEX = (
    "Index (zero based) must be greater than or equal to zero and less than the size of the "
    "argument list."
)


def composite(template: str, args: list[Any]) -> str:
    """``template -f args``.

    Raises:
        NetError: FormatException, as .NET words it.
    """

    def one(match: re.Match[str]) -> str:
        text = match.group()
        if text in ("{{", "}}"):
            return text[0]
        if match.group(1) is None:
            raise NetError("System.FormatException", _BAD)
        index = int(match.group(1))
        if index >= len(args):
            raise NetError("System.FormatException", _BAD_INDEX)
        shown = format_value(args[index], match.group(3) or "")
        width = int(match.group(2) or 0)
        return shown.rjust(width) if width >= 0 else shown.ljust(-width)

    return _ITEM.sub(one, template)


def format_value(value: Any, pattern: str) -> str:
    """``value.ToString(pattern)``."""
    if not pattern:
        return to_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return format_number(value, pattern)
    if isinstance(value, Char) or not hasattr(value, "format"):
        return to_text(value)
    return str(value.format(pattern)) if not isinstance(value, str) else str(value)


def format_number(value: int | float, pattern: str) -> str:
    """A standard (``N2 D4 X8 F1 P0 E3 G C``) or custom (``#,##0.00``) numeric format."""
    match = re.fullmatch(r"([A-Za-z])(\d*)", pattern)
    if match is None:
        return _custom_number(value, pattern)
    kind, digits = match.group(1), match.group(2)
    places = int(digits) if digits else 2
    upper = kind.upper()
    if upper == "N":
        return f"{_half_up(value, places):,.{places}f}"
    if upper == "F":
        return f"{_half_up(value, places):.{places}f}"
    if upper == "C":
        text = f"${_half_up(abs(value), places):,.{places}f}"
        return f"({text})" if value < 0 else text
    if upper == "P":
        return f"{_half_up(value * 100, places):,.{places}f} %"
    if upper == "E":
        mantissa, exponent = f"{value:.{int(digits) if digits else 6}e}".split("e")
        return f"{mantissa}{kind}{exponent[0]}{int(exponent[1:]):03d}"
    if upper in "GR":
        return to_text(value) if not digits else float_text(float(f"{value:.{max(places, 1)}g}"))
    if isinstance(value, int) and upper == "D":
        return ("-" if value < 0 else "") + str(abs(value)).rjust(int(digits or 0), "0")
    if isinstance(value, int) and upper == "X":
        bits = 32 if -(1 << 31) <= value < 1 << 31 else 64
        text = f"{value & ((1 << bits) - 1):x}".rjust(int(digits or 0), "0")
        return text if kind == "x" else text.upper()
    raise NetError("System.FormatException", "Format specifier was invalid.")


def _half_up(value: int | float, places: int) -> float:
    """Round half away from zero on the 15 digits that .NET Framework looks at."""
    if isinstance(value, int):
        return value
    from decimal import ROUND_HALF_UP, Decimal

    return float(
        Decimal(f"{value:.15g}").quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    )


def _custom_number(value: int | float, pattern: str) -> str:
    sections = pattern.split(";")
    if value < 0 and len(sections) > 1:
        return _custom_number(-value, sections[1])
    if value == 0 and len(sections) > 2:
        return _custom_number(value, sections[2]) if re.search("[0#]", sections[2]) else sections[2]
    pattern = sections[0]
    match = re.search(r"[0#][0#,.]*", pattern)
    if match is None:
        return pattern
    body = match.group()
    if "%" in pattern:
        value = value * 100
    whole, _, fraction = body.partition(".")
    text = f"{_half_up(abs(value), len(fraction)):.{len(fraction)}f}"
    integer, _, decimals = text.partition(".")
    while len(decimals) > fraction.rfind("0") + 1 and decimals.endswith("0"):
        decimals = decimals[:-1]
    minimum = whole.count("0")
    integer = integer.lstrip("0").rjust(minimum, "0")
    if "," in whole:
        integer = re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", integer)
    sign = "-" if value < 0 else ""
    number = sign + integer + (f".{decimals}" if decimals else "")
    return (
        pattern[: match.start()].replace('"', "").replace("'", "")
        + number
        + pattern[match.end() :].replace('"', "").replace("'", "")
    )


def wildcard(pattern: str, *, cased: bool = False) -> re.Pattern[str]:
    """A ``-like`` pattern as a regular expression over the whole text."""
    parts: list[str] = []
    index = 0
    while index < len(pattern):
        char = pattern[index]
        close = pattern.find("]", index + 1)
        if char == "`" and index + 1 < len(pattern):
            index += 1
            parts.append(re.escape(pattern[index]))
        elif char == "[" and close > index + 1:
            parts.append("[" + re.sub(r"([\\^])", r"\\\1", pattern[index + 1 : close]) + "]")
            index = close
        else:
            parts.append({"*": ".*", "?": "."}.get(char, re.escape(char)))
        index += 1
    return re.compile("".join(parts) + r"\Z", re.DOTALL | (0 if cased else re.IGNORECASE))


def regex(pattern: str, *, cased: bool = False) -> re.Pattern[str]:
    """A .NET regular expression as Python's.

    Raises:
        NetError: ArgumentException, where the pattern is not valid.
    """
    translated = re.sub(r"\(\?<([A-Za-z_]\w*)>", r"(?P<\1>", pattern)
    translated = re.sub(r"\\k<(\w+)>", r"(?P=\1)", translated).replace(r"\z", r"\Z")
    try:
        return re.compile(translated, 0 if cased else re.IGNORECASE)
    except re.error as err:
        raise NetError("System.ArgumentException", f'parsing "{pattern}" - {err}.') from err


def substitution(replacement: str) -> str:
    """A .NET replacement text (``$1 ${name} $$``) as Python's."""
    escaped = replacement.replace("\\", "\\\\")

    def one(match: re.Match[str]) -> str:
        inside = match.group(1)
        if inside == "$":
            return "$"
        return r"\g<0>" if inside == "&" else rf"\g<{inside.strip('{}')}>"

    return re.sub(r"\$(\d+|\{\w+\}|\$|&)", one, escaped)
