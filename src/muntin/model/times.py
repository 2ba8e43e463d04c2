"""Kubernetes timestamps as seconds since the epoch, without a clock."""

from __future__ import annotations

from datetime import UTC, datetime


def text_of(seconds: float) -> str:
    """A Time: ``2026-01-02T03:04:05Z``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_text_of(seconds: float) -> str:
    """A MicroTime: ``2026-01-02T03:04:05.000006Z``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_of(text: str | None) -> float | None:
    """The moment that a Time or MicroTime names; None for an absent one."""
    return datetime.fromisoformat(text).timestamp() if text else None
