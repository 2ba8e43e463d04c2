"""Why a pod cannot run on a node, as far as pod and node alone decide it.

Texts and order: kubernetes v1.34 pkg/scheduler/framework/plugins/*.
"""

from __future__ import annotations

from muntin.model import affinity, pods, taints
from muntin.scheduler.plan_framework import Request, Unfit
from muntin.scheduler.plan_nodes import NodeInfo, Object


def _node(info: NodeInfo) -> Object:
    assert info.node is not None  # ClusterState gives only nodes that are there
    return info.node


def unschedulable(request: Request, info: NodeInfo, args: Object) -> Unfit | None:
    """Cordoned nodes take only pods that tolerate it."""
    if not info.unschedulable:
        return None
    taint = {"key": taints.UNSCHEDULABLE, "effect": taints.NO_SCHEDULE}
    if taints.tolerated(taint, request.tolerations):
        return None
    return Unfit("NodeUnschedulable", ("node(s) were unschedulable",), final=True)


def node_name(request: Request, info: NodeInfo, args: Object) -> Unfit | None:
    """A pod that names its node goes nowhere else."""
    wanted = request.spec.get("nodeName")
    if not wanted or wanted == info.name:
        return None
    return Unfit("NodeName", (request.words.node_name,), final=True)


def taint_toleration(request: Request, info: NodeInfo, args: Object) -> Unfit | None:
    """NoSchedule and NoExecute taints must be tolerated."""
    if not info.taints:
        return None
    taint = taints.first_untolerated(info.taints, request.tolerations)
    if taint is None:
        return None
    text = f"{{{taint.get('key')}: {taint.get('value') or ''}}}"
    reason = request.words.taint.replace("{taint}", text)
    return Unfit("TaintToleration", (reason,), final=True)


def node_affinity(request: Request, info: NodeInfo, args: Object) -> Unfit | None:
    """The node selector and the required node affinity must match, and what the profile adds."""
    added = (args.get("addedAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if added is not None and not affinity.node_selector_matches(added, _node(info)):
        reason = "node(s) didn't match scheduler-enforced node affinity"
        return Unfit("NodeAffinity", (reason,), final=True)
    if affinity.required_matches(request.spec, _node(info)):
        return None
    return Unfit("NodeAffinity", (request.words.affinity,), final=True)


def named_nodes(request: Request) -> frozenset[str] | None:
    """The only nodes that the required affinity names, as that of a DaemonSet's pod does."""
    return affinity.required_node_names(request.spec)


def node_ports(request: Request, info: NodeInfo, args: Object) -> Unfit | None:
    """Host ports must be free."""
    if not request.ports or not info.ports:
        return None
    if not any(pods.ports_conflict(request.ports, taken) for taken in info.ports.values()):
        return None
    reason = "node(s) didn't have free ports for the requested pod ports"
    return Unfit("NodePorts", (reason,), final=False)


def resources_fit(request: Request, info: NodeInfo, args: Object) -> Unfit | None:
    """What is left of the node's allocatable resources must be enough."""
    reasons, final = [], False
    there, taken = info.allocatable, info.requested
    if len(info.pods) + 1 > there.get("pods", 0):
        reasons.append("Too many pods")
    for name, needed in request.requests.items():
        if needed > there.get(name, 0) - taken.get(name, 0) and not _ignored(name, args):
            reasons.append(f"Insufficient {name}")
            final = final or needed > there.get(name, 0)
    return Unfit("NodeResourcesFit", tuple(reasons), final) if reasons else None


def _ignored(name: str, args: Object) -> bool:
    """Whether the profile leaves an extended resource to an extender."""
    if "/" not in name:
        return False
    group = name.partition("/")[0]
    return name in (args.get("ignoredResources") or ()) or group in (
        args.get("ignoredResourceGroups") or ()
    )
