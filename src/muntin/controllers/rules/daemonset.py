"""DaemonSet: one pod on every node where it belongs, replaced in turn when the template changes.

Source: kubernetes v1.36 pkg/controller/daemon/{daemon_controller,update}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from muntin.controllers.rules import daemon_placement as placement
from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Create,
    Delete,
    Failure,
    InBatches,
    Note,
    Object,
)
from muntin.controllers.rules.daemon_backoff import Wait
from muntin.controllers.rules.daemon_fleet import (
    GENERATION_LABEL,
    Fleet,
    Place,
    fleet_of,
    generation_of,
    oldest_first,
)
from muntin.controllers.rules.daemon_history import (
    HASH_LABEL,
    current_revision,
    history_actions,
    revision_hash,
)
from muntin.controllers.rules.daemon_status import status_actions
from muntin.controllers.rules.daemon_update import next_change
from muntin.controllers.rules.ownership import claim
from muntin.controllers.rules.replicaset import BURST, pod_created, pod_deleted
from muntin.controllers.rules.templates import pod_from_template
from muntin.model import pods
from muntin.model.features import ApiFeature
from muntin.model.resources import CONTROLLER_REVISIONS, PODS
from muntin.model.selectors import labels_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods`` and ``revisions`` of the namespace that match, or are owned by, the DaemonSet.

    ``waits`` are of nodes where pods of it have failed.
    """

    daemon_set: Object
    nodes: Sequence[Object]
    pods: Sequence[Object]
    revisions: Sequence[Object] = ()
    features: Set[ApiFeature] = frozenset(ApiFeature)
    failure: Failure | None = None
    waits: Mapping[str, Wait] = field(default_factory=dict)


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Pods to create and delete, revisions to keep, and the status."""
    daemon_set = snapshot.daemon_set
    selector = labels_of(daemon_set["spec"].get("selector"))
    if selector.is_everything:
        message = "This daemon set is selecting all pods. A non-empty selector is required."
        return [Note(about=daemon_set, type=WARNING, reason="SelectingAll", message=message)]
    claimed = claim(daemon_set, selector, snapshot.pods, PODS)
    patches = claimed.patches
    patches += claim(daemon_set, selector, snapshot.revisions, CONTROLLER_REVISIONS).patches
    if patches:
        return list(patches)
    current = current_revision(daemon_set, snapshot.revisions)
    digest = revision_hash(current) if current else ""
    fleet = fleet_of(daemon_set, snapshot.nodes, claimed.owned, digest, now)
    actions: list[Action] = []
    if not pods.is_deleting(daemon_set):
        actions = history_actions(
            daemon_set,
            snapshot.revisions,
            claimed.owned,
            with_null=ApiFeature.ZERO_TIMES_OMITTED not in snapshot.features,
        )
        if actions:
            return actions
        actions = _place(fleet, snapshot.waits)
        if all(isinstance(action, Again) for action in actions):
            change = next_change(fleet)
            actions += _batches(fleet, change.nodes, change.doomed)
    return [*actions, *status_actions(fleet)]


def failed_nodes(actions: Sequence[Action]) -> list[str]:
    """The nodes whose failed pods are deleted by ``actions``."""
    deletes = [row for batch in actions if isinstance(batch, InBatches) for row in batch.actions]
    return [
        placement.target_node(row.obj)
        for row in deletes
        if isinstance(row, Delete) and pods.phase(row.obj) == "Failed"
    ]


@dataclass(slots=True)
class _Plan:
    """What is to be done about the nodes, as far as they were looked at."""

    missing: list[str] = field(default_factory=list)
    surplus: list[Object] = field(default_factory=list)
    notes: list[Action] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)


def _place(fleet: Fleet, waits: Mapping[str, Wait]) -> list[Action]:
    """Pods where there are none, and none where there are too many."""
    plan = _Plan()
    for place in fleet.places:
        if place.should_run and not place.pods:
            plan.missing.append(place.name)
        elif not place.may_stay:
            plan.surplus += place.alive
        else:
            _settle(fleet, place, waits.get(place.name), plan)
    for place in fleet.strays:
        # A pod made for a node that is gone, and never bound, would wait for ever.
        plan.surplus += [pod for pod in place.alive if not pods.node_name(pod)]
    actions = [*plan.notes, *_batches(fleet, plan.missing, plan.surplus)]
    if plan.waits:
        actions.append(Again(min(plan.waits)))
    return actions


def _settle(fleet: Fleet, place: Place, wait: Wait | None, plan: _Plan) -> None:
    """A node where a pod may stay: those that ended go, and those beyond one, or two in a surge."""
    running = []
    left_s = wait.left_s(fleet.now) if wait else 0.0
    for pod in place.alive:
        if pods.phase(pod) == "Failed" and left_s > 0:
            plan.waits.append(left_s)
        elif pods.is_terminal(pod):
            plan.notes.append(_ended(fleet, pod, place.name))
            plan.surplus.append(pod)
        else:
            running.append(pod)
    running = oldest_first(running)
    if not fleet.surges:
        plan.surplus += running[1:]
    elif not running and place.should_run:
        plan.missing.append(place.name)
    elif len(running) > 1:
        plan.surplus += _beyond_surge(fleet, running)


def _beyond_surge(fleet: Fleet, running: Sequence[Object]) -> list[Object]:
    """All but the oldest of each kind, and the old one unless it is ready and the new is not."""
    new = [pod for pod in running if _hash_of(pod) == fleet.current]
    old = [pod for pod in running if _hash_of(pod) != fleet.current]
    surplus = [*new[1:], *old[1:]]
    if new and old and (not pods.is_ready(old[0]) or fleet.is_available(new[0])):
        surplus.append(old[0])
    return surplus


def _hash_of(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(HASH_LABEL, ""))


def _ended(fleet: Fleet, pod: Object, node: str) -> Note:
    where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']} on node {node}"
    if pods.phase(pod) == "Failed":
        kind, reason = WARNING, "FailedDaemonPod"
        message = f"Found failed daemon pod {where}, will try to kill it"
    else:
        kind, reason = NORMAL, "SucceededDaemonPod"
        message = f"Found succeeded daemon pod {where}, will try to delete it"
    return Note(about=fleet.daemon_set, type=kind, reason=reason, message=message)


def _batches(fleet: Fleet, missing: Sequence[str], surplus: Sequence[Object]) -> list[Action]:
    told = pod_deleted(fleet.daemon_set)
    creates = tuple(_create(fleet, name) for name in missing[:BURST])
    deletes = tuple(Delete(resource=PODS, obj=pod, told=told) for pod in surplus[:BURST])
    return [InBatches(batch) for batch in (creates, deletes) if batch]


def _create(fleet: Fleet, node_name: str) -> Create:
    daemon_set = fleet.daemon_set
    pod = pod_from_template(daemon_set, daemon_set["spec"]["template"])
    pod["spec"] = placement.pinned(pod["spec"], node_name)
    pod["metadata"]["labels"][HASH_LABEL] = fleet.current
    generation = generation_of(daemon_set)
    if generation:
        pod["metadata"]["labels"][GENERATION_LABEL] = generation
    return Create(resource=PODS, obj=pod, told=pod_created(daemon_set))
