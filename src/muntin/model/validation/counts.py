"""Validation of counts that may be shares, and of counters in a status.

Source: kubernetes v1.34 pkg/apis/apps/validation/validation.go (ValidatePositiveIntOrPercent,
IsNotMoreThan100Percent); pkg/apis/core/validation (IsDecremented).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.model import intstr, names
from muntin.model.validation.findings import Findings, Object

_ABOVE = "cannot be greater than status.replicas"


def share(value: Any, path: str, found: Findings) -> None:
    """A count, or a percentage."""
    if isinstance(value, str):
        if not intstr.is_percent(value):
            found.invalid(path, value, names.PERCENT_MESSAGE)
    else:
        found.not_negative(path, value)


def at_most_all(value: Any, path: str, found: Findings) -> None:
    """A percentage of no more than all."""
    if (intstr.percent(value) or 0) > 100:
        found.invalid(path, value, "must not be greater than 100%")


def is_zero(value: Any) -> bool:
    """Nothing, as a count, as a share, or because it is no number at all."""
    if isinstance(value, str):
        return not intstr.is_percent(value) or intstr.percent(value) == 0
    return not value


def not_negative(holder: Object, path: str, found: Findings, *fields: str) -> None:
    """Numbers that are not below zero where they are given."""
    for field in fields:
        value = holder.get(field)
        if value is not None and value < 0:
            found.not_negative(f"{path}.{field}", value)


def at_most_replicas(status: Object, found: Findings, fields: Iterable[str], ready: str) -> None:
    """Parts of the replicas; what is available is ready, too: ``ready`` says it in words."""
    total = status.get("replicas") or 0
    for field in fields:
        value = status.get(field) or 0
        if value > total:
            found.invalid(f"status.{field}", value, _ABOVE)
    available = status.get("availableReplicas") or 0
    if available > (status.get("readyReplicas") or 0):
        found.invalid("status.availableReplicas", available, f"cannot be greater than {ready}")


def not_decremented(new: Object, old: Object, found: Findings) -> None:
    """The count of collisions only grows."""
    now, was = ((obj.get("status") or {}).get("collisionCount") for obj in (new, old))
    if was is not None and (now is None or now < was):
        found.invalid("status.collisionCount", now or 0, "cannot be decremented")
