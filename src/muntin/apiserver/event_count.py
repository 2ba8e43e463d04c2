"""A backend of the audit log that only counts."""

from __future__ import annotations

from muntin.apiserver.metrics import Metrics


class EventCount:
    """How many audit events there were."""

    def __init__(self, metrics: Metrics) -> None:
        self._count = metrics.audit_events

    def write(self, line: bytes) -> None:
        """Count one event."""
        self._count.add()

    async def run(self) -> None:
        """There is nothing to do in the background."""

    async def close(self) -> None:
        """There is nothing to deliver."""
