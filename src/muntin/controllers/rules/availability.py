"""Since when a workload's pods are ready, and whether that is long enough to be available."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.controllers.rules.actions import Action, Again, Object
from muntin.model import pods, times


def min_ready_s(owner: Object) -> int:
    """How long a pod of ``owner`` must be ready to count as available."""
    return int(owner["spec"].get("minReadySeconds") or 0)


def ready_since(pod: Object) -> float | None:
    """When the pod's Ready condition last changed."""
    condition = pods.condition(pod, "Ready")
    return times.seconds_of(condition.get("lastTransitionTime")) if condition else None


def is_available(owner: Object, pod: Object, now: float) -> bool:
    """Whether the pod is ready, and has been for long enough."""
    return pods.is_available(pod, min_ready_s(owner), now, ready_since(pod))


def look_again(owner: Object, owned: Iterable[Object], now: float) -> list[Action]:
    """When the next ready pod will have been ready for long enough."""
    needed_s = min_ready_s(owner)
    waits = [
        since + needed_s - now
        for pod in (owned if needed_s else ())
        if pods.is_ready(pod) and (since := ready_since(pod)) is not None
    ]
    pending = [wait for wait in waits if wait > 0]
    return [Again(min(pending))] if pending else []
