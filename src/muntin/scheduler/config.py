"""What the scheduler needs to know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerConfig:
    """``name`` is the ``spec.schedulerName`` of the pods it takes care of. Delays in seconds."""

    name: str = "default-scheduler"
    initial_backoff_s: float = 1.0
    max_backoff_s: float = 10.0
    unschedulable_limit_s: float = 300.0
    binders: int = 16
