"""Which pods to delete first when there are too many.

Source: kubernetes v1.34 pkg/controller/controller_utils.go, ActivePodsWithRanks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.availability import ready_since
from muntin.kit import numbers
from muntin.model import pods, times

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def to_delete(
    candidates: Sequence[Object], count: int, related: Iterable[Object], now: float
) -> list[Object]:
    """The ``count`` pods that are missed least.

    ``related`` are all pods of the same purpose: a node that has many of them can spare one.
    """
    if count >= len(candidates):
        return list(candidates)
    crowd = Counter(pods.node_name(pod) for pod in related)
    return sorted(candidates, key=lambda pod: _worth(pod, crowd, now))[:count]


def _worth(pod: Object, crowd: Counter[str], now: float) -> tuple[object, ...]:
    node = pods.node_name(pod)
    ready = pods.is_ready(pod)
    return (
        bool(node),
        _PHASES.get(pods.phase(pod), 2),
        ready,
        _deletion_cost(pod),
        -crowd[node],
        _age_class(ready_since(pod) if ready else None, now),
        -_restarts(pod),
        _age_class(times.seconds_of(pod["metadata"].get("creationTimestamp")), now),
        pod["metadata"].get("uid", ""),
    )


def _age_class(since: float | None, now: float) -> int:
    """The power of two of an age: pods about as old as each other are equals."""
    if since is None:
        return 0
    return int(math.log2(max(now - since, 0.0) * 1e9 + 1))


def _deletion_cost(pod: Object) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    return numbers.int_or_none(text, -(2**31), numbers.INT32_MAX) or 0


def _restarts(pod: Object) -> int:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((int(status.get("restartCount", 0)) for status in statuses), default=0)
