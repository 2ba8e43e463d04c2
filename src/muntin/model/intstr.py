"""IntOrString fields: counts such as ``3`` or shares such as ``25%`` of a total.

Source: apimachinery pkg/util/intstr (GetScaledValueFromIntOrPercent).
"""

from __future__ import annotations

import re

from muntin.kit.errors import Invalid

_percent = re.compile(r"([0-9]+)%").fullmatch


def is_percent(value: int | str) -> bool:
    """Whether ``value`` is a share such as ``25%``."""
    return isinstance(value, str) and _percent(value) is not None


def resolve(value: int | str, total: int, *, round_up: bool) -> int:
    """``value`` itself, or its share of ``total``, rounded as asked.

    Raises:
        Invalid: a string that is not a percentage.
    """
    if isinstance(value, int):
        return value
    match = _percent(value)
    if match is None:
        raise Invalid(
            f"invalid value for IntOrString: invalid type: string is not a percentage: {value!r}"
        )
    scaled = int(match[1]) * total
    return -(-scaled // 100) if round_up else scaled // 100
