"""Topology spread: the pod's own constraints, and the default wish to spread over nodes and zones.

Source: kubernetes v1.36 pkg/scheduler/framework/plugins/podtopologyspread/{filtering,scoring}.go.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muntin.model import affinity, taints
from muntin.model.selectors import Requirement, Selector, labels_of
from muntin.scheduler.plan_framework import MAX_SCORE, Check, Cycle, Request, Unfit
from muntin.scheduler.plan_nodes import NodeInfo, Object

NAME = "PodTopologySpread"
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


def constraints_of(cycle: Cycle) -> tuple[list[Constraint], bool]:
    """The pod's constraints, and whether a node must have all their labels to be scored.

    A pod without any takes those of the profile, and by default those of the system, for the pods
    of its Service or owner.
    """
    request, default = cycle.request, cycle.default_spread
    if rows := request.spec.get("topologySpreadConstraints"):
        return [_constraint(request, row) for row in rows], True
    if default is None or default.is_everything:
        return [], False
    args = cycle.args_of(NAME)
    if args.get("defaultingType", "System") == "List":
        rows = args.get("defaultConstraints") or ()
        return [_constraint(request, row, default) for row in rows], True
    return [
        Constraint(HOSTNAME, 3, default, hard=False),
        Constraint(ZONE, 5, default, hard=False),
    ], False


def _constraint(request: Request, row: Object, default: Selector | None = None) -> Constraint:
    selector = default or labels_of(row.get("labelSelector"))
    extra = [
        Requirement(key, "in", frozenset((request.labels[key],)))
        for key in row.get("matchLabelKeys") or ()
        if key in request.labels
    ]
    known = selector.requirements  # the API server may have put them in already
    extra = [one for one in extra if not any(_same(one, other) for other in known)]
    if extra and not selector.nothing:
        selector = Selector((*known, *extra))
    return Constraint(
        row["topologyKey"],
        int(row["maxSkew"]),
        selector,
        hard=row.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
        min_domains=int(row.get("minDomains") or 1),
        honor_affinity=row.get("nodeAffinityPolicy", "Honor") == "Honor",
        honor_taints=row.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )


def _same(one: Requirement, other: Requirement) -> bool:
    return (one.key, one.operator, one.values) == (other.key, other.operator, other.values)


class _Inclusion:
    """Whether a node's domain and pods count at all for a constraint of the pod."""

    def __init__(self, request: Request) -> None:
        spec = request.spec
        self._request = request
        self._picks = bool(
            spec.get("nodeSelector") or (spec.get("affinity") or {}).get("nodeAffinity")
        )

    def __call__(self, constraint: Constraint, info: NodeInfo) -> bool:
        if constraint.honor_affinity and self._picks:
            assert info.node is not None
            if not affinity.required_matches(self._request.spec, info.node):
                return False
        if not constraint.honor_taints or not info.taints:
            return True
        return taints.first_untolerated(info.taints, self._request.tolerations) is None


# -- filter --------------------------------------------------------------------------------------


def spread_filter(cycle: Cycle) -> Check | None:
    """The hard constraints against the cluster as it is."""
    hard = [row for row in constraints_of(cycle)[0] if row.hard]
    return _SpreadCheck(cycle, hard) if hard else None


class _SpreadCheck(Check):
    """By constraint: how many pods are in each domain that counts."""

    def __init__(self, cycle: Cycle, hard: Sequence[Constraint]) -> None:
        self._request, self._hard = cycle.request, hard
        self._includes = _Inclusion(cycle.request)
        self._own = [row.selector.matches(cycle.request.labels) for row in hard]
        self._domains: list[dict[str, int]] = [{} for _ in hard]
        self._count(cycle)

    def _count(self, cycle: Cycle) -> None:
        keys = {row.key for row in self._hard}
        counts = [
            cycle.cluster.index.counts(cycle.request.namespace, row.selector).staying
            for row in self._hard
        ]
        for info in cycle.cluster.nodes:
            labels = info.labels
            if not keys <= labels.keys():
                continue
            for row, here, domains in zip(self._hard, counts, self._domains, strict=True):
                if self._includes(row, info):
                    value = labels[row.key]
                    domains[value] = domains.get(value, 0) + here.get(info.name, 0)

    def __call__(self, info: NodeInfo) -> Unfit | None:
        for row, domains, own in zip(self._hard, self._domains, self._own, strict=True):
            value = info.labels.get(row.key)
            if value is None:
                reason = f"{_MISMATCH} (missing required label)"
                return Unfit(NAME, (reason,), final=True)
            least = min(domains.values(), default=0)
            if len(domains) < row.min_domains:
                least = 0
            if domains.get(value, 0) + own - least > row.max_skew:
                return Unfit(NAME, (_MISMATCH,), final=False)
        return None

    def copy(self) -> Check:
        other = _SpreadCheck.__new__(_SpreadCheck)
        other.__dict__.update(self.__dict__)
        other._domains = [dict(domains) for domains in self._domains]
        return other

    def count(self, pod: Object, info: NodeInfo, sign: int) -> None:
        meta, labels = pod["metadata"], info.labels
        if meta["namespace"] != self._request.namespace or meta.get("deletionTimestamp"):
            return
        if any(row.key not in labels for row in self._hard):
            return
        for row, domains in zip(self._hard, self._domains, strict=True):
            if row.selector.matches(meta.get("labels")) and self._includes(row, info):
                domains[labels[row.key]] = domains.get(labels[row.key], 0) + sign


# -- score ---------------------------------------------------------------------------------------


def spread_scores(cycle: Cycle, feasible: Sequence[NodeInfo]) -> Sequence[int] | None:
    """0 to 100 for each feasible node: more where fewer of the pod's kind are."""
    constraints, all_labels = constraints_of(cycle)
    soft = [row for row in constraints if not row.hard]
    if not soft:
        return None
    keys = [row.key for row in soft]
    ignored: set[int] = set()
    if all_labels:
        ignored = {
            at for at, info in enumerate(feasible) if any(key not in info.labels for key in keys)
        }
    raw = [0.0] * len(feasible)
    for row in soft:
        _add_counts(cycle, row, feasible, ignored, raw, keys if all_labels else ())
    whole = [int(value + 0.5) for value in raw]
    kept = [value for at, value in enumerate(whole) if at not in ignored]
    if not kept:
        return [0] * len(feasible)
    highest, lowest = max(kept), min(kept)
    if not highest:
        return [0 if at in ignored else MAX_SCORE for at in range(len(whole))]
    return [
        0 if at in ignored else MAX_SCORE * (highest + lowest - value) // highest
        for at, value in enumerate(whole)
    ]


def _add_counts(
    cycle: Cycle,
    row: Constraint,
    feasible: Sequence[NodeInfo],
    ignored: set[int],
    raw: list[float],
    required: Iterable[str],
) -> None:
    """Add to ``raw`` what ``row`` says of each node."""
    here = cycle.cluster.index.counts(cycle.request.namespace, row.selector).staying
    extra = row.max_skew - 1
    if row.key == HOSTNAME:
        weight = math.log(len(feasible) - len(ignored) + 2)
        for at, info in enumerate(feasible):
            if at not in ignored and HOSTNAME in info.labels:
                raw[at] += here.get(info.name, 0) * weight + extra
        return
    values = [info.labels.get(row.key) for info in feasible]
    domains = {value: 0 for at, value in enumerate(values) if value and at not in ignored}
    if not domains:
        return
    weight = math.log(len(domains) + 2)
    includes = _Inclusion(cycle.request)
    for name, number in here.items():
        there = cycle.cluster.get(name)
        if there is None or any(key not in there.labels for key in required):
            continue
        domain = there.labels.get(row.key, "")
        if domain in domains and includes(row, there):
            domains[domain] += number
    for at, value in enumerate(values):
        if value and at not in ignored:
            raw[at] += domains[value] * weight + extra
