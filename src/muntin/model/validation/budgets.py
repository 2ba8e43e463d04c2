"""Validation of pod disruption budgets and evictions.

Source: kubernetes v1.34 pkg/apis/policy/validation/validation.go.
"""

from __future__ import annotations

from muntin.model.validation.counts import at_most_all, not_negative, share
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import conditions, label_selector

_UNHEALTHY = ("AlwaysAllow", "IfHealthyBudget")
# Upstream shows a spec by the names of its own fields, and in their order.
_GO_NAMES = {
    "minAvailable": "MinAvailable",
    "selector": "Selector",
    "maxUnavailable": "MaxUnavailable",
    "unhealthyPodEvictionPolicy": "UnhealthyPodEvictionPolicy",
}


def disruption_budget(obj: Object, found: Findings) -> None:
    """A pod disruption budget."""
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {_GO_NAMES[name]: spec.get(name) for name in _GO_NAMES}
        found.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for field, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            share(value, f"spec.{field}", found)
            at_most_all(value, f"spec.{field}", found)
    label_selector(spec.get("selector"), "spec.selector", found)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _UNHEALTHY:
        found.not_supported("spec.unhealthyPodEvictionPolicy", policy, _UNHEALTHY)


def disruption_budget_status(new: Object, old: Object, found: Findings) -> None:
    """A budget's status."""
    status = new.get("status") or {}
    conditions(status.get("conditions") or (), "status.conditions", found)
    not_negative(
        status, "status", found, "disruptionsAllowed", "currentHealthy", "desiredHealthy",
        "expectedPods",
    )  # fmt: skip
