"""What the scheduler needs to know."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.model.gates import Version
from muntin.model.windows_releases import DEFAULT_KUBERNETES
from muntin.scheduler.extender_config import ExtenderConfig
from muntin.scheduler.plan_registry import DEFAULT_PROFILE, Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerConfig:
    """Pods are taken care of whose ``spec.schedulerName`` a profile has. Delays in seconds.

    ``kubernetes`` is the version whose words it speaks in.
    """

    profiles: tuple[Profile, ...] = (DEFAULT_PROFILE,)
    extenders: tuple[ExtenderConfig, ...] = ()
    initial_backoff_s: float = 1.0
    max_backoff_s: float = 10.0
    unschedulable_limit_s: float = 300.0
    binders: int = 16
    kubernetes: Version = DEFAULT_KUBERNETES
