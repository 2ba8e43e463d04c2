"""One decision: the node for a pod, or why there is none.

Pure: the cluster's state and the pod in, a :class:`Decision` out. :class:`Search` finds the nodes
that will do, :func:`choose` takes the best of them; where there are none,
:mod:`plan_preemption` looks for room.
Source: kubernetes v1.34 pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from operator import add

from muntin.model import pods
from muntin.scheduler.plan_framework import Check, Cycle, Unfit
from muntin.scheduler.plan_memory import Memory
from muntin.scheduler.plan_messages import NO_NODES, fit_error
from muntin.scheduler.plan_nodes import NodeInfo, Object, PodInfo
from muntin.scheduler.plan_registry import Profile

MIN_FEASIBLE = 100
"""In a cluster larger than this, the search ends when enough nodes are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``node`` is empty when no node will do; then ``message`` and ``plugins`` say why.

    ``victims`` are to be removed to make room on ``nominated``; that is empty when the pod waits
    for no node any more, and None when it waits for the one that it waited for.
    """

    node: str = ""
    message: str = ""
    plugins: frozenset[str] = field(default_factory=frozenset)
    nominated: str | None = None
    victims: tuple[Object, ...] = ()


class Search:
    """The nodes that will do, and why the others will not."""

    def __init__(self, cycle: Cycle, profile: Profile, memory: Memory, start: int = 0) -> None:
        self.cycle, self.profile = cycle, profile
        self.feasible: list[NodeInfo] = []
        self.unfit: dict[str, Unfit] = {}
        self.nowhere: Unfit | None = None
        self.looked_at = 0
        self.checks: list[Check] = []
        self._kind = memory.kind(profile, cycle.request, cycle.cluster)
        self._prepare()
        if self.nowhere is None:
            self._run(start)

    def refusal(self, *, preemption: str | None = None) -> Decision:
        """The decision when nothing is feasible; ``preemption`` is what is said of that."""
        unfit, nowhere, total = self.unfit, self.nowhere, len(self.cycle.cluster)
        if not total:
            return Decision(message=NO_NODES)
        rows = unfit.values() if nowhere is None else (nowhere,)
        return Decision(
            message=fit_error(unfit, total, nowhere, preemption, self.cycle.request.words),
            plugins=frozenset(row.plugin for row in rows),
        )

    def nominated_node(self) -> str:
        """The node where room was made for the pod, or the empty text."""
        pod = self.cycle.request.pod
        named = self.cycle.cluster.nominated_node(pod["metadata"]["uid"])
        return named or str((pod.get("status") or {}).get("nominatedNodeName") or "")

    def why_not(self, info: NodeInfo, checks: Sequence[Check] | None = None) -> Unfit | None:
        """Why a node is out, worked out anew with these ``checks``: for what-ifs.

        Pods that wait for room on it and are at least as important count as if they were there.
        """
        checks = self.checks if checks is None else checks
        waiting = self._waiting_there(info)
        if waiting:
            crowded, moved = info.copy(), [check.copy() for check in checks]
            for pod in waiting:
                crowded.add(PodInfo(pod))
                for check in moved:
                    check.count(pod, crowded, 1)
            found = self._kind.why_not(self.cycle.request, crowded) or _first(moved, crowded)
            if found is not None:
                return found
        return self._kind.why_not(self.cycle.request, info) or _first(checks, info)

    def keep(self, names: Collection[str], refused: Mapping[str, Unfit]) -> None:
        """Of the feasible nodes leave these; ``refused`` says why the others are out."""
        self.feasible = [
            info for info in self.feasible if info.name in names and info.name not in refused
        ]
        self.unfit.update(refused)

    def base_scores(self) -> list[int]:
        """What each feasible node scores by itself."""
        base = self._kind.base
        return [base[info.number] for info in self.feasible]

    def scores(self) -> Iterator[tuple[Sequence[int], int]]:
        """The scores of the feasible nodes among each other, with their weights."""
        raw = iter(self._kind.raw)
        for plugin, weight in self.profile.scores:
            if plugin.raw is not None and plugin.normalize is not None:
                values = next(raw)
                if any(values):
                    yield plugin.normalize([values[info.number] for info in self.feasible]), weight
            if plugin.score is not None:
                found = plugin.score(self.cycle, self.feasible)
                if found is not None:
                    yield found, weight

    def _waiting_there(self, info: NodeInfo) -> list[Object]:
        request = self.cycle.request
        nominated = self.cycle.cluster.nominated.get(info.name)
        if not nominated:
            return []
        return [
            pod
            for uid, pod in nominated.items()
            if uid != request.pod["metadata"]["uid"] and pods.priority(pod) >= request.priority
        ]

    def _prepare(self) -> None:
        self._only: frozenset[str] | None = None
        self._only_by: list[str] = []
        for plugin in self.profile.filters:
            names = plugin.only(self.cycle.request) if plugin.only else None
            if names is not None:
                self._only = names if self._only is None else self._only & names
                self._only_by.append(plugin.name)
            found = plugin.filter(self.cycle) if plugin.filter else None
            if isinstance(found, Unfit):
                self.nowhere = found
                return
            if found is not None:
                self.checks.append(found)

    def _run(self, start: int) -> None:
        cluster = self.cycle.cluster
        nominated = cluster.get(self.nominated_node())
        if nominated is not None and self._take(nominated):
            return
        everyone = cluster.nodes
        if self._only is not None:
            found = [cluster.get(name) for name in sorted(self._only)]
            everyone = [info for info in found if info is not None]
        turn = start % len(everyone) if everyone else 0
        enough = _feasible_wanted(len(everyone), self.profile.percentage)
        self._look_at(everyone, turn, enough)
        if self._only is not None and not self.feasible:
            reason = f"node(s) didn't satisfy plugin(s) [{' '.join(self._only_by)}]"
            absent = Unfit(self._only_by[0], (reason,), final=True)
            for info in cluster.nodes:
                self.unfit.setdefault(info.name, absent)

    def _look_at(self, nodes: list[NodeInfo], turn: int, enough: int) -> None:
        """Take nodes from ``turn`` on until enough are feasible."""
        ordered = nodes[turn:] + nodes[:turn] if turn else nodes
        if not self.checks and not self.cycle.cluster.nominated and self._only is None:
            fits = self._kind.fits
            fits = fits[turn:] + fits[:turn] if turn else fits
            self.feasible = list(islice(compress(ordered, fits), enough))
            self.looked_at = len(ordered)
            if self.feasible and len(self.feasible) == enough:
                self.looked_at = (self.feasible[-1].number - turn) % len(nodes) + 1
            elif not self.feasible:
                reasons = self._kind.unfit
                self.unfit = {
                    info.name: row for info, row in zip(nodes, reasons, strict=True) if row
                }
            return
        for info in ordered:
            self._take(info)
            self.looked_at += 1
            if len(self.feasible) >= enough:
                return

    def _take(self, info: NodeInfo) -> bool:
        found = self._kind.unfit[info.number]
        if found is None:
            crowded = info.name in self.cycle.cluster.nominated
            found = self.why_not(info) if crowded else _first(self.checks, info)
        if found is not None:
            self.unfit[info.name] = found
            return False
        self.feasible.append(info)
        return True


def _first(checks: Sequence[Check], info: NodeInfo) -> Unfit | None:
    for check in checks:
        found = check(info)
        if found is not None:
            return found
    return None


def _feasible_wanted(count: int, percentage: int) -> int:
    """How many feasible nodes are enough to choose from (numFeasibleNodesToFind)."""
    if count < MIN_FEASIBLE:
        return count
    percentage = percentage or max(50 - count // 125, 5)
    return max(count * min(percentage, 100) // 100, MIN_FEASIBLE)


def choose(search: Search, extra: Mapping[str, int] | None = None) -> Decision:
    """The best of the feasible nodes; ``extra`` has, by node, what others add to its score."""
    feasible = search.feasible
    if len(feasible) == 1:
        return Decision(node=feasible[0].name)
    totals = search.base_scores()
    for scored, weight in search.scores():
        if weight == 1:
            totals = list(map(add, totals, scored))
        elif weight:
            totals = [total + weight * one for total, one in zip(totals, scored, strict=True)]
    if extra:
        totals = [
            total + extra.get(info.name, 0) for total, info in zip(totals, feasible, strict=True)
        ]
    highest = max(totals)
    best = [info for total, info in zip(totals, feasible, strict=True) if total == highest]
    return Decision(node=min(best, key=_crowd).name)


def _crowd(info: NodeInfo) -> int:
    return len(info.pods)
