"""DaemonSet: one pod on every node where it belongs, replaced in turn when the template changes.

Source: kubernetes v1.34 pkg/controller/daemon/{daemon_controller,update}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    Update,
)
from muntin.controllers.rules.daemon_history import (
    HASH_LABEL,
    current_revision,
    history_actions,
    revision_hash,
)
from muntin.controllers.rules.ownership import claim
from muntin.controllers.rules.pod_ranking import ready_since
from muntin.controllers.rules.replicaset import BURST, pod_created, pod_deleted
from muntin.controllers.rules.templates import pod_from_template
from muntin.model import intstr, pods, times
from muntin.model.resources import DAEMON_SETS, PODS
from muntin.model.selectors import labels_of

GENERATION_LABEL = "pod-template-generation"
GENERATION_ANNOTATION = "deprecated.daemonset.template.generation"
FAILED_POD_AGE_S = 10.0
"""A pod that ended is replaced when it is that old, so that one that cannot live does not spin.
Upstream backs off by node, from one second to fifteen minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods`` and ``revisions`` of the namespace that match, or are owned by, the DaemonSet."""

    daemon_set: Object
    nodes: Sequence[Object]
    pods: Sequence[Object]
    revisions: Sequence[Object] = ()
    failure: Failure | None = None


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Pods to create and delete, revisions to keep, and the status."""
    daemon_set = snapshot.daemon_set
    selector = labels_of(daemon_set["spec"].get("selector"))
    if selector.is_everything:
        message = "This daemon set is selecting all pods. A non-empty selector is required."
        return [Note(about=daemon_set, type=WARNING, reason="SelectingAll", message=message)]
    claimed = claim(daemon_set, selector, snapshot.pods, PODS)
    if claimed.patches:
        return list(claimed.patches)
    by_node = _by_node(claimed.owned)
    actions: list[Action] = []
    if not pods.is_deleting(daemon_set):
        actions = history_actions(daemon_set, snapshot.revisions, claimed.owned)
        if actions:
            return actions
        actions = _place(snapshot, by_node, now)
        if all(isinstance(action, Again) for action in actions):
            actions += _replace(snapshot, by_node, now)
    return [*actions, *_status(snapshot, by_node, now)]


def _by_node(owned: Sequence[Object]) -> dict[str, list[Object]]:
    result: dict[str, list[Object]] = {}
    for pod in owned:
        result.setdefault(placement.target_node(pod), []).append(pod)
    return result


def _hash(snapshot: Snapshot) -> str:
    current = current_revision(snapshot.daemon_set, snapshot.revisions)
    return revision_hash(current) if current else ""


# -- where there is none, or one too many ------------------------------------------------------


def _place(snapshot: Snapshot, by_node: Mapping[str, Sequence[Object]], now: float) -> list[Action]:
    spec = snapshot.daemon_set["spec"]["template"]["spec"]
    notes: list[Action] = []
    missing: list[str] = []
    surplus: list[Object] = []
    known = set()
    waiting = False
    for node in snapshot.nodes:
        name = node["metadata"]["name"]
        known.add(name)
        should_run, may_stay = placement.belongs(spec, node)
        here = by_node.get(name, ())
        if should_run and not here:
            missing.append(name)
        elif not may_stay:
            surplus += [pod for pod in here if not pods.is_deleting(pod)]
        else:
            ended, extra = _ended_and_extra(here)
            old_enough = [pod for pod in ended if _age_s(pod, now) >= FAILED_POD_AGE_S]
            if len(old_enough) < len(ended):
                waiting = True
            notes += _ended_notes(snapshot.daemon_set, old_enough, name)
            surplus += [*old_enough, *extra]
    # A pod made for a node that is gone, and never bound, would wait for ever.
    for name, unbound in by_node.items():
        if name not in known:
            surplus += [
                pod for pod in unbound if not pods.node_name(pod) and not pods.is_deleting(pod)
            ]
    told = pod_deleted(snapshot.daemon_set)
    deletes = tuple(Delete(resource=PODS, obj=pod, told=told) for pod in surplus[:BURST])
    creates = tuple(_create(snapshot, name) for name in missing[:BURST])
    actions: list[Action] = [*notes]
    if creates:
        actions.append(InBatches(creates))
    if deletes:
        actions.append(InBatches(deletes))
    if waiting:
        actions.append(Again(FAILED_POD_AGE_S))
    return actions


def _age_s(pod: Object, now: float) -> float:
    created = times.seconds_of(pod["metadata"].get("creationTimestamp"))
    return now - created if created is not None else FAILED_POD_AGE_S


def _ended_and_extra(here: Sequence[Object]) -> tuple[list[Object], list[Object]]:
    """Pods that ended and are to be replaced, and living ones beyond the oldest."""
    ended = [pod for pod in here if pods.is_terminal(pod) and not pods.is_deleting(pod)]
    alive = [pod for pod in here if pods.is_active(pod)]
    alive.sort(key=lambda pod: (not pods.node_name(pod), _age(pod)))
    return ended, alive[1:]


def _age(pod: Object) -> str:
    return str(pod["metadata"].get("creationTimestamp") or "")


def _ended_notes(daemon_set: Object, ended: Sequence[Object], node: str) -> list[Action]:
    notes: list[Action] = []
    for pod in ended:
        where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']} on node {node}"
        if pods.phase(pod) == "Failed":
            kind, reason, what = WARNING, "FailedDaemonPod", "failed"
        else:
            kind, reason, what = NORMAL, "SucceededDaemonPod", "succeeded"
        message = f"Found {what} daemon pod {where}, will try to delete it"
        if what == "failed":
            message = f"Found failed daemon pod {where}, will try to kill it"
        notes.append(Note(about=daemon_set, type=kind, reason=reason, message=message))
    return notes


def _create(snapshot: Snapshot, node_name: str) -> Create:
    daemon_set = snapshot.daemon_set
    pod = pod_from_template(daemon_set, daemon_set["spec"]["template"])
    pod["spec"] = placement.pinned(pod["spec"], node_name)
    pod["metadata"]["labels"][HASH_LABEL] = _hash(snapshot)
    generation = (daemon_set["metadata"].get("annotations") or {}).get(GENERATION_ANNOTATION)
    if generation:
        pod["metadata"]["labels"][GENERATION_LABEL] = generation
    return Create(resource=PODS, obj=pod, told=pod_created(daemon_set))


# -- where there is one of an older template ---------------------------------------------------


def max_unavailable(daemon_set: Object, wanted: int) -> int:
    """How many nodes may be without an available pod during an update; at least one."""
    rolling = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    value = rolling.get("maxUnavailable")
    count = intstr.resolve(1 if value is None else value, wanted, round_up=True)
    return max(count, 1)


def _replace(
    snapshot: Snapshot, by_node: Mapping[str, Sequence[Object]], now: float
) -> list[Action]:
    daemon_set = snapshot.daemon_set
    strategy = (daemon_set["spec"].get("updateStrategy") or {}).get("type") or "RollingUpdate"
    if strategy != "RollingUpdate":
        return []
    current, spec = _hash(snapshot), daemon_set["spec"]["template"]["spec"]
    wanted = unavailable = 0
    free: list[Object] = []  # old and not available: replacing it costs nothing
    candidates: list[Object] = []
    for node in snapshot.nodes:
        should_run, _ = placement.belongs(spec, node)
        wanted += should_run
        here = by_node.get(node["metadata"]["name"], ())
        alive = [pod for pod in here if pods.is_active(pod)]
        old = [pod for pod in alive if _hash_of(pod) != current]
        available = any(_is_available(daemon_set, pod, now) for pod in alive)
        if should_run and not available:
            unavailable += 1
        (candidates if available else free).extend(old)
    spare = max(max_unavailable(daemon_set, wanted) - unavailable, 0)
    told = pod_deleted(daemon_set)
    doomed = [*free, *candidates[:spare]]
    if not doomed:
        return []
    return [InBatches(tuple(Delete(resource=PODS, obj=pod, told=told) for pod in doomed))]


def _hash_of(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(HASH_LABEL, ""))


def _is_available(daemon_set: Object, pod: Object, now: float) -> bool:
    min_ready_s = int(daemon_set["spec"].get("minReadySeconds") or 0)
    return pods.is_available(pod, min_ready_s, now, ready_since(pod))


# -- status -----------------------------------------------------------------------------------


def _status(
    snapshot: Snapshot, by_node: Mapping[str, Sequence[Object]], now: float
) -> list[Action]:
    daemon_set, current = snapshot.daemon_set, _hash(snapshot)
    spec = daemon_set["spec"]["template"]["spec"]
    counts = dict.fromkeys(
        ("desired", "current", "misscheduled", "ready", "updated", "available"), 0
    )
    waits: list[float] = []
    min_ready_s = int(daemon_set["spec"].get("minReadySeconds") or 0)
    for node in snapshot.nodes:
        should_run, _ = placement.belongs(spec, node)
        here = sorted(by_node.get(node["metadata"]["name"], ()), key=_age)
        if not should_run:
            counts["misscheduled"] += bool(here)
            continue
        counts["desired"] += 1
        if not here:
            continue
        pod = here[0]
        counts["current"] += 1
        counts["ready"] += pods.is_ready(pod)
        counts["available"] += _is_available(daemon_set, pod, now)
        counts["updated"] += _hash_of(pod) == current
        since = ready_since(pod)
        if min_ready_s and pods.is_ready(pod) and since is not None:
            waits.append(since + min_ready_s - now)
    status = _status_object(daemon_set, counts)
    actions: list[Action] = []
    if status != (daemon_set.get("status") or {}):
        obj = {**daemon_set, "status": status}
        actions.append(Update(resource=DAEMON_SETS, obj=obj, subresource="status"))
    pending = [wait for wait in waits if wait > 0]
    if pending:
        actions.append(Again(min(pending)))
    return actions


def _status_object(daemon_set: Object, counts: Mapping[str, int]) -> Object:
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
