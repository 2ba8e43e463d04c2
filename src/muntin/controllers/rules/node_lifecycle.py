"""Node lifecycle: a node that falls silent is marked, tainted and, in the end, emptied.

Silence is measured by our own clock: ``last_seen`` is when its heartbeat (lease or status) was
last seen to change, so clocks of nodes need not agree.
Source: kubernetes v1.34 pkg/controller/nodelifecycle/node_lifecycle_controller.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Note,
    Object,
    Update,
)
from muntin.model import pods, taints, times
from muntin.model.resources import NODES, PODS

GRACE_S = 50.0
"""How long a node may be silent, as node-monitor-grace-period."""
MONITOR_S = 5.0
"""How often a silent node is looked at: others may be heard again, or fall silent too."""
_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_PRESSURE = {
    "MemoryPressure": taints.MEMORY_PRESSURE,
    "DiskPressure": taints.DISK_PRESSURE,
    "PIDPressure": taints.PID_PRESSURE,
    "NetworkUnavailable": taints.NETWORK_UNAVAILABLE,
}
_OURS = frozenset({*_PRESSURE.values(), taints.NOT_READY, taints.UNREACHABLE, taints.UNSCHEDULABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods``: those bound to the node. ``all_silent``: no node of the cluster is heard.

    Then it is we who are cut off: nothing is evicted, as upstream in full disruption.
    """

    node: Object
    last_seen: float
    pods: Sequence[Object] = ()
    all_silent: bool = False
    grace_s: float = GRACE_S


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Conditions of a silent node, the taints that its conditions ask for, its pods' readiness."""
    node = snapshot.node
    if pods.is_deleting(node):
        return []
    silent_at = snapshot.last_seen + snapshot.grace_s
    if now >= silent_at and (unknown := _mark_unknown(node, now)):
        return unknown
    actions: list[Action] = []
    wanted = wanted_taints(node, now, no_execute=not snapshot.all_silent)
    if wanted != (node["spec"].get("taints") or []):
        obj = {**node, "spec": {**node["spec"], "taints": wanted}}
        actions.append(Update(resource=NODES, obj=obj))
    if not is_ready(node):  # its pods may be many: nothing is to be put there meanwhile
        actions += _mark_pods(snapshot, now)
    actions.append(Again(silent_at - now + 0.1 if now < silent_at else MONITOR_S))
    return actions


def is_ready(node: Object) -> bool:
    """Whether the node's Ready condition is true."""
    return pods.is_condition_true(node, "Ready")


def is_silent(node: Object) -> bool:
    """Whether it was found silent."""
    ready = pods.condition(node, "Ready")
    return ready is None or ready.get("status") == "Unknown"


def _mark_unknown(node: Object, now: float) -> list[Action]:
    stamp = times.text_of(now)
    conditions = [dict(row) for row in (node.get("status") or {}).get("conditions") or ()]
    changed = False
    for kind in _CONDITIONS:
        have = next((row for row in conditions if row.get("type") == kind), None)
        if have is None:
            conditions.append(
                {
                    "type": kind,
                    "status": "Unknown",
                    "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.",
                    "lastHeartbeatTime": node["metadata"].get("creationTimestamp"),
                    "lastTransitionTime": stamp,
                }
            )
            changed = True
        elif have.get("status") != "Unknown":
            have.update(
                status="Unknown",
                reason="NodeStatusUnknown",
                message="Kubelet stopped posting node status.",
                lastTransitionTime=stamp,
            )
            changed = True
    if not changed:
        return []
    status = {**(node.get("status") or {}), "conditions": conditions}
    actions: list[Action] = [
        Update(resource=NODES, obj={**node, "status": status}, subresource="status")
    ]
    if is_ready(node):
        name = node["metadata"]["name"]
        message = f"Node {name} status is now: NodeNotReady"
        actions.append(Note(about=node, type=NORMAL, reason="NodeNotReady", message=message))
    return actions


def wanted_taints(node: Object, now: float, *, no_execute: bool = True) -> list[Object]:
    """The taints that the node's conditions and ``spec.unschedulable`` ask for, others kept.

    A NoExecute taint keeps the moment it was first set: evictions count from there.
    """
    have = node["spec"].get("taints") or []
    wanted: list[Object] = []
    ready = pods.condition(node, "Ready")
    state = ready.get("status") if ready else "Unknown"
    if state != "True":
        key = taints.NOT_READY if state == "False" else taints.UNREACHABLE
        wanted.append({"key": key, "effect": taints.NO_SCHEDULE})
        if no_execute:
            added = times.text_of(now)
            wanted.append({"key": key, "effect": taints.NO_EXECUTE, "timeAdded": added})
    for kind, key in _PRESSURE.items():
        if pods.is_condition_true(node, kind):
            wanted.append({"key": key, "effect": taints.NO_SCHEDULE})
    if node["spec"].get("unschedulable"):
        wanted.append({"key": taints.UNSCHEDULABLE, "effect": taints.NO_SCHEDULE})
    result = [row for row in have if row.get("key") not in _OURS or _is_among(row, wanted)]
    return result + [row for row in wanted if not _is_among(row, result)]


def _is_among(taint: Object, others: Sequence[Object]) -> bool:
    return any(taints.same_taint(taint, other) for other in others)


def _mark_pods(snapshot: Snapshot, now: float) -> list[Action]:
    """Ready pods of a node that is not ready become not ready: nobody is to be sent there."""
    actions: list[Action] = []
    for pod in snapshot.pods:
        if not pods.is_ready(pod):
            continue
        conditions = [dict(row) for row in pod["status"]["conditions"]]
        pods.set_condition(conditions, {"type": "Ready", "status": "False"}, times.text_of(now))
        obj = {**pod, "status": {**pod["status"], "conditions": conditions}}
        actions.append(Update(resource=PODS, obj=obj, subresource="status"))
        actions.append(
            Note(about=pod, type=WARNING, reason="NodeNotReady", message="Node is not ready")
        )
    return actions
