"""Kubernetes timestamps as seconds since the epoch, without a clock."""

from __future__ import annotations

from muntin.kit.timestamps import parse_rfc3339, rfc3339


def text_of(seconds: float) -> str:
    """A Time: ``2026-01-02T03:04:05Z``."""
    return rfc3339(seconds)


def micro_text_of(seconds: float) -> str:
    """A MicroTime: ``2026-01-02T03:04:05.000006Z``."""
    return rfc3339(seconds, micros=True)


def seconds_of(text: str | None) -> float | None:
    """The moment that a Time or MicroTime names; None for an absent one."""
    return parse_rfc3339(text) if text else None
