"""Replacing the pods of a DaemonSet's older template, node by node.

Without surge an old pod goes first, and placement makes the new one; with surge the new pod comes
first, and the old one goes when that is available.
Source: kubernetes v1.36 pkg/controller/daemon/update.go (rollingUpdate).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.daemon_fleet import Fleet, Place


@dataclass(frozen=True, slots=True)
class Change:
    """Pods to delete, and nodes that get one more."""

    doomed: list[Object] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)


def next_change(fleet: Fleet) -> Change:
    """What an update may do now."""
    strategy = (fleet.daemon_set["spec"].get("updateStrategy") or {}).get("type")
    if (strategy or "RollingUpdate") != "RollingUpdate":
        return Change()
    return _surging(fleet) if fleet.max_surge else _deleting(fleet)


def _pair(fleet: Fleet, place: Place) -> tuple[Object | None, Object | None] | None:
    """The new and the old pod of a node; None where there are two of a kind."""
    new = [pod for pod in place.alive if fleet.is_new(pod)]
    old = [pod for pod in place.alive if not fleet.is_new(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return (new[0] if new else None), (old[0] if old else None)


def _counts(place: Place) -> bool:
    return place.should_run or bool(place.pods)


def _deleting(fleet: Fleet) -> Change:
    unavailable = 0
    free: list[Object] = []  # old and not available: replacing it costs nothing
    candidates: list[Object] = []
    for place in filter(_counts, fleet):
        pair = _pair(fleet, place)
        if pair is None or (pair[0] is None) == (pair[1] is None):
            unavailable += 1  # placement is still at work there
            continue
        new, old = pair
        if new is not None:
            unavailable += not fleet.is_available(new)
        elif old is not None and not fleet.is_available(old):
            free.append(old)
            unavailable += 1
        elif old is not None:
            candidates.append(old)
    spare = max(fleet.max_unavailable - unavailable, 0)
    return Change(doomed=[*free, *candidates[:spare]])


def _surging(fleet: Fleet) -> Change:
    doomed: list[Object] = []
    misplaced: list[Object] = []  # where no pod should run any longer
    free: list[str] = []  # the old pod is not available: the new one is no surge
    candidates: list[str] = []
    surge = available = 0
    for place in fleet:
        pair = _pair(fleet, place)
        if pair is None:
            surge += 1
            continue
        new, old = pair
        standing = old if old is not None else new
        available += standing is not None and fleet.is_available(standing)
        if old is None:
            continue
        if new is not None:
            if fleet.is_available(new):
                doomed.append(old)
            else:
                surge += 1
        elif not place.should_run:
            (misplaced if fleet.is_available(old) else doomed).append(old)
        else:
            (candidates if fleet.is_available(old) else free).append(place.name)
    doomed += misplaced[: max(available - fleet.wanted, 0)]
    return Change(doomed, [*free, *candidates[: max(fleet.max_surge - surge, 0)]])
