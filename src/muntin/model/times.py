"""Kubernetes timestamps as seconds since the epoch, without a clock."""

from __future__ import annotations

from datetime import UTC, datetime

from muntin.kit.clock import time_text


def text_of(seconds: float) -> str:
    """A Time: ``2026-01-02T03:04:05Z``."""
    return time_text(datetime.fromtimestamp(seconds, UTC))


def micro_text_of(seconds: float) -> str:
    """A MicroTime: ``2026-01-02T03:04:05.000006Z``."""
    return time_text(datetime.fromtimestamp(seconds, UTC), micros=True)


def seconds_of(text: str | None) -> float | None:
    """The moment that a Time or MicroTime names; None for an absent one."""
    return datetime.fromisoformat(text).timestamp() if text else None
