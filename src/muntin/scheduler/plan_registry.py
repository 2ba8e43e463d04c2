"""The table of plugins, and the profiles made of it.

Names, order and weights: kubernetes v1.36 pkg/scheduler/apis/config/v1/default_plugins.go. A new
plugin is one row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from muntin.scheduler import plan_filters as filters
from muntin.scheduler import plan_scores as scores
from muntin.scheduler.plan_affinity import affinity_filter, affinity_scores
from muntin.scheduler.plan_framework import Plugin, default_normalize
from muntin.scheduler.plan_nodes import Object
from muntin.scheduler.plan_spread import spread_filter, spread_scores
from muntin.scheduler.plan_volumes import VOLUME_PLUGINS

PLUGINS: tuple[Plugin, ...] = (
    Plugin(name="SchedulingGates"),
    Plugin(name="PrioritySort"),
    Plugin(name="NodeUnschedulable", local=filters.unschedulable),
    Plugin(name="NodeName", local=filters.node_name),
    Plugin(
        name="TaintToleration",
        local=filters.taint_toleration,
        raw=scores.taint_count,
        normalize=scores.fewest,
        weight=3,
    ),
    Plugin(
        name="NodeAffinity",
        only=filters.named_nodes,
        local=filters.node_affinity,
        raw=scores.affinity_weight,
        normalize=default_normalize,
        weight=2,
    ),
    Plugin(name="NodePorts", local=filters.node_ports),
    Plugin(name="NodeResourcesFit", local=filters.resources_fit, raw=scores.resource_score),
    *VOLUME_PLUGINS,
    Plugin(name="PodTopologySpread", filter=spread_filter, score=spread_scores, weight=2),
    Plugin(name="InterPodAffinity", filter=affinity_filter, score=affinity_scores, weight=2),
    Plugin(name="DefaultPreemption"),
    Plugin(name="NodeResourcesBalancedAllocation", raw=scores.balance_score),
    Plugin(name="ImageLocality", raw=scores.image_score),
    Plugin(name="DefaultBinder"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The plugins that decide for the pods of one ``schedulerName``, and how much each counts.

    ``percentage`` of the nodes are searched for feasible ones; zero: as many as suits the number.
    """

    scheduler_name: str = "default-scheduler"
    filters: tuple[Plugin, ...] = PLUGINS
    scores: tuple[tuple[Plugin, int], ...] = tuple((row, row.weight) for row in PLUGINS)
    args: Mapping[str, Object] = field(default_factory=dict)
    percentage: int = 0
    preempts: bool = True


DEFAULT_PROFILE = Profile()
