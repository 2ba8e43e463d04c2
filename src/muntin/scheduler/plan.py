"""One decision: the node for a pod, or why there is none.

Pure: the cluster's state and the pod in, a :class:`Decision` out.
Source: kubernetes v1.34 pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from muntin.model import affinity
from muntin.model.selectors import Selector
from muntin.model.windows_releases import SchedulerWords
from muntin.scheduler import plan_scores as scores
from muntin.scheduler.plan_affinity import AffinityFilter, NamespaceLabels, affinity_scores
from muntin.scheduler.plan_filters import FILTERS, Request, Unfit
from muntin.scheduler.plan_messages import fit_error
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo, Object
from muntin.scheduler.plan_spread import SpreadFilter, constraints_of, spread_scores

MIN_FEASIBLE = 100
"""In a cluster larger than this, the search ends when enough nodes are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``node`` is empty when no node will do; then ``message`` and ``plugins`` say why."""

    node: str = ""
    message: str = ""
    plugins: frozenset[str] = field(default_factory=frozenset)


def schedule(
    pod: Object,
    cluster: ClusterState,
    *,
    namespaces: NamespaceLabels | None = None,
    default_spread: Selector | None = None,
    start: int = 0,
    words: SchedulerWords | None = None,
) -> Decision:
    """Where ``pod`` should run.

    ``default_spread`` selects the pods of the same Service or owner. ``start`` is the node to
    begin the search at, so that a large cluster is used all around. ``words`` are those of a
    version; by default the plainest.
    """
    request = Request(pod, words or SchedulerWords())
    everyone = list(cluster)
    if not everyone:
        return Decision(message=fit_error({}))
    constraints = constraints_of(request, default_spread)
    spread = SpreadFilter(request, constraints, everyone)
    together = AffinityFilter(request, everyone, namespaces or {})
    names = affinity.required_node_names(request.spec)
    unfit: dict[str, Unfit] = {}
    feasible: list[NodeInfo] = []
    enough = _feasible_wanted(len(everyone))
    turn = start % len(everyone)
    for info in everyone[turn:] + everyone[:turn]:
        reason = _why_not(request, info, names, spread, together)
        if reason is not None:
            unfit[info.name] = reason
        else:
            feasible.append(info)
            if len(feasible) >= enough:
                break
    if not feasible:
        preempts = request.spec.get("preemptionPolicy") != "Never"
        return Decision(
            message=fit_error(unfit, preempts=preempts, preemption=request.words.preemption),
            plugins=frozenset(row.plugin for row in unfit.values()),
        )
    if len(feasible) == 1:
        return Decision(node=feasible[0].name)
    totals = _totals(request, everyone, feasible)
    for rows, weight in (
        (spread_scores(request, constraints, everyone, feasible), scores.SPREAD),
        (affinity_scores(request, everyone, feasible, namespaces or {}), scores.POD_AFFINITY),
    ):
        for name, score in rows.items():
            totals[name] += weight * score
    best = max(feasible, key=lambda info: (round(totals[info.name], 6), -len(info.pods)))
    return Decision(node=best.name)


def _feasible_wanted(count: int) -> int:
    """How many feasible nodes are enough to choose from (numFeasibleNodesToFind)."""
    if count < MIN_FEASIBLE:
        return count
    percentage = max(50 - count // 125, 5)
    return max(count * percentage // 100, MIN_FEASIBLE)


def _why_not(
    request: Request,
    info: NodeInfo,
    names: frozenset[str] | None,
    spread: SpreadFilter,
    together: AffinityFilter,
) -> Unfit | None:
    if names is not None and info.name not in names:
        # Only the nodes it names are looked at, as upstream's PreFilter does.
        reason = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
        return Unfit("NodeAffinity", (reason,), final=True)
    for check in FILTERS:
        reason_found = check(request, info)
        if reason_found is not None:
            return reason_found
    return spread(info) or together(info)


def _totals(
    request: Request, everyone: Sequence[NodeInfo], feasible: Sequence[NodeInfo]
) -> dict[str, float]:
    totals: dict[str, float] = {}
    for info in feasible:
        least, balanced = scores.resource_scores(request, info)
        image = scores.image_score(request, info, everyone)
        totals[info.name] = (
            scores.RESOURCES * least + scores.BALANCE * balanced + scores.IMAGES * image
        )
    for rows, weight in (
        (scores.taint_score(request, feasible), scores.TAINTS),
        (scores.node_affinity_score(request, feasible), scores.NODE_AFFINITY),
    ):
        for name, score in rows.items():
            totals[name] += weight * score
    return totals
