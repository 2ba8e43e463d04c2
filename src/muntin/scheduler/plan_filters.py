"""Why a pod cannot run on a node, as far as pod and node alone decide it.

Texts and order: kubernetes v1.34 pkg/scheduler/framework/plugins/*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from muntin.model import affinity, pods, taints
from muntin.model.windows_releases import SchedulerWords
from muntin.scheduler.plan_nodes import NodeInfo, Object


@dataclass(frozen=True)
class Request:
    """A pod and what is worked out of it once for all nodes; ``words`` are for its reasons."""

    pod: Object
    words: SchedulerWords = field(default_factory=SchedulerWords)

    @property
    def spec(self) -> dict[str, Any]:
        """The pod's spec."""
        spec: dict[str, Any] = self.pod["spec"]
        return spec

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.pod["metadata"]["namespace"])

    @property
    def labels(self) -> dict[str, str]:
        """The pod's labels."""
        return self.pod["metadata"].get("labels") or {}

    @cached_property
    def requests(self) -> dict[str, int]:
        """What it needs."""
        return {name: amount for name, amount in pods.requests(self.pod).items() if amount}

    @cached_property
    def ports(self) -> set[tuple[str, str, int]]:
        """The host ports it takes."""
        return pods.host_ports(self.pod)

    @cached_property
    def tolerations(self) -> list[Object]:
        """Its tolerations."""
        return list(self.spec.get("tolerations") or ())


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a node is out. ``final``: no pod that leaves could change it."""

    plugin: str
    reasons: tuple[str, ...]
    final: bool


Filter = Callable[[Request, NodeInfo], Unfit | None]


def _node(info: NodeInfo) -> Object:
    assert info.node is not None  # ClusterState gives only nodes that are there
    return info.node


def unschedulable(request: Request, info: NodeInfo) -> Unfit | None:
    """Cordoned nodes take only pods that tolerate it."""
    if not _node(info)["spec"].get("unschedulable"):
        return None
    taint = {"key": taints.UNSCHEDULABLE, "effect": taints.NO_SCHEDULE}
    if taints.tolerated(taint, request.tolerations):
        return None
    return Unfit("NodeUnschedulable", ("node(s) were unschedulable",), final=True)


def taint_toleration(request: Request, info: NodeInfo) -> Unfit | None:
    """NoSchedule and NoExecute taints must be tolerated."""
    taint = taints.first_untolerated(_node(info)["spec"].get("taints"), request.tolerations)
    if taint is None:
        return None
    text = f"{{{taint.get('key')}: {taint.get('value') or ''}}}"
    reason = request.words.taint.replace("{taint}", text)
    return Unfit("TaintToleration", (reason,), final=True)


def node_affinity(request: Request, info: NodeInfo) -> Unfit | None:
    """The node selector and the required node affinity must match."""
    if affinity.required_matches(request.spec, _node(info)):
        return None
    return Unfit("NodeAffinity", (request.words.affinity,), final=True)


def node_ports(request: Request, info: NodeInfo) -> Unfit | None:
    """Host ports must be free."""
    if not request.ports or not info.ports:
        return None
    if not any(pods.ports_conflict(request.ports, taken) for taken in info.ports.values()):
        return None
    reason = "node(s) didn't have free ports for the requested pod ports"
    return Unfit("NodePorts", (reason,), final=False)


def resources_fit(request: Request, info: NodeInfo) -> Unfit | None:
    """What is left of the node's allocatable resources must be enough."""
    reasons, final = [], False
    if len(info.pods) + 1 > info.allocatable.get("pods", 0):
        reasons.append("Too many pods")
    for name, needed in request.requests.items():
        there = info.allocatable.get(name, 0)
        if needed > there - info.requested.get(name, 0):
            reasons.append(f"Insufficient {name}")
            final = final or needed > there
    return Unfit("NodeResourcesFit", tuple(reasons), final) if reasons else None


FILTERS: tuple[Filter, ...] = (
    unschedulable,
    taint_toleration,
    node_affinity,
    node_ports,
    resources_fit,
)
