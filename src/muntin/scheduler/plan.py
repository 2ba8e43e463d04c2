"""One decision: the node for a pod, or why there is none.

Pure: the cluster's state and the pod in, a :class:`Decision` out. :class:`Search` finds the nodes
that will do, :func:`choose` takes the best of them; where there are none,
:mod:`plan_preemption` looks for room.
Source: kubernetes v1.34 pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from muntin.model import pods
from muntin.scheduler.plan_framework import Check, Cycle, Unfit
from muntin.scheduler.plan_memory import Memory, Row
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
        self.rows: list[Row] = []
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
            found = self._kind.unfit(self.cycle.request, crowded) or _first(moved, crowded)
            if found is not None:
                return found
        return self._kind.unfit(self.cycle.request, info) or _first(checks, info)

    def keep(self, names: Collection[str], refused: Mapping[str, Unfit]) -> None:
        """Of the feasible nodes leave these; ``refused`` says why the others are out."""
        kept = [
            (info, row)
            for info, row in zip(self.feasible, self.rows, strict=True)
            if info.name in names and info.name not in refused
        ]
        self.feasible, self.rows = [info for info, _ in kept], [row for _, row in kept]
        self.unfit.update(refused)

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
        self._look_at(everyone[turn:] + everyone[:turn] if turn else everyone, enough)
        if self._only is not None and not self.feasible:
            reason = f"node(s) didn't satisfy plugin(s) [{' '.join(self._only_by)}]"
            absent = Unfit(self._only_by[0], (reason,), final=True)
            for info in cluster.nodes:
                self.unfit.setdefault(info.name, absent)

    def _look_at(self, nodes: Sequence[NodeInfo], enough: int) -> None:
        """Take nodes until enough are feasible; the loop that decides how fast all is."""
        rows, crowded, checks = self._kind.rows, self.cycle.cluster.nominated, self.checks
        feasible, chosen = self.feasible, self.rows
        for info in nodes:
            if info.name in crowded or checks:
                self._take(info)
            else:
                row = rows.get(info.name)
                if row is None or row.generation != info.generation:
                    row = self._kind.work_out(self.cycle.request, info, self.cycle.cluster)
                if row.unfit is None:
                    feasible.append(info)
                    chosen.append(row)
                else:
                    self.unfit[info.name] = row.unfit
            self.looked_at += 1
            if len(feasible) >= enough:
                return

    def _take(self, info: NodeInfo) -> bool:
        row = self._kind.rows.get(info.name)
        if row is None or row.generation != info.generation:
            row = self._kind.work_out(self.cycle.request, info, self.cycle.cluster)
        found = row.unfit
        if found is None:
            crowded = info.name in self.cycle.cluster.nominated
            found = self.why_not(info) if crowded else _first(self.checks, info)
        if found is not None:
            self.unfit[info.name] = found
            return False
        self.feasible.append(info)
        self.rows.append(row)
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
    feasible, rows = search.feasible, search.rows
    if len(feasible) == 1:
        return Decision(node=feasible[0].name)
    totals = [row.base for row in rows]
    at = 0
    for plugin, weight in search.profile.scores:
        scored: Sequence[int] | None = None
        if plugin.raw is not None and plugin.normalize is not None:
            raw = [row.raw[at] for row in rows]
            scored = plugin.normalize(raw) if any(raw) else None
            at += 1
        if plugin.score is not None:
            scored = plugin.score(search.cycle, feasible)
        if scored is not None and weight:
            totals = [total + weight * one for total, one in zip(totals, scored, strict=True)]
    if extra:
        totals = [
            total + extra.get(info.name, 0) for total, info in zip(totals, feasible, strict=True)
        ]
    highest = max(totals)
    best = [info for total, info in zip(totals, feasible, strict=True) if total == highest]
    return Decision(node=min(best, key=lambda info: len(info.pods)).name)
