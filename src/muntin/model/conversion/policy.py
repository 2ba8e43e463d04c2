"""Disruption budgets: in the beta version an empty selector is for no pod, in the stable for all.

A label that no pod has keeps either meaning in the other version.
Source: kubernetes v1.34 pkg/apis/policy/{helper.go,v1beta1/conversion.go,v1/conversion.go}.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_LABEL = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
_EVERY: Object = {}


def _only(operator: str) -> Object:
    return {"matchExpressions": [{"key": _LABEL, "operator": operator}]}


def newer_of(budget: Object) -> Object:
    """A budget in the form of policy/v1."""
    return _with_selector(budget, _EVERY, _only("Exists"), _only("DoesNotExist"))


def older_of(budget: Object) -> Object:
    """A budget in the form of policy/v1beta1."""
    return _with_selector(budget, _EVERY, _only("DoesNotExist"), _only("Exists"))


def _with_selector(budget: Object, empty: Object, instead: Object, reverse: Object) -> Object:
    spec = budget.get("spec") or {}
    if "selector" not in spec:
        return budget
    selector = spec["selector"]
    if selector == empty:
        return {**budget, "spec": {**spec, "selector": instead}}
    if selector == reverse:
        return {**budget, "spec": {**spec, "selector": {}}}
    return budget
