"""How fast an autoscaler may go: stabilisation windows, policies, and the limits of its range.

Source: kubernetes v1.36 pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicas,
normalizeDesiredReplicasWithBehaviors), pkg/apis/autoscaling/v2/defaults.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

UP_FACTOR, UP_MINIMUM = 2, 4
"""Without a behaviour: at most twice as many at once, or four."""
_DOUBLE = {"type": "Percent", "value": 100, "periodSeconds": 15}
_FOUR = {"type": "Pods", "value": 4, "periodSeconds": 15}
_UP = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [_FOUR, _DOUBLE]}
_DOWN = {"selectPolicy": "Max", "policies": [_DOUBLE]}
IN_RANGE = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_MANY = (
    "TooManyReplicas",
    "the desired replica count is more than the maximum replica count",
)
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_UP_LIMIT = (
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
)
_DOWN_LIMIT = (
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
)
_READY = ("ReadyForNewScale", "recommended size matches current size")
_UP_STABILIZED = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_DOWN_STABILIZED = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, "
    "applying the highest recent recommendation",
)

Said = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Past:
    """So many replicas (recommended, added or removed) at a moment."""

    count: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What was recommended for one target lately, and what was added and removed."""

    recommended: tuple[Past, ...] = ()
    added: tuple[Past, ...] = ()
    removed: tuple[Past, ...] = ()

    def with_first(self, replicas: int, now: float) -> Memory:
        """The replicas found at the beginning count as recommended."""
        return self if self.recommended else replace(self, recommended=(Past(replicas, now),))

    def recommend(self, replicas: int, now: float, longest_s: float) -> Memory:
        """With one more recommendation, and without those that no window reaches."""
        kept = tuple(row for row in self.recommended if row.at >= now - longest_s)
        return replace(self, recommended=(*kept, Past(replicas, now)))

    def scaled(self, behavior: Mapping[str, Any], old: int, new: int, now: float) -> Memory:
        """With the change from ``old`` to ``new``, and without what no policy looks back to."""
        rows = self.added if new > old else self.removed
        policies = rules_of(behavior, up=new > old)["policies"]
        longest_s = max((row["periodSeconds"] for row in policies), default=0)
        kept = tuple(row for row in rows if row.at >= now - longest_s)
        rows = (*kept, Past(abs(new - old), now))
        return replace(self, added=rows) if new > old else replace(self, removed=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """The replicas after all limits; what AbleToScale and ScalingLimited say of it."""

    replicas: int
    able: Said
    limited: bool
    why: Said
    memory: Memory = field(default_factory=Memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """``desired`` replicas where there are ``current``, within ``least`` and ``most``."""

    current: int
    desired: int
    least: int
    most: int


def rules_of(behavior: Mapping[str, Any], *, up: bool) -> Mapping[str, Any]:
    """The rules of one direction, with the defaults of what is left out."""
    given = behavior.get("scaleUp" if up else "scaleDown") or {}
    present = {key: value for key, value in given.items() if value not in (None, [])}
    return {**(_UP if up else _DOWN), **present}


def normalize(wish: Wish, memory: Memory, now: float, downscale_window_s: float) -> Normal:
    """Without a behaviour: down to the highest of the window, up at a fixed rate at most."""
    recent = [row.count for row in memory.recommended if row.at >= now - downscale_window_s]
    stable = max([wish.desired, *recent])
    able = _READY if stable == wish.desired else _DOWN_STABILIZED
    up_limit = max(UP_FACTOR * wish.current, UP_MINIMUM)
    most, why = (up_limit, _UP_LIMIT) if wish.most > up_limit else (wish.most, _TOO_MANY)
    replicas, said = stable, IN_RANGE
    if stable < wish.least:
        replicas, said = wish.least, _TOO_FEW
    elif stable > most:
        replicas, said = most, why
    return Normal(
        replicas=replicas,
        able=able,
        limited=replicas != stable,
        why=said,
        memory=memory.recommend(wish.desired, now, downscale_window_s),
    )


def normalize_with(
    behavior: Mapping[str, Any],
    wish: Wish,
    memory: Memory,
    now: float,
    downscale_window_s: float,
    *,
    both_ways: bool = True,
) -> Normal:
    """As the behaviour says: stabilised first, then no faster than its policies allow.

    Not ``both_ways``: each way looks at its own window, and at its own changes.
    """
    desired = wish.desired
    up_s = rules_of(behavior, up=True)["stabilizationWindowSeconds"]
    down_s = rules_of(behavior, up=False).get("stabilizationWindowSeconds", downscale_window_s)
    lowest = min([wish.desired, *_since(memory.recommended, now - up_s)])
    highest = max([wish.desired, *_since(memory.recommended, now - down_s)])
    stable = min(max(wish.current, lowest), highest)
    if not both_ways:
        stable = lowest if wish.desired >= wish.current else highest
    stabilized = _UP_STABILIZED if wish.desired >= wish.current else _DOWN_STABILIZED
    wish = replace(wish, desired=stable)
    own = memory
    if not both_ways:
        own = replace(memory, removed=()) if stable > wish.current else replace(memory, added=())
    replicas, why = _limited(behavior, wish, own, now)
    return Normal(
        replicas=replicas,
        able=_READY if stable == desired else stabilized,
        limited=replicas != stable,
        why=why,
        memory=memory.recommend(desired, now, max(up_s, down_s)),
    )


def _since(rows: Sequence[Past], cutoff: float) -> list[int]:
    return [row.count for row in rows if row.at > cutoff]


def _limited(
    behavior: Mapping[str, Any], wish: Wish, memory: Memory, now: float
) -> tuple[int, Said]:
    current = wish.current
    if wish.desired > current:
        limit = max(current, _reach(rules_of(behavior, up=True), current, memory, now, up=True))
        most, why = (limit, _UP_LIMIT) if wish.most > limit else (wish.most, _TOO_MANY)
        if wish.desired > most:
            return most, why
    elif wish.desired < current:
        limit = min(current, _reach(rules_of(behavior, up=False), current, memory, now, up=False))
        least, why = (limit, _DOWN_LIMIT) if wish.least < limit else (wish.least, _TOO_FEW)
        if wish.desired < least:
            return least, why
    return wish.desired, IN_RANGE


def _reach(rules: Mapping[str, Any], current: int, memory: Memory, now: float, *, up: bool) -> int:
    """How far the policies let it go: the farthest of them, or with ``Min`` the nearest."""
    select = rules["selectPolicy"]
    if select == "Disabled":
        return current
    reaches: list[int] = []
    for policy in rules["policies"]:
        cutoff = now - policy["periodSeconds"]
        added, removed = (sum(_since(rows, cutoff)) for rows in (memory.added, memory.removed))
        start, value = current - added + removed, policy["value"]
        if policy["type"] == "Pods":
            reaches.append(start + value if up else start - value)
        elif up:
            reaches.append(math.ceil(start * (1 + value / 100)))
        else:
            reaches.append(int(start * (1 - value / 100)))
    farthest = up == (select != "Min")
    return max(reaches) if farthest else min(reaches)
