"""What the scheduler needs to know."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.model.gates import Version
from muntin.model.windows_releases import DEFAULT_KUBERNETES


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerConfig:
    """``name`` is the ``spec.schedulerName`` of the pods it takes care of. Delays in seconds.

    ``kubernetes`` is the version whose words it speaks in.
    """

    name: str = "default-scheduler"
    initial_backoff_s: float = 1.0
    max_backoff_s: float = 10.0
    unschedulable_limit_s: float = 300.0
    binders: int = 16
    kubernetes: Version = DEFAULT_KUBERNETES
