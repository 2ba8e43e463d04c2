"""Taints of nodes and the tolerations of pods.

Source: kubernetes v1.34 component-helpers/scheduling/corev1/helpers.go, pkg/apis/core/types.go
(Toleration), staging/src/k8s.io/api/core/v1/well_known_taints.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Taint = Mapping[str, Any]
Toleration = Mapping[str, Any]

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint; an empty key or effect covers all of them."""
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint.get("effect"):
        return False
    if key and key != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists":
        return True
    if operator != "Equal" or not key:
        return False
    return (toleration.get("value") or "") == (taint.get("value") or "")


def tolerated(taint: Taint, tolerations: Iterable[Toleration] | None) -> bool:
    """Whether any toleration covers ``taint``."""
    return any(tolerates(toleration, taint) for toleration in tolerations or ())


def first_untolerated(
    taints: Iterable[Taint] | None,
    tolerations: Iterable[Toleration] | None,
    effects: Iterable[str] = (NO_SCHEDULE, NO_EXECUTE),
) -> Taint | None:
    """The first taint of these effects that nothing covers: why a pod may not be there."""
    have, wanted = tuple(tolerations or ()), frozenset(effects)
    for taint in taints or ():
        if taint.get("effect") in wanted and not tolerated(taint, have):
            return taint
    return None


def toleration_seconds(
    taints: Iterable[Taint] | None, tolerations: Iterable[Toleration] | None
) -> float | None:
    """How long the pod may stay under the NoExecute ``taints``: 0 not at all, None for ever."""
    have = tuple(tolerations or ())
    shortest: float | None = None
    for taint in taints or ():
        if taint.get("effect") != NO_EXECUTE:
            continue
        covering = [toleration for toleration in have if tolerates(toleration, taint)]
        if not covering:
            return 0
        for toleration in covering:
            seconds = toleration.get("tolerationSeconds")
            if seconds is not None:
                limit = max(float(seconds), 0.0)
                shortest = limit if shortest is None else min(shortest, limit)
    return shortest


def same_taint(left: Taint, right: Taint) -> bool:
    """Whether two taints are one by key and effect, whatever their values."""
    return left.get("key") == right.get("key") and left.get("effect") == right.get("effect")
