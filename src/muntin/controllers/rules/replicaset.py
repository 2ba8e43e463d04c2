"""ReplicaSet: as many pods as asked for.

Source: kubernetes v1.34 pkg/controller/replicaset/{replica_set,replica_set_utils}.go.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from muntin.controllers.rules.actions import (
    Action,
    Create,
    Delete,
    Failure,
    InBatches,
    Object,
    Told,
    Update,
)
from muntin.controllers.rules.availability import is_available, look_again
from muntin.controllers.rules.ownership import claim, is_controlled_by
from muntin.controllers.rules.pod_ranking import to_delete
from muntin.controllers.rules.templates import pod_from_template
from muntin.model import pods, times
from muntin.model.features import ApiFeature
from muntin.model.resources import PODS, REPLICA_SETS
from muntin.model.selectors import labels_of

BURST = 500
"""Pods created or deleted in one round, as upstream's burstReplicas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods``: those of the namespace that match, or are owned by, the ReplicaSet.

    ``related``: pods of all ReplicaSets with the same controller (a Deployment's old and new).
    ``failure``: why pods could not be created or deleted in the last round, if so.
    """

    replica_set: Object
    pods: Sequence[Object]
    related: Sequence[Object] = ()
    failure: Failure | None = None
    features: Set[ApiFeature] = frozenset()


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Pods to create, delete, adopt or release, and the status."""
    replica_set = snapshot.replica_set
    selector = labels_of(replica_set["spec"].get("selector"))
    active = [pod for pod in snapshot.pods if pods.is_active(pod)]
    claimed = claim(replica_set, selector, active, PODS)
    if claimed.patches:
        return list(claimed.patches)  # adopted pods are counted in the next round
    status = _status(replica_set, claimed.owned, snapshot.failure, now)
    if ApiFeature.TERMINATING_REPLICAS in snapshot.features:
        status["terminatingReplicas"] = sum(_is_ending(snapshot, pod) for pod in snapshot.pods)
    actions: list[Action] = []
    if not pods.is_deleting(replica_set):
        actions += _manage(snapshot, claimed.owned, now)
    if status != (replica_set.get("status") or {}):
        updated = {**replica_set, "status": status}
        actions.append(Update(resource=REPLICA_SETS, obj=updated, subresource="status"))
    actions += look_again(replica_set, claimed.owned, now)
    return actions


def wanted_replicas(owner: Object) -> int:
    """``spec.replicas``, 1 where it is absent."""
    replicas = owner["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def _manage(snapshot: Snapshot, owned: Sequence[Object], now: float) -> list[Action]:
    replica_set = snapshot.replica_set
    missing = wanted_replicas(replica_set) - len(owned)
    if missing > 0:
        create = Create(
            resource=PODS,
            obj=pod_from_template(replica_set, replica_set["spec"]["template"]),
            told=pod_created(replica_set),
        )
        return [InBatches((create,) * min(missing, BURST))]
    if missing < 0:
        surplus = to_delete(owned, min(-missing, BURST), snapshot.related or owned, now)
        told = pod_deleted(replica_set)
        return [InBatches(tuple(Delete(resource=PODS, obj=pod, told=told) for pod in surplus))]
    return []


def pod_created(owner: Object) -> Told:
    """The event about a pod created for ``owner``."""
    return Told(
        about=owner,
        reason="SuccessfulCreate",
        message="Created pod: {name}",
        failure_reason="FailedCreate",
        failure_message="Error creating: {error}",
    )


def pod_deleted(owner: Object) -> Told:
    """The event about a pod of ``owner`` deleted."""
    return Told(
        about=owner,
        reason="SuccessfulDelete",
        message="Deleted pod: {name}",
        failure_reason="FailedDelete",
        failure_message="Error deleting: {error}",
    )


def _status(
    replica_set: Object, owned: Sequence[Object], failure: Failure | None, now: float
) -> Object:
    template_labels = (replica_set["spec"]["template"].get("metadata") or {}).get("labels") or {}

    def carries_all(pod: Object) -> bool:
        labels = pod["metadata"].get("labels") or {}
        return all(labels.get(key) == value for key, value in template_labels.items())

    counts = {
        "replicas": len(owned),
        "fullyLabeledReplicas": sum(map(carries_all, owned)),
        "readyReplicas": sum(map(pods.is_ready, owned)),
        "availableReplicas": sum(is_available(replica_set, pod, now) for pod in owned),
    }
    status: Object = {name: value for name, value in counts.items() if value or name == "replicas"}
    if "generation" in replica_set["metadata"]:
        status["observedGeneration"] = replica_set["metadata"]["generation"]
    conditions = _conditions(replica_set, failure, now)
    if conditions:
        status["conditions"] = conditions
    return status


def _is_ending(snapshot: Snapshot, pod: Object) -> bool:
    selector = labels_of(snapshot.replica_set["spec"].get("selector"))
    going = pods.is_deleting(pod) and not pods.is_terminal(pod)
    own = is_controlled_by(pod, snapshot.replica_set)
    return going and own and selector.matches(pod["metadata"].get("labels"))


def _conditions(replica_set: Object, failure: Failure | None, now: float) -> list[Object]:
    have = [dict(row) for row in (replica_set.get("status") or {}).get("conditions") or ()]
    if failure is None:
        return [row for row in have if row.get("type") != "ReplicaFailure"]
    if all(row.get("type") != "ReplicaFailure" for row in have):
        row = {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": failure.reason,
            "message": failure.message,
        }
        pods.set_condition(have, row, times.text_of(now))
    return have
