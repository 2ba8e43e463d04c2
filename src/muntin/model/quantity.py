"""Quantities of resources: ``100m`` CPU, ``64Mi`` memory, ``1e3``.

A quantity is kept exactly, in billionths (upstream's finest scale; finer input rounds up, away
from zero), with the format in which it was written. `canonical` gives the text upstream stores.
Source: apimachinery pkg/api/resource/quantity.go v1.34 (the grammar in its comment).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal, localcontext
from functools import lru_cache

from muntin.kit.errors import Invalid

_NANO = 10**9
_MAX = (2**63 - 1) * _NANO
_shape = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(.*)", re.S).fullmatch
_exponent = re.compile(r"[eE]([+-]?[0-9]+)").fullmatch

_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}

_MALFORMED = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """``nano`` billionths, written as ``decimal`` (1k), ``binary`` (1Ki) or ``exponent`` (1e3)."""

    nano: int
    format: str = "decimal"

    def __str__(self) -> str:
        """The canonical text."""
        return _text(self)

    @property
    def value(self) -> int:
        """Whole units, rounded up."""
        return -(-self.nano // _NANO)

    @property
    def milli(self) -> int:
        """Thousandths, rounded up."""
        return -(-self.nano // 1_000_000)


@lru_cache(maxsize=4096)
def parse(text: str) -> Quantity:
    """The quantity that ``text`` writes.

    Raises:
        Invalid: not a quantity.
    """
    match = _shape(text)
    if match is None:
        raise Invalid(_MALFORMED)
    sign, digits, suffix = match.groups()
    if suffix in _DECIMAL:
        form, scale = "decimal", Decimal(1000) ** _DECIMAL[suffix]
    elif suffix in _BINARY:
        form, scale = "binary", Decimal(1024) ** _BINARY[suffix]
    else:
        exponent = _exponent(suffix)
        if exponent is None or len(exponent[1]) > 4:
            raise Invalid("unable to parse quantity's suffix" if suffix.isalnum() else _MALFORMED)
        form, scale = "exponent", Decimal(10) ** int(exponent[1])
    with localcontext() as context:
        context.prec = len(digits) + 64
        exact = Decimal(digits) * scale * _NANO
        nano = min(int(exact.to_integral_value(rounding=ROUND_UP)), _MAX)
    return Quantity(-nano if sign == "-" else nano, form)


def _text(quantity: Quantity) -> str:
    nano, form = quantity.nano, quantity.format
    if nano == 0:
        return "0"
    if form == "binary" and (abs(nano) < 1024 * _NANO or nano % _NANO):
        form = "decimal"  # upstream: too small, or not whole, for a binary suffix
    if form == "binary":
        amount, power = nano // _NANO, 0
        while amount % 1024 == 0 and power < 6:
            amount, power = amount // 1024, power + 1
        return f"{amount}{_BINARY_SUFFIX.get(power, '')}"
    amount, power = nano, -3
    while amount % 1000 == 0 and power < 6:
        amount, power = amount // 1000, power + 1
    if form == "exponent":
        return f"{amount}e{3 * power}" if power else str(amount)
    return f"{amount}{_DECIMAL_SUFFIX[power]}"


def of(value: int | float | str) -> Quantity:
    """The quantity of a JSON value: numbers are taken as they are written."""
    return parse(value if isinstance(value, str) else format(Decimal(repr(value)), "f"))


def canonical(value: int | float | str) -> str:
    """The canonical text: no fraction, the largest suffix that loses nothing."""
    return str(of(value))


def value(text: int | float | str) -> int:
    """Whole units (bytes, pieces), rounded up."""
    return of(text).value


def milli(text: int | float | str) -> int:
    """Thousandths (milli-CPU), rounded up."""
    return of(text).milli


def compare(left: str, right: str) -> int:
    """-1, 0 or 1 as ``left`` is less than, equal to or more than ``right``."""
    a, b = parse(left).nano, parse(right).nano
    return (a > b) - (a < b)


def add(left: str, right: str) -> str:
    """The canonical sum; the format is that of ``left``, unless it is zero."""
    a, b = parse(left), parse(right)
    return str(Quantity(a.nano + b.nano, a.format if a.nano else b.format))


def subtract(left: str, right: str) -> str:
    """The canonical difference; the format is that of ``left``, unless it is zero."""
    a, b = parse(left), parse(right)
    return str(Quantity(a.nano - b.nano, a.format if a.nano else b.format))


def from_bytes(amount: int) -> str:
    """Canonical text of ``amount`` bytes with binary suffixes."""
    return str(Quantity(amount * _NANO, "binary"))
