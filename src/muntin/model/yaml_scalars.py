"""What a scalar of YAML means that has no quotes and no tag: as servers of Kubernetes read it.

That is YAML 1.1 with the numbers of Go: ``yes`` and ``y`` are true, ``0o17`` and ``1_000`` are
numbers and ``3e0`` is one, a date is text. Source: go-yaml v2 resolve.go; sigs.k8s.io/yaml.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

Scalar = str | int | float | bool | None

_WORDS: dict[str, Scalar] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
for _value, _names in ((True, "y yes true on"), (False, "n no false off")):
    for _name in _names.split():
        _WORDS |= dict.fromkeys((_name, _name.capitalize(), _name.upper()), _value)
_WORDS |= dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)
for _sign, _infinity in (("", math.inf), ("+", math.inf), ("-", -math.inf)):
    _WORDS |= dict.fromkeys((f"{_sign}.inf", f"{_sign}.Inf", f"{_sign}.INF"), _infinity)
_DATE = re.compile(
    r"\d{4}-\d\d?-\d\d?([Tt]\d\d?:\d\d?:\d\d?(\.\d+)?(Z|[-+]\d\d:\d\d)"
    r"| \d\d?:\d\d?:\d\d?(\.\d+)?)?\Z",
    re.ASCII,
)
_INTEGER = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))\Z"
)
_LONGEST = 80  # characters of a whole number with 64 bits, in binary and with some zeros
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")


def read(text: str) -> Scalar:
    """The value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        return _float(text) if _FLOAT.match(text) else text
    if first not in "0123456789+-" or _DATE.match(text):
        return text
    plain = text.replace("_", "")
    if len(plain) <= _LONGEST and (match := _INTEGER.match(plain)) is not None:
        found = _integer(match)
        if -(2**63) <= found < 2**64:
            return found
    return _float(plain, text) if _FLOAT.match(plain) else text


def _integer(match: re.Match[str]) -> int:
    for group, base in ((2, 16), (3, 2), (4, 8), (5, 10)):
        if match[group] is not None:
            found = int(match[group], base)
            return -found if match[1] == "-" else found
    raise AssertionError(match)


def _float(plain: str, text: str = "") -> Scalar:
    found = float(plain)
    return (text or plain) if math.isinf(found) else found  # too large a number is none


def key(value: object) -> str:
    """A map's key as JSON has it: ``on`` is true, ``1e3`` is 1000."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _shortest(value)
    return str(value)


def _shortest(value: float) -> str:
    """As Go writes it in the fewest digits that say it."""
    if math.isnan(value) or math.isinf(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    number = Decimal(repr(value)).normalize()
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) + exponent - 1
    if -4 <= power < 6:
        return format(number, "f")
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' if sign else ''}{first}{'.' if rest else ''}{rest}e{power:+03d}"
