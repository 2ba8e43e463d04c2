"""ReplicationController: a ReplicaSet whose selector is a plain map of labels.

Upstream runs the same code for both, with objects converted; so do we.
Source: kubernetes v1.36 pkg/controller/replication/conversion.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from muntin.controllers.rules import replicaset
from muntin.controllers.rules.actions import Action, Failure, Object, Update
from muntin.model.resources import REPLICA_SETS, REPLICATION_CONTROLLERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods``: those of the namespace that match, or are owned by, the controller."""

    controller: Object
    pods: Sequence[Object]
    failure: Failure | None = None


def selector_of(controller: Object) -> Object:
    """Its selector, as a LabelSelector."""
    return {"matchLabels": controller["spec"].get("selector") or {}}


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """What a ReplicaSet of the same spec would do."""
    controller = snapshot.controller
    spec = {**controller["spec"], "selector": selector_of(controller)}
    converted = replicaset.Snapshot(
        replica_set={**controller, "spec": spec}, pods=snapshot.pods, failure=snapshot.failure
    )
    return [_converted(controller, action) for action in replicaset.reconcile(converted, now)]


def _converted(controller: Object, action: Action) -> Action:
    if isinstance(action, Update) and action.resource is REPLICA_SETS:
        obj = {**action.obj, "spec": controller["spec"]}
        return replace(action, resource=REPLICATION_CONTROLLERS, obj=obj)
    return action
