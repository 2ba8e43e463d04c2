"""IntOrString fields: counts such as ``3`` or shares such as ``25%`` of a total.

Source: apimachinery pkg/util/intstr (GetScaledValueFromIntOrPercent).
"""

from __future__ import annotations

import re

from muntin.kit import numbers
from muntin.kit.errors import Invalid

_percent = re.compile(r"([0-9]+)%").fullmatch


def is_percent(value: int | str) -> bool:
    """Whether ``value`` has the form of a share such as ``25%``."""
    return isinstance(value, str) and _percent(value) is not None


def percent(value: int | str) -> int | None:
    """The number of a share such as ``25%``; None for other values, and above 64 bits."""
    return numbers.int_or_none(value[:-1]) if isinstance(value, str) and value[-1:] == "%" else None


def resolve(value: int | str, total: int, *, round_up: bool) -> int:
    """``value`` itself, or its share of ``total``, rounded as asked.

    Raises:
        Invalid: a string that is not a percentage.
    """
    if isinstance(value, int):
        return value
    share = percent(value)
    if share is None:
        raise Invalid(
            f"invalid value for IntOrString: invalid type: string is not a percentage: {value!r}"
        )
    scaled = share * total
    return -(-scaled // 100) if round_up else scaled // 100
