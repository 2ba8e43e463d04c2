"""Resource quotas: what objects use, and whether a change still fits.

``check`` judges one request against the quotas of its namespace; ``usage`` adds up a namespace.
Both admission and the quota controller decide by these rules.
Source: apiserver v1.34 pkg/admission/plugin/resourcequota/controller.go (CheckRequest),
pkg/quota/v1/generic/evaluator.go (CalculateUsageStats).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import Forbidden
from muntin.model.quota import amounts, scopes
from muntin.model.quota.amounts import Amounts
from muntin.model.quota.evaluators import Evaluator, counted, evaluator

__all__ = ["Ask", "Evaluator", "amounts", "check", "counted", "evaluator", "hard_of", "used"]

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request: the new object, for an update the old one, and by which rules it counts."""

    rules: Evaluator
    obj: Object
    old: Object | None
    now: float


def check(quotas: Sequence[Object], ask: Ask) -> dict[int, Amounts]:
    """The new ``status.used`` of the quotas that the request changes, by their position.

    Raises:
        Forbidden: with the words after ``is forbidden:``.
    """
    rules, touched = ask.rules, []
    for index, quota in enumerate(quotas):
        hard = (quota.get("status") or {}).get("hard") or {}
        if not rules.matches(quota, hard, ask.obj):
            continue
        _require(quota, rules, ask.obj, hard)
        touched.append(index)
    if not touched:
        return {}
    usage = rules.usage(ask.obj, ask.now)
    below = amounts.negative(usage)
    if below:
        raise Forbidden(f"quota usage is negative for resource(s): {','.join(below)}")
    result = {}
    for index in touched:
        more = amounts.nonzero(_more(quotas[index], ask, usage))
        changed = _added(quotas[index], more)
        if changed is not None:
            result[index] = changed
    return result


def _require(quota: Object, rules: Evaluator, obj: Object, hard: Mapping[str, str]) -> None:
    """What the quota wants objects to say, and itself to know."""
    name = quota["metadata"]["name"]
    limited = rules.tracked(hard)
    problem = rules.problem(obj, limited)
    if problem:
        raise Forbidden(f"failed quota: {name}: {problem}")
    known = (quota.get("status") or {}).get("used") or {}
    if any(row not in known for row in limited):
        text = f"status unknown for quota: {name}, resources: {','.join(sorted(limited))}"
        raise Forbidden(text)


def _more(quota: Object, ask: Ask, usage: Amounts) -> Amounts:
    """What the request uses on top of what is used already."""
    if ask.old is None:
        return usage
    hard = (quota.get("status") or {}).get("hard") or {}
    if not ask.rules.matches(quota, hard, ask.old):
        return usage
    return amounts.difference(usage, ask.rules.usage(ask.old, ask.now))


def _added(quota: Object, more: Amounts) -> Amounts | None:
    status = quota["status"]
    hard, used = amounts.parse(status["hard"]), amounts.parse(status.get("used"))
    asked = amounts.only(more, hard)
    if not asked:
        return None
    after = amounts.total(used, asked)
    over = amounts.exceeding(amounts.only(after, asked), hard)
    if over:
        raise Forbidden(
            f"exceeded quota: {quota['metadata']['name']}, requested: "
            f"{amounts.shown(asked, over)}, used: {amounts.shown(used, over)}, limited: "
            f"{amounts.shown(hard, over)}"
        )
    return after


def hard_of(quota: Object) -> Amounts:
    """What a quota's spec allows."""
    return amounts.parse((quota.get("spec") or {}).get("hard"))


def used(quota: Object, objects: Mapping[str, Iterable[Object]], now: float) -> Amounts:
    """What the objects of the quota's namespace, by resource, use of what it limits."""
    hard = hard_of(quota)
    result = dict.fromkeys(hard, amounts.ZERO)
    selectors = scopes.selectors(quota)
    for resource, rows in objects.items():
        rules = evaluator(resource)
        names = rules.tracked(hard) if rules is not None else []
        if rules is None or not names:
            continue
        for obj in rows:
            if all(rules.in_scope(selector, obj) for selector in selectors):
                result = amounts.total(result, amounts.only(rules.usage(obj, now), names))
    return result
