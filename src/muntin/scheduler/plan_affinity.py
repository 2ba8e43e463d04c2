"""Inter-pod affinity and anti-affinity: with whom a pod must, or must not, share a domain.

Source: kubernetes v1.36 pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring}.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from muntin.scheduler.plan_framework import MAX_SCORE, Check, Cycle, Unfit
from muntin.scheduler.plan_index import PREFERRED, REQUIRED, Term, TermGroup, terms_of
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo, Object

NAME = "InterPodAffinity"
Domain = tuple[str, str]


def affinity_filter(cycle: Cycle) -> Check | None:
    """The required terms of the pod, and those of others against it."""
    request = cycle.request
    wanted = _own(cycle, "podAffinity")
    refused = _own(cycle, "podAntiAffinity")
    against = [group for group in _meaning(cycle) if group.kind == "podAntiAffinity"]
    if not wanted and not refused and not any(group.required for group in against):
        return None
    check = AffinityCheck(cycle, wanted, refused)
    for group in against:
        if group.required:
            check.add_refusals(group.term.key, group.by_node)
    check.first = not check.together and all(
        term.matches(request.pod, cycle.namespaces) for term in wanted
    )
    return check


def _own(cycle: Cycle, kind: str) -> list[Term]:
    pod, namespace = cycle.request.pod, cycle.request.namespace
    return [Term(raw, namespace) for raw in terms_of(pod, kind, REQUIRED)]


def _meaning(cycle: Cycle) -> Iterable[TermGroup]:
    """The groups of terms of pods that are there which mean this pod."""
    pod, namespaces = cycle.request.pod, cycle.namespaces
    return [g for g in cycle.cluster.index.groups.values() if g.term.matches(pod, namespaces)]


def _domains(cluster: ClusterState, key: str, by_node: Mapping[str, int]) -> Counter[Domain]:
    """How many by the value that their node has for ``key``."""
    found: Counter[Domain] = Counter()
    for name, number in by_node.items():
        info = cluster.get(name)
        if info is not None and key in info.labels:
            found[(key, info.labels[key])] += number
    return found


def _by_node(cycle: Cycle, term: Term) -> Mapping[str, int]:
    """How many pods of those that ``term`` means are on each node."""
    spaces = sorted(term.namespaces(cycle.namespaces))
    counts = [cycle.cluster.index.counts(space, term.selector).everyone for space in spaces]
    if len(counts) == 1:
        return counts[0]
    total: Counter[str] = Counter()
    for rows in counts:
        total.update(rows)
    return total


class AffinityCheck(Check):
    """Domains where those are whom the pod wants, refuses, or is refused by."""

    def __init__(self, cycle: Cycle, wanted: Sequence[Term], refused: Sequence[Term]) -> None:
        self._cycle, self._wanted, self._refused = cycle, wanted, refused
        self.together: Counter[Domain] = Counter()
        self._occupied: Counter[Domain] = Counter()
        self._refused_by: Counter[Domain] = Counter()
        self._refusing: set[str] = set()
        self.first = False
        for term in refused:
            self._occupied.update(_domains(cycle.cluster, term.key, _by_node(cycle, term)))
        if wanted:
            matching = _by_node(cycle, wanted[0]) if len(wanted) == 1 else self._matching_all()
            for term in wanted:
                self.together.update(_domains(cycle.cluster, term.key, matching))

    def _matching_all(self) -> Mapping[str, int]:
        """By node, the pods that all wanted terms mean."""
        found: Counter[str] = Counter()
        spaces = self._cycle.namespaces
        candidates = set(_by_node(self._cycle, self._wanted[0]))
        for name in candidates:
            info = self._cycle.cluster.get(name)
            for other in info.pods.values() if info is not None else ():
                found[name] += all(term.matches(other.pod, spaces) for term in self._wanted)
        return +found

    def add_refusals(self, key: str, by_node: Mapping[str, int]) -> None:
        """Pods on these nodes do not want this pod in their domain of ``key``."""
        self._refusing.add(key)
        self._refused_by.update(_domains(self._cycle.cluster, key, by_node))

    def __call__(self, info: NodeInfo) -> Unfit | None:
        labels = info.labels
        for term in self._wanted:
            value = labels.get(term.key)
            if value is None or not (self.together.get((term.key, value)) or self.first):
                return self._unfit("node(s) didn't match pod affinity rules", final=True)
        for term in self._refused:
            if self._occupied.get((term.key, labels.get(term.key, ""))):
                return self._unfit("node(s) didn't match pod anti-affinity rules", final=False)
        for key in self._refusing:
            if self._refused_by.get((key, labels.get(key, ""))):
                reason = "node(s) didn't satisfy existing pods anti-affinity rules"
                return self._unfit(reason, final=False)
        return None

    def _unfit(self, reason: str, *, final: bool) -> Unfit:
        before = self._cycle.request.words.pod_affinity
        return Unfit(NAME, (*before, reason), final)

    def copy(self) -> Check:
        other = AffinityCheck.__new__(AffinityCheck)
        other.__dict__.update(self.__dict__)
        other.together, other._occupied = Counter(self.together), Counter(self._occupied)
        other._refused_by, other._refusing = Counter(self._refused_by), set(self._refusing)
        return other

    def count(self, pod: Object, info: NodeInfo, sign: int) -> None:
        spaces, labels = self._cycle.namespaces, info.labels
        if self._wanted and all(term.matches(pod, spaces) for term in self._wanted):
            for term in self._wanted:
                if term.key in labels:
                    self.together[(term.key, labels[term.key])] += sign
            self.first = self.first and not any(self.together.values())
        for term in self._refused:
            if term.key in labels and term.matches(pod, spaces):
                self._occupied[(term.key, labels[term.key])] += sign
        for raw in terms_of(pod, "podAntiAffinity", REQUIRED):
            term = Term(raw, pod["metadata"]["namespace"])
            if term.key in labels and term.matches(self._cycle.request.pod, spaces):
                self._refusing.add(term.key)
                self._refused_by[(term.key, labels[term.key])] += sign


# -- score ---------------------------------------------------------------------------------------


def affinity_scores(cycle: Cycle, feasible: Sequence[NodeInfo]) -> Sequence[int] | None:
    """0 to 100 for each feasible node by preferred terms: the pod's, and those of others."""
    domains = _own_preferences(cycle)
    args = cycle.args_of(NAME)
    if not args.get("ignorePreferredTermsOfExistingPods") or _prefers(cycle):
        for group in _meaning(cycle):
            weight = _weight(group, int(args.get("hardPodAffinityWeight", 1)))
            for domain, number in _domains(cycle.cluster, group.term.key, group.by_node).items():
                domains[domain] += weight * number
    if not domains:
        return None
    keys = {key for key, _ in domains}
    raw = [
        sum(domains.get((key, info.labels[key]), 0) for key in keys if key in info.labels)
        for info in feasible
    ]
    highest, lowest = max(raw), min(raw)
    if highest == lowest:
        return None
    return [int(MAX_SCORE * ((score - lowest) / (highest - lowest))) for score in raw]


def _prefers(cycle: Cycle) -> bool:
    pod = cycle.request.pod
    return any(terms_of(pod, kind, PREFERRED) for kind in ("podAffinity", "podAntiAffinity"))


def _own_preferences(cycle: Cycle) -> Counter[Domain]:
    pod, found = cycle.request.pod, Counter[Domain]()
    if not pod["spec"].get("affinity"):
        return found
    for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
        for row in terms_of(pod, kind, PREFERRED):
            term = Term(row["podAffinityTerm"], cycle.request.namespace)
            rows = _domains(cycle.cluster, term.key, _by_node(cycle, term))
            for domain, number in rows.items():
                found[domain] += sign * int(row["weight"]) * number
    return found


def _weight(group: TermGroup, hard: int) -> int:
    """What one pod with that term adds where it is; a required refusal is no preference."""
    if group.required:
        return hard if group.kind == "podAffinity" else 0
    return group.weight if group.kind == "podAffinity" else -group.weight
