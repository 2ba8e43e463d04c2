"""The status of a StatefulSet.

Source: kubernetes v1.36 pkg/controller/statefulset/{stateful_set_control,stateful_set_utils}.go
(updateStatus, completeRollingUpdate, inconsistentStatus).
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.controllers.rules.actions import Action, Object, Update
from muntin.controllers.rules.replicaset import wanted_replicas
from muntin.controllers.rules.stateful_identity import revision_of
from muntin.controllers.rules.stateful_pods import Work
from muntin.model import pods
from muntin.model.features import ApiFeature
from muntin.model.resources import STATEFUL_SETS

_COMPARED = (
    "replicas",
    "readyReplicas",
    "availableReplicas",
    "currentReplicas",
    "updatedReplicas",
    "currentRevision",
    "updateRevision",
)


def status_action(work: Work, owned: Sequence[Object], updated: int) -> list[Action]:
    """Write the status if it is another; ``updated`` pods are about to go for an update."""
    have = work.stateful_set.get("status") or {}
    status = _status(work, owned, updated)
    same = all((have.get(name) or 0) == (status.get(name) or 0) for name in _COMPARED)
    observed = status.get("observedGeneration", 0) <= have.get("observedGeneration", 0)
    if same and observed:
        return []
    obj = {**work.stateful_set, "status": status}
    return [Update(resource=STATEFUL_SETS, obj=obj, subresource="status")]


def _status(work: Work, owned: Sequence[Object], updated: int) -> Object:
    alive = [revision_of(pod) for pod in owned if not pods.is_deleting(pod)]
    ready = [pod for pod in owned if pods.phase(pod) == "Running" and pods.is_ready(pod)]
    counts = {
        "replicas": len(owned),
        "readyReplicas": len(ready),
        "currentReplicas": max(alive.count(work.current) - updated, 0),
        "updatedReplicas": alive.count(work.update),
    }
    current = work.current
    if _is_complete(work.stateful_set, counts):
        counts["currentReplicas"], current = counts["updatedReplicas"], work.update
    status: Object = {name: n for name, n in counts.items() if n or name == "replicas"}
    if ApiFeature.STATEFUL_AVAILABILITY in work.features:
        status["availableReplicas"] = sum(map(work.is_available, ready))
    status |= {"currentRevision": current, "updateRevision": work.update}
    have = work.stateful_set.get("status") or {}
    status["collisionCount"] = int(have.get("collisionCount") or 0)
    if "generation" in work.stateful_set["metadata"]:
        status["observedGeneration"] = work.stateful_set["metadata"]["generation"]
    return status


def _is_complete(stateful_set: Object, counts: dict[str, int]) -> bool:
    """Whether every pod is ready and of the new revision, which then is the current one."""
    strategy = (stateful_set["spec"].get("updateStrategy") or {}).get("type")
    wanted = wanted_replicas(stateful_set)
    return strategy == "RollingUpdate" and all(
        counts[name] == wanted for name in ("replicas", "readyReplicas", "updatedReplicas")
    )
