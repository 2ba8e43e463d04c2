"""Whether a change of the cluster could help a pod that fitted nowhere (queueing hints).

Asked of each plugin that refused the pod; a change that helps none of them does not wake it.
Source: kubernetes v1.36 pkg/scheduler/framework/plugins/*: EventsToRegister and the
``isSchedulableAfter`` functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from muntin.model import pods
from muntin.scheduler.plan_framework import Local, NamespaceLabels, Request
from muntin.scheduler.plan_index import REQUIRED, Term, terms_of
from muntin.scheduler.plan_nodes import NodeInfo, Object
from muntin.scheduler.plan_registry import PLUGINS


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node is new (``old`` is None) or looks different."""

    new: Object
    old: Object | None = None


@dataclass(frozen=True, slots=True)
class PodChange:
    """A pod came to a node, left it (``gone``), or has other labels there (``old``)."""

    pod: Object
    old: Object | None = None
    gone: bool = False
    namespaces: NamespaceLabels | None = None


Change = NodeChange | PodChange
Hint = Callable[[Request, Change], bool]


def could_help(plugins: frozenset[str], pod: Object, change: Change) -> bool:
    """Whether any of the ``plugins`` that refused ``pod`` might now think otherwise.

    A plugin without a hint of its own (of volumes, of an extender) is taken to.
    """
    request = Request(pod)
    return not plugins or any(
        hint is None or hint(request, change) for hint in map(_HINTS.get, plugins)
    )


def _of_node(local: Local) -> Hint:
    """The hint of a plugin whose verdict depends on the node itself."""

    def hint(request: Request, change: Change) -> bool:
        if isinstance(change, PodChange) or local(request, _empty(change.new), {}) is not None:
            return False
        return change.old is None or local(request, _empty(change.old), {}) is not None

    return hint


def _empty(node: Object) -> NodeInfo:
    info = NodeInfo(node["metadata"]["name"])
    info.set_node(node)
    return info


def _resources(request: Request, change: Change) -> bool:
    if isinstance(change, PodChange):
        return change.gone
    there = _empty(change.new).allocatable
    wanted = {"pods": 1, **request.requests}
    if any(needed > there.get(name, 0) for name, needed in wanted.items()):
        return False
    if change.old is None:
        return True
    before = _empty(change.old).allocatable
    return any(there.get(name, 0) > before.get(name, 0) for name in wanted)


def _ports(request: Request, change: Change) -> bool:
    if isinstance(change, NodeChange):
        return change.old is None
    return change.gone and pods.ports_conflict(request.ports, pods.host_ports(change.pod))


def _spread(request: Request, change: Change) -> bool:
    rows = request.spec.get("topologySpreadConstraints") or ()
    if isinstance(change, PodChange):
        return bool(change.pod["metadata"]["namespace"] == request.namespace)
    keys = {row["topologyKey"] for row in rows}
    labels = change.new["metadata"].get("labels") or {}
    if change.old is None:
        return not rows or keys <= labels.keys()
    before = change.old["metadata"].get("labels") or {}
    return any(labels.get(key) != before.get(key) for key in keys) or change.new["spec"].get(
        "taints"
    ) != change.old["spec"].get("taints")


def _affinity(request: Request, change: Change) -> bool:
    pod = request.pod
    if isinstance(change, NodeChange):
        labels = change.new["metadata"].get("labels") or {}
        before = ((change.old or {}).get("metadata") or {}).get("labels") or {}
        return change.old is None or labels != before
    spaces = change.namespaces or {}
    if not change.gone and _means(request, "podAffinity", change.pod, spaces):
        return True
    left = change.pod if change.gone else change.old
    if left is None:
        return False
    if _means(request, "podAntiAffinity", left, spaces):
        return True
    against = [
        Term(raw, left["metadata"]["namespace"])
        for raw in terms_of(left, "podAntiAffinity", REQUIRED)
    ]
    return any(term.matches(pod, spaces) for term in against)


def _means(request: Request, kind: str, other: Object, spaces: NamespaceLabels) -> bool:
    terms = [Term(raw, request.namespace) for raw in terms_of(request.pod, kind, REQUIRED)]
    return any(term.matches(other, spaces) for term in terms)


_HINTS: Mapping[str, Hint] = {
    **{row.name: _of_node(row.local) for row in PLUGINS if row.local},
    "NodeResourcesFit": _resources,
    "NodePorts": _ports,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _affinity,
}
