"""Topology spread: the pod's own constraints, and the default wish to spread over nodes and zones.

Source: kubernetes v1.34 pkg/scheduler/framework/plugins/podtopologyspread/{filtering,scoring}.go.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muntin.model import affinity, pods, taints
from muntin.model.selectors import Requirement, Selector, labels_of
from muntin.scheduler.plan_filters import Request, Unfit
from muntin.scheduler.plan_nodes import NodeInfo, Object

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_MISMATCH = "node(s) didn't match pod topology spread constraints"


@dataclass(frozen=True, slots=True)
class Constraint:
    """At most ``max_skew`` more matching pods in a domain of ``key`` than in the emptiest one."""

    key: str
    max_skew: int
    selector: Selector
    hard: bool
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


def constraints_of(request: Request, default: Selector | None) -> list[Constraint]:
    """The pod's constraints; without any, those for its Service or owner (``default``)."""
    rows = request.spec.get("topologySpreadConstraints") or ()
    if rows:
        return [_constraint(request, row) for row in rows]
    if default is None or default.is_everything:
        return []
    return [
        Constraint(HOSTNAME, 3, default, hard=False),
        Constraint(ZONE, 5, default, hard=False),
    ]


def _constraint(request: Request, row: Object) -> Constraint:
    selector = labels_of(row.get("labelSelector"))
    extra = [
        Requirement(key, "in", frozenset((request.labels[key],)))
        for key in row.get("matchLabelKeys") or ()
        if key in request.labels
    ]
    if extra and not selector.nothing:
        selector = Selector((*selector.requirements, *extra))
    return Constraint(
        row["topologyKey"],
        int(row["maxSkew"]),
        selector,
        hard=row.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
        min_domains=int(row.get("minDomains") or 1),
        honor_affinity=row.get("nodeAffinityPolicy", "Honor") == "Honor",
        honor_taints=row.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )


def _counts(constraint: Constraint, request: Request, info: NodeInfo) -> bool:
    """Whether the node's domain and pods count at all for this constraint."""
    assert info.node is not None
    if constraint.honor_affinity and not affinity.required_matches(request.spec, info.node):
        return False
    if not constraint.honor_taints:
        return True
    on_node = info.node["spec"].get("taints")
    return taints.first_untolerated(on_node, request.tolerations) is None


def matching_pods(info: NodeInfo, namespace: str, selector: Selector) -> int:
    """How many pods of the node are of ``namespace``, selected and not on their way out."""
    return sum(
        1
        for pod in info.pods.values()
        if pod["metadata"]["namespace"] == namespace
        and not pods.is_deleting(pod)
        and selector.matches(pod["metadata"].get("labels"))
    )


class SpreadFilter:
    """The hard constraints of one pod against the cluster as it is."""

    def __init__(
        self, request: Request, constraints: Sequence[Constraint], nodes: Iterable[NodeInfo]
    ) -> None:
        self._request = request
        self._hard = [constraint for constraint in constraints if constraint.hard]
        self._domains: list[Counter[str]] = [Counter() for _ in self._hard]
        if self._hard:
            self._count(nodes)

    def _count(self, nodes: Iterable[NodeInfo]) -> None:
        keys = [constraint.key for constraint in self._hard]
        for info in nodes:
            labels = info.labels
            if any(key not in labels for key in keys):
                continue
            for constraint, domains in zip(self._hard, self._domains, strict=True):
                if _counts(constraint, self._request, info):
                    here = matching_pods(info, self._request.namespace, constraint.selector)
                    domains[labels[constraint.key]] += here

    def __call__(self, info: NodeInfo) -> Unfit | None:
        """Why the node is out, if it is."""
        for constraint, domains in zip(self._hard, self._domains, strict=True):
            value = info.labels.get(constraint.key)
            if value is None:
                reason = f"{_MISMATCH} (missing required label)"
                return Unfit("PodTopologySpread", (reason,), final=True)
            least = min(domains.values(), default=0)
            if len(domains) < constraint.min_domains:
                least = 0
            own = constraint.selector.matches(self._request.labels)
            if domains.get(value, 0) + own - least > constraint.max_skew:
                return Unfit("PodTopologySpread", (_MISMATCH,), final=False)
        return None


def spread_scores(
    request: Request,
    constraints: Sequence[Constraint],
    everyone: Sequence[NodeInfo],
    feasible: Sequence[NodeInfo],
) -> dict[str, float]:
    """0 to 100 for each feasible node: more where fewer of the pod's kind are."""
    soft = [constraint for constraint in constraints if not constraint.hard]
    if not soft or not feasible:
        return {}
    raw: dict[str, float] = dict.fromkeys((info.name for info in feasible), 0.0)
    for constraint in soft:
        values = {info.labels.get(constraint.key) for info in feasible} - {None}
        if not values:
            continue
        weight = math.log(len(values) + 2)
        domains: Counter[str] = Counter()
        for info in everyone:
            value = info.labels.get(constraint.key)
            if value is not None and value in values and _counts(constraint, request, info):
                domains[value] += matching_pods(info, request.namespace, constraint.selector)
        for info in feasible:
            value = info.labels.get(constraint.key)
            if value is not None:
                raw[info.name] += domains[value] * weight + constraint.max_skew - 1
    highest, lowest = max(raw.values()), min(raw.values())
    if highest == 0:
        return dict.fromkeys(raw, 100.0)
    return {name: 100 * (highest + lowest - score) / highest for name, score in raw.items()}
