"""Fractions of a byte.

Source: kubernetes v1.36 pkg/api/pod/warnings.go, pkg/api/persistentvolumeclaim/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model import quantity

Object = Mapping[str, Any]


def of_bytes(amounts: Object | None, path: str, name: str) -> Iterator[str]:
    """The amount ``name``, if it is not a whole number of bytes."""
    value = (amounts or {}).get(name)
    if value is None or ("m" not in value and "." not in value and "e" not in value):
        return
    if quantity.milli(value) % 1000:
        shown = quantity.canonical(value)
        yield f'{path}[{name}]: fractional byte value "{shown}" is invalid, must be an integer'
