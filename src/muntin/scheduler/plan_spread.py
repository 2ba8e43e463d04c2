"""Topology spread: the pod's own constraints, and the default wish to spread over nodes and zones.

Source: kubernetes v1.36 pkg/scheduler/framework/plugins/podtopologyspread/{filtering,scoring}.go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_

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

    def asks(self, constraint: Constraint) -> bool:
        """Whether some nodes may not count."""
        return (constraint.honor_affinity and self._picks) or constraint.honor_taints

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
        self._least: list[int | None] = [None for _ in hard]
        self._count(cycle)

    def _count(self, cycle: Cycle) -> None:
        if not any(self._includes.asks(row) for row in self._hard):
            self._count_all(cycle)
            return
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

    def _count_all(self, cycle: Cycle) -> None:
        """As all nodes count that have the labels: a loop over those with pods is enough."""
        cluster = cycle.cluster
        values = [cluster.values_of(row.key) for row in self._hard]
        whole = [None not in rows for rows in zip(*values, strict=True)]
        for at, row in enumerate(self._hard):
            domains: dict[str, int] = dict.fromkeys(filter(None, compress(values[at], whole)), 0)
            counts = cluster.index.counts(cycle.request.namespace, row.selector).staying
            for name, number in counts.items():
                info = cluster.get(name)
                if info is not None and whole[info.number]:
                    domains[info.labels[row.key]] += number
            self._domains[at] = domains

    def __call__(self, info: NodeInfo) -> Unfit | None:
        for at, row in enumerate(self._hard):
            value = info.labels.get(row.key)
            if value is None:
                reason = f"{_MISMATCH} (missing required label)"
                return Unfit(NAME, (reason,), final=True)
            here = self._domains[at].get(value, 0) + self._own[at]
            if here - self._fewest(at) > row.max_skew:
                return Unfit(NAME, (_MISMATCH,), final=False)
        return None

    def _fewest(self, at: int) -> int:
        """How many pods are in the emptiest domain of a constraint."""
        least = self._least[at]
        if least is None:
            domains = self._domains[at]
            enough = len(domains) >= self._hard[at].min_domains
            least = self._least[at] = min(domains.values(), default=0) if enough else 0
        return least

    def copy(self) -> Check:
        other = _SpreadCheck.__new__(_SpreadCheck)
        other.__dict__.update(self.__dict__)
        other._domains = [dict(domains) for domains in self._domains]
        other._least = list(self._least)
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
                self._least = [None for _ in self._hard]


# -- score ---------------------------------------------------------------------------------------


def spread_scores(cycle: Cycle, feasible: Sequence[NodeInfo]) -> Sequence[int] | None:
    """0 to 100 for each feasible node: more where fewer of the pod's kind are."""
    constraints, all_labels = constraints_of(cycle)
    soft = [row for row in constraints if not row.hard]
    if not soft:
        return None
    values = [
        [rows[info.number] for info in feasible]
        for rows in (cycle.cluster.values_of(row.key) for row in soft)
    ]
    left_out = [None in rows for rows in zip(*values, strict=True)] if all_labels else []
    ignored = sum(left_out)
    if ignored == len(feasible):
        return [0] * len(feasible)
    required = [row.key for row in soft] if all_labels else []
    rated = [
        _rated(cycle, row, feasible, rows, left_out, required)
        for row, rows in zip(soft, values, strict=True)
    ]
    counts = list(zip(*(counted for counted, _, _ in rated), strict=True))
    raw = {kind: _sum(kind, rated) for kind in set(counts)}
    if ignored:
        kept = {kind for kind, out in zip(counts, left_out, strict=True) if not out}
        raw = {kind: value for kind, value in raw.items() if kind in kept}
    highest, lowest = max(raw.values()), min(raw.values())
    scores = {
        kind: MAX_SCORE * (highest + lowest - value) // highest if highest else MAX_SCORE
        for kind, value in raw.items()
    }
    if not ignored:
        return [scores[kind] for kind in counts]
    return [0 if out else scores[kind] for kind, out in zip(counts, left_out, strict=True)]


Rated = tuple[list[int | None], float, int]
"""Of a constraint: the number of pods by node (None: no such label), its weight, what is added."""


def _sum(kind: tuple[int | None, ...], rated: Sequence[Rated]) -> int:
    """The raw score of nodes with these counts."""
    total = sum(
        number * weight + extra
        for number, (_, weight, extra) in zip(kind, rated, strict=True)
        if number is not None
    )
    return int(total + 0.5)


def _rated(
    cycle: Cycle,
    row: Constraint,
    feasible: Sequence[NodeInfo],
    values: Sequence[str | None],
    left_out: Sequence[bool],
    required: Sequence[str],
) -> Rated:
    here = cycle.cluster.index.counts(cycle.request.namespace, row.selector).staying
    extra = row.max_skew - 1
    if row.key == HOSTNAME:
        counted = [
            None if value is None else here.get(info.name, 0)
            for info, value in zip(feasible, values, strict=True)
        ]
        return counted, math.log(len(feasible) - sum(left_out) + 2), extra
    shown = compress(values, map(not_, left_out)) if left_out else values
    domains = dict.fromkeys(filter(None, shown), 0)
    includes = _Inclusion(cycle.request)
    for name, number in here.items() if domains else ():
        there = cycle.cluster.get(name)
        if there is None or any(key not in there.labels for key in required):
            continue
        domain = there.labels.get(row.key, "")
        if domain in domains and includes(row, there):
            domains[domain] += number
    weight = math.log(len(domains) + 2)
    return [domains.get(value) if value else None for value in values], weight, extra
