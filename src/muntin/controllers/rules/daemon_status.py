"""The status of a DaemonSet.

Source: kubernetes v1.36 pkg/controller/daemon/daemon_controller.go (updateDaemonSetStatus).
"""

from __future__ import annotations

from collections import Counter

from muntin.controllers.rules.actions import Action, Object, Update
from muntin.controllers.rules.availability import look_again
from muntin.controllers.rules.daemon_fleet import Fleet, oldest_first
from muntin.model import pods
from muntin.model.resources import DAEMON_SETS


def status_actions(fleet: Fleet) -> list[Action]:
    """Write the status if it is another; look again when the next pod becomes available."""
    counts: Counter[str] = Counter()
    running: list[Object] = []
    for place in fleet.places:
        if not place.should_run:
            counts["misscheduled"] += bool(place.pods)
            continue
        counts["desired"] += 1
        if not place.pods:
            continue
        pod = oldest_first(place.pods)[0]
        counts["current"] += 1
        counts["ready"] += pods.is_ready(pod)
        counts["available"] += fleet.is_available(pod)
        counts["updated"] += fleet.is_new(pod)
        running += place.pods
    daemon_set = fleet.daemon_set
    status = _status(daemon_set, counts)
    actions: list[Action] = []
    if status != (daemon_set.get("status") or {}):
        obj = {**daemon_set, "status": status}
        actions.append(Update(resource=DAEMON_SETS, obj=obj, subresource="status"))
    return [*actions, *look_again(daemon_set, running, fleet.now)]


def _status(daemon_set: Object, counts: Counter[str]) -> Object:
    have = daemon_set.get("status") or {}
    status: Object = {
        "currentNumberScheduled": counts["current"],
        "numberMisscheduled": counts["misscheduled"],
        "desiredNumberScheduled": counts["desired"],
        "numberReady": counts["ready"],
    }
    optional = {
        "updatedNumberScheduled": counts["updated"],
        "numberAvailable": counts["available"],
        "numberUnavailable": counts["desired"] - counts["available"],
    }
    status.update({name: value for name, value in optional.items() if value})
    if "generation" in daemon_set["metadata"]:
        status["observedGeneration"] = daemon_set["metadata"]["generation"]
    for kept in ("collisionCount", "conditions"):
        if have.get(kept) is not None:
            status[kept] = have[kept]
    return status
