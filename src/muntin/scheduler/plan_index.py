"""Counts of pods by what spreading and inter-pod affinity ask for, kept up as pods come and go.

A count is made the first time that a selector is asked for and then follows every change. Terms of
pods that are there are grouped: a thousand replicas with the same wish are one group.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from muntin.model import pods
from muntin.model.selectors import Selector, labels_of

Object = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REMEMBERED = 4096
"""Selectors whose counts are kept; the one asked for longest ago is dropped."""
NamespaceLabels = Mapping[str, Mapping[str, str]]
_Pair = tuple[str, str, str]


def terms_of(pod: Object, kind: str, strength: str) -> list[Object]:
    """The pod's terms of ``podAffinity`` or ``podAntiAffinity``, required or preferred."""
    affinity = pod["spec"].get("affinity") or {}
    return list((affinity.get(kind) or {}).get(strength) or ())


class Term:
    """One PodAffinityTerm of a pod in ``namespace``: which pods it means, in which domains."""

    __slots__ = ("_by_label", "_names", "key", "selector")

    def __init__(self, term: Object, namespace: str) -> None:
        self.key: str = term["topologyKey"]
        self.selector = labels_of(term.get("labelSelector"))
        self._names = frozenset(term.get("namespaces") or ())
        by_label = term.get("namespaceSelector")
        self._by_label = None if by_label is None else labels_of(by_label)
        if not self._names and by_label is None:
            self._names = frozenset((namespace,))

    def namespaces(self, known: NamespaceLabels) -> frozenset[str]:
        """The namespaces whose pods it means."""
        if self._by_label is None:
            return self._names
        found = (name for name, labels in known.items() if self._by_label.matches(labels))
        return self._names.union(found)

    def matches(self, pod: Object, known: NamespaceLabels) -> bool:
        """Whether ``pod`` is one of those it means."""
        meta = pod["metadata"]
        if not self.selector.matches(meta.get("labels")):
            return False
        namespace = meta["namespace"]
        if namespace in self._names:
            return True
        return self._by_label is not None and self._by_label.matches(known.get(namespace) or {})


class Placed:
    """What is kept of a pod on a node: no state of it is held for longer than it is the newest."""

    __slots__ = ("labels", "node", "stays")

    def __init__(self, pod: Object, node: str) -> None:
        self.labels: Mapping[str, str] = pod["metadata"].get("labels") or _NO_LABELS
        self.stays = not pods.is_deleting(pod)
        self.node = node


_NO_LABELS: Mapping[str, str] = {}


class PodCounts:
    """How many pods that a selector means are on each node.

    ``everyone`` has all of them, ``staying`` those that are not being deleted.
    """

    __slots__ = ("everyone", "selector", "staying")

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.everyone: dict[str, int] = {}
        self.staying: dict[str, int] = {}

    def add(self, placed: Placed, sign: int) -> None:
        """Count a pod that the selector means."""
        _count(self.everyone, placed.node, sign)
        if placed.stays:
            _count(self.staying, placed.node, sign)


def _count(counts: dict[str, int], node: str, sign: int) -> None:
    number = counts.get(node, 0) + sign
    if number:
        counts[node] = number
    else:
        counts.pop(node, None)


class TermGroup:
    """One term that pods on nodes have: by node, how many; ``weight`` of a preferred one."""

    __slots__ = ("by_node", "kind", "required", "term", "weight")

    def __init__(self, kind: str, term: Term, weight: int, *, required: bool) -> None:
        self.kind, self.term, self.weight, self.required = kind, term, weight, required
        self.by_node: dict[str, int] = {}


class PodIndex:
    """Pods on nodes by label, by the selectors that were asked for, and by their own terms."""

    def __init__(self) -> None:
        self.groups: dict[tuple[object, ...], TermGroup] = {}
        self._by_pair: dict[_Pair, dict[str, Placed]] = {}
        self._in_namespace: dict[str, dict[str, Placed]] = {}
        self._counts: OrderedDict[tuple[str, Selector], PodCounts] = OrderedDict()
        self._watching: dict[_Pair | str, dict[Selector, PodCounts]] = {}

    def add(self, pod: Object, node: str) -> None:
        """A pod is on ``node``."""
        self._set(pod, node, 1)

    def remove(self, pod: Object, node: str) -> None:
        """A pod that was added is there no more."""
        self._set(pod, node, -1)

    def change(self, old: Object, new: Object, node: str) -> None:
        """A pod that was added has a new state."""
        before, after = old["metadata"], new["metadata"]
        if before.get("labels") == after.get("labels") and pods.is_deleting(
            old
        ) == pods.is_deleting(new):
            return
        self.remove(old, node)
        self.add(new, node)

    def counts(self, namespace: str, selector: Selector) -> PodCounts:
        """The counts of the pods of ``namespace`` that ``selector`` means, from now on."""
        key = (namespace, selector)
        found = self._counts.get(key)
        if found is not None:
            self._counts.move_to_end(key)
            return found
        found = self._counts[key] = PodCounts(selector)
        self._watching.setdefault(self._anchor(namespace, selector), {})[selector] = found
        for placed in self._candidates(namespace, selector).values():
            if selector.matches(placed.labels):
                found.add(placed, 1)
        if len(self._counts) > REMEMBERED:
            (where, gone), _ = self._counts.popitem(last=False)
            anchor = self._anchor(where, gone)
            self._watching[anchor].pop(gone)
            if not self._watching[anchor]:
                del self._watching[anchor]
        return found

    def _anchor(self, namespace: str, selector: Selector) -> _Pair | str:
        """What a pod must have to be looked at for the selector: a label, or its namespace."""
        exact = selector.exact()
        if not exact:
            return namespace
        key = max(exact, key=lambda name: (len(exact[name]), name))  # long values are rare ones
        return (namespace, key, exact[key])

    def _candidates(self, namespace: str, selector: Selector) -> dict[str, Placed]:
        exact = selector.exact()
        if not exact:
            return self._in_namespace.get(namespace, {})
        rows = [self._by_pair.get((namespace, *pair), {}) for pair in exact.items()]
        return min(rows, key=len)

    def _set(self, pod: Object, node: str, sign: int) -> None:
        meta = pod["metadata"]
        namespace, uid = meta["namespace"], meta["uid"]
        placed = Placed(pod, node)
        self._place(self._in_namespace, namespace, uid, placed, sign)
        self._count_watched(namespace, placed, sign)
        for name, value in placed.labels.items():
            pair = (namespace, name, value)
            self._place(self._by_pair, pair, uid, placed, sign)
            self._count_watched(pair, placed, sign)
        if pod["spec"].get("affinity"):
            self._group(pod, node, sign)

    def _place(
        self, into: dict[Any, dict[str, Placed]], key: object, uid: str, placed: Placed, sign: int
    ) -> None:
        rows = into.get(key)
        if sign > 0:
            if rows is None:
                rows = into[key] = {}
            rows[uid] = placed
        elif rows is not None:
            rows.pop(uid, None)
            if not rows:
                del into[key]

    def _count_watched(self, anchor: _Pair | str, placed: Placed, sign: int) -> None:
        for found in self._watching.get(anchor, {}).values():
            if found.selector.matches(placed.labels):
                found.add(placed, sign)

    def _group(self, pod: Object, node: str, sign: int) -> None:
        for key, raw, kind, required, weight in _own_terms(pod):
            group = self.groups.get(key)
            if group is None:
                term = Term(raw, pod["metadata"]["namespace"])
                group = self.groups[key] = TermGroup(kind, term, weight, required=required)
            _count(group.by_node, node, sign)
            if not group.by_node:
                del self.groups[key]


def _own_terms(pod: Object) -> Iterator[tuple[tuple[object, ...], Object, str, bool, int]]:
    """Each term of the pod with what tells it from others."""
    namespace = pod["metadata"]["namespace"]
    for kind in ("podAffinity", "podAntiAffinity"):
        for raw in terms_of(pod, kind, REQUIRED):
            key = (kind, namespace, 0, orjson.dumps(raw, option=orjson.OPT_SORT_KEYS))
            yield key, raw, kind, True, 0
        for row in terms_of(pod, kind, PREFERRED):
            raw, weight = row["podAffinityTerm"], int(row["weight"])
            key = (kind, namespace, weight, orjson.dumps(raw, option=orjson.OPT_SORT_KEYS))
            yield key, raw, kind, False, weight
