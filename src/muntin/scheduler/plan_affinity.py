"""Inter-pod affinity and anti-affinity: with whom a pod must, or must not, share a domain.

Source: kubernetes v1.34 pkg/scheduler/framework/plugins/interpodaffinity/{filtering,scoring}.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from muntin.model.selectors import labels_of
from muntin.scheduler.plan_filters import Request, Unfit
from muntin.scheduler.plan_nodes import NodeInfo, Object

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NamespaceLabels = Mapping[str, Mapping[str, str]]
Domain = tuple[str, str]


def terms_of(pod: Object, kind: str, strength: str) -> list[Object]:
    """The pod's terms of ``podAffinity`` or ``podAntiAffinity``, required or preferred."""
    affinity = pod["spec"].get("affinity") or {}
    return list((affinity.get(kind) or {}).get(strength) or ())


class Term:
    """One PodAffinityTerm of ``owner``: which pods it means, in which domains."""

    def __init__(self, term: Object, owner: Object, namespaces: NamespaceLabels) -> None:
        self.key: str = term["topologyKey"]
        self._selector = labels_of(term.get("labelSelector"))
        self._names = set(term.get("namespaces") or ())
        by_label = term.get("namespaceSelector")
        if not self._names and by_label is None:
            self._names = {owner["metadata"]["namespace"]}
        elif by_label is not None:
            wanted = labels_of(by_label)
            self._names |= {name for name, labels in namespaces.items() if wanted.matches(labels)}

    def matches(self, pod: Object) -> bool:
        """Whether ``pod`` is one of those it means."""
        meta = pod["metadata"]
        return meta["namespace"] in self._names and self._selector.matches(meta.get("labels"))


class AffinityFilter:
    """The required terms of one pod, and those of others against it."""

    def __init__(
        self, request: Request, nodes: Iterable[NodeInfo], namespaces: NamespaceLabels
    ) -> None:
        pod = request.pod
        self._wanted = [Term(t, pod, namespaces) for t in terms_of(pod, "podAffinity", REQUIRED)]
        self._refused = [
            Term(t, pod, namespaces) for t in terms_of(pod, "podAntiAffinity", REQUIRED)
        ]
        self._refused_by: set[Domain] = set()
        self._occupied: set[Domain] = set()
        self._together: Counter[Domain] = Counter()
        for info in nodes:
            self._look_at(info, pod, namespaces)
        self._first = not self._together and all(term.matches(pod) for term in self._wanted)

    def _look_at(self, info: NodeInfo, pod: Object, namespaces: NamespaceLabels) -> None:
        labels = info.labels
        for other in info.with_affinity.values():
            for raw in terms_of(other, "podAntiAffinity", REQUIRED):
                term = Term(raw, other, namespaces)
                if term.key in labels and term.matches(pod):
                    self._refused_by.add((term.key, labels[term.key]))
        if not self._wanted and not self._refused:
            return
        for other in info.pods.values():
            if self._wanted and all(term.matches(other) for term in self._wanted):
                for key in {term.key for term in self._wanted} & labels.keys():
                    self._together[(key, labels[key])] += 1
            for term in self._refused:
                if term.key in labels and term.matches(other):
                    self._occupied.add((term.key, labels[term.key]))

    def __call__(self, info: NodeInfo) -> Unfit | None:
        """Why the node is out, if it is."""
        labels = info.labels
        for term in self._wanted:
            value = labels.get(term.key)
            if value is None or not (self._together[(term.key, value)] or self._first):
                return _unfit("node(s) didn't match pod affinity rules", final=True)
        for term in self._refused:
            if (term.key, labels.get(term.key)) in self._occupied:
                return _unfit("node(s) didn't match pod anti-affinity rules", final=False)
        if any(labels.get(key) == value for key, value in self._refused_by):
            return _unfit("node(s) didn't satisfy existing pods anti-affinity rules", final=False)
        return None


def _unfit(reason: str, *, final: bool) -> Unfit:
    return Unfit("InterPodAffinity", (reason,), final)


def affinity_scores(
    request: Request,
    everyone: Sequence[NodeInfo],
    feasible: Sequence[NodeInfo],
    namespaces: NamespaceLabels,
) -> dict[str, float]:
    """0 to 100 for each feasible node by the pod's preferred terms; empty without any."""
    weighted: list[tuple[int, Term]] = []
    for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
        for row in terms_of(request.pod, kind, PREFERRED):
            term = Term(row["podAffinityTerm"], request.pod, namespaces)
            weighted.append((sign * int(row["weight"]), term))
    if not weighted:
        return {}
    domains: Counter[Domain] = Counter()
    for info in everyone:
        labels = info.labels
        for pod in info.pods.values():
            for weight, term in weighted:
                if term.key in labels and term.matches(pod):
                    domains[(term.key, labels[term.key])] += weight
    keys = {term.key for _, term in weighted}
    raw = {
        info.name: sum(domains[(key, info.labels[key])] for key in keys & info.labels.keys())
        for info in feasible
    }
    highest, lowest = max(raw.values()), min(raw.values())
    if highest == lowest:
        return {}
    return {name: 100 * (score - lowest) / (highest - lowest) for name, score in raw.items()}
