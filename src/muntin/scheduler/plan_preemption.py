"""Whom to remove so that a more important pod fits, and on which node.

Only pods of a lower priority leave, as few and as unimportant as possible, and those that a
PodDisruptionBudget protects last. Source: kubernetes v1.36 pkg/scheduler/framework/preemption and
framework/plugins/defaultpreemption.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from muntin.model import pods, times
from muntin.model.selectors import labels_of
from muntin.scheduler.plan import Decision, Search
from muntin.scheduler.plan_messages import NEVER, NO_VICTIMS, TERMINATING, no_candidates
from muntin.scheduler.plan_nodes import NodeInfo, Object, PodInfo

NAME = "DefaultPreemption"
DISRUPTION_TARGET, BY_SCHEDULER = "DisruptionTarget", "PreemptionByScheduler"
_MIN_PERCENTAGE, _MIN_ABSOLUTE = 10, 100
"""How many candidate nodes are enough: of those where it may help, and at least."""
_ABOVE_ALL = 2**31
"""Makes every priority positive, so that fewer victims are never the worse choice."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and the pods to remove there, the most important first.

    ``violations`` of them are protected by a budget that allows no more disruptions.
    """

    node: str
    victims: tuple[Object, ...]
    violations: int = 0


@dataclass(frozen=True, slots=True)
class Room:
    """Where room could be made; without a candidate, ``message`` says why not.

    ``eligible``: the pod may preempt at all now; if not, its nomination stays as it is.
    """

    candidates: tuple[Candidate, ...] = ()
    message: str = ""
    eligible: bool = True


def find_room(search: Search, budgets: Sequence[Object], *, offset: int = 0) -> Room:
    """The nodes that would do if pods left; ``offset`` is the one to begin with."""
    reason = _not_eligible(search)
    if reason:
        return Room(message=reason, eligible=False)
    possible = [info for info in search.cycle.cluster.nodes if _may_help(search, info)]
    wanted = _candidates_wanted(search, len(possible))
    turn = offset % len(possible) if possible else 0
    good: list[Candidate] = []
    violating: list[Candidate] = []
    reasons: dict[str, tuple[str, ...]] = {}
    for info in possible[turn:] + possible[:turn]:
        found = _victims_on(search, info, budgets)
        if isinstance(found, Candidate):
            (violating if found.violations else good).append(found)
            if good and len(good) + len(violating) >= wanted:
                break
        else:
            reasons[info.name] = found
    if good or violating:
        return Room((*good, *violating))
    return Room(message=no_candidates(reasons, len(search.cycle.cluster)))


def decide(search: Search, room: Room) -> Decision:
    """The decision of a search without feasible nodes, once it is known where room can be made."""
    best = pick(room.candidates)
    if best is not None:
        refusal = search.refusal()
        return Decision(
            message=refusal.message,
            plugins=refusal.plugins,
            nominated=best.node,
            victims=best.victims,
        )
    refusal = search.refusal(preemption=room.message)
    return Decision(
        message=refusal.message,
        plugins=refusal.plugins,
        nominated="" if room.eligible else None,
    )


def pick(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate that hurts least: by budgets, priorities, number, and time of running."""
    left = list(candidates)
    measures: tuple[Callable[[Candidate], float], ...] = (
        lambda one: one.violations,
        lambda one: pods.priority(one.victims[0]),
        lambda one: sum(pods.priority(victim) + _ABOVE_ALL for victim in one.victims),
        lambda one: len(one.victims),
        lambda one: -_earliest_start(one.victims),
    )
    for measure in measures:
        if len(left) < 2:
            break
        values = [measure(one) for one in left]
        least = min(values)
        left = [one for one, value in zip(left, values, strict=True) if value == least]
    return left[0] if left else None


def _not_eligible(search: Search) -> str:
    request, cluster = search.cycle.request, search.cycle.cluster
    if request.spec.get("preemptionPolicy") == "Never":
        return NEVER
    name = search.nominated_node()
    unfit = search.nowhere or search.unfit.get(name)
    info = cluster.get(name) if name else None
    if info is None or (unfit is not None and unfit.final):
        return ""
    by_condition = request.words.disruption_target
    for found in info.pods.values():
        if pods.priority(found.pod) < request.priority and _leaves(found.pod, by_condition):
            return TERMINATING
    return ""


def _leaves(pod: Object, by_condition: bool) -> bool:
    """Whether the pod is on its way out, by preemption where its conditions tell that."""
    if not pods.is_deleting(pod):
        return False
    if not by_condition:
        return True
    row = pods.condition(pod, DISRUPTION_TARGET) or {}
    return row.get("status") == "True" and row.get("reason") == BY_SCHEDULER


def _may_help(search: Search, info: NodeInfo) -> bool:
    unfit = search.nowhere or search.unfit.get(info.name)
    return unfit is not None and not unfit.final


def _candidates_wanted(search: Search, possible: int) -> int:
    args = search.cycle.args_of(NAME)
    percentage = int(args.get("minCandidateNodesPercentage", _MIN_PERCENTAGE))
    absolute = int(args.get("minCandidateNodesAbsolute", _MIN_ABSOLUTE))
    return min(max(possible * percentage // 100, absolute), possible)


# -- one node ------------------------------------------------------------------------------------


def _victims_on(
    search: Search, info: NodeInfo, budgets: Sequence[Object]
) -> Candidate | tuple[str, ...]:
    """The smallest set of pods to remove from the node; or why that would not help."""
    priority = search.cycle.request.priority
    lower = [found for found in info.pods.values() if pods.priority(found.pod) < priority]
    if not lower:
        return (NO_VICTIMS,)
    trial = _WhatIf(search, info)
    for found in lower:
        trial.move(found, -1)
    unfit = search.why_not(trial.info, trial.checks)
    if unfit is not None:
        return unfit.reasons
    lower.sort(key=_importance)
    protected, others = _by_budgets(lower, budgets)
    victims: list[PodInfo] = []
    violations = 0
    for found in (*protected, *others):
        trial.move(found, 1)
        if search.why_not(trial.info, trial.checks) is not None:
            trial.move(found, -1)
            victims.append(found)
            violations += any(found is one for one in protected)
    victims.sort(key=_importance)
    return Candidate(info.name, tuple(found.pod for found in victims), violations)


class _WhatIf:
    """A node and the checks as if some pods were not there."""

    def __init__(self, search: Search, info: NodeInfo) -> None:
        self.info = info.copy()
        self.checks = [check.copy() for check in search.checks]

    def move(self, found: PodInfo, sign: int) -> None:
        """The pod leaves (-1) or comes back (+1)."""
        if sign < 0:
            self.info.remove(found.pod["metadata"]["uid"])
        else:
            self.info.add(found)
        for check in self.checks:
            check.count(found.pod, self.info, sign)


def _started(pod: Object) -> float:
    started = times.seconds_of((pod.get("status") or {}).get("startTime"))
    return float("inf") if started is None else started  # not started yet: as if now


def _importance(found: PodInfo) -> tuple[int, float]:
    """Orders by what matters more: the priority, then how long it runs."""
    return -pods.priority(found.pod), _started(found.pod)


def _earliest_start(victims: Sequence[Object]) -> float:
    """When the first of the most important victims started."""
    highest = pods.priority(victims[0])
    return min(_started(pod) for pod in victims if pods.priority(pod) == highest)


def _by_budgets(
    found: Sequence[PodInfo], budgets: Sequence[Object]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """Those whose removal a budget does not allow, and the others; each in the order given."""
    left = [int((row.get("status") or {}).get("disruptionsAllowed") or 0) for row in budgets]
    protected: list[PodInfo] = []
    others: list[PodInfo] = []
    for one in found:
        violated = False
        for at, budget in enumerate(budgets):
            if _covers(budget, one.pod):
                left[at] -= 1
                violated = violated or left[at] < 0
        (protected if violated else others).append(one)
    return protected, others


def _covers(budget: Object, pod: Object) -> bool:
    """Whether removing the pod takes from the budget; one that was evicted has done so."""
    meta = pod["metadata"]
    if not meta.get("labels") or budget["metadata"]["namespace"] != meta["namespace"]:
        return False
    selector = labels_of(budget["spec"].get("selector"))
    if selector.is_everything or not selector.matches(meta["labels"]):
        return False
    return meta["name"] not in ((budget.get("status") or {}).get("disruptedPods") or {})
