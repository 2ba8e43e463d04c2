"""The scopes of a quota: of which pods (or claims) it speaks.

Source: kubernetes v1.34 pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go,
pkg/apis/core/v1/helper/helpers.go (ScopedResourceSelectorRequirementsAsSelector).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model import pods

Object = Mapping[str, Any]

PRIORITY_CLASS = "PriorityClass"
VOLUME_ATTRIBUTES_CLASS = "VolumeAttributesClass"


def selectors(quota: Object) -> list[Object]:
    """The quota's scopes as requirements; all must match."""
    spec = quota.get("spec") or {}
    found: list[Object] = [
        {"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()
    ]
    found += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return found


def pod_matches(selector: Object, pod: Object) -> bool:
    """Whether a pod is of the scope."""
    scope = selector.get("scopeName")
    if scope in ("Terminating", "NotTerminating"):
        deadline = pod["spec"].get("activeDeadlineSeconds")
        ends = deadline is not None and int(deadline) >= 0
        return ends if scope == "Terminating" else not ends
    if scope in ("BestEffort", "NotBestEffort"):
        best_effort = pods.qos_class(pod) == pods.BEST_EFFORT
        return best_effort if scope == "BestEffort" else not best_effort
    if scope == PRIORITY_CLASS:
        name = pod["spec"].get("priorityClassName")
        return _matches_value(selector, [name] if name else [])
    if scope == "CrossNamespacePodAffinity":
        return any(map(_crosses, _terms(pod)))
    return False


def claim_matches(selector: Object, claim: Object) -> bool:
    """Whether a PersistentVolumeClaim is of the scope: by the classes it has or will have."""
    if selector.get("scopeName") != VOLUME_ATTRIBUTES_CLASS:
        return False
    status = claim.get("status") or {}
    names = [
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    ]
    values = [name for name in names if name]
    if selector.get("operator") in ("NotIn", "DoesNotExist"):
        return _matches_value(selector, values)
    return any(_matches_value(selector, [value]) for value in values)


def _matches_value(selector: Object, names: list[str]) -> bool:
    operator, values = selector.get("operator"), selector.get("values") or ()
    found = any(name in values for name in names)
    if operator == "Exists":
        return bool(names)
    if operator == "DoesNotExist":
        return not names
    return found if operator == "In" else not found


def _terms(pod: Object) -> Iterator[Object]:
    affinity = pod["spec"].get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for row in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield row.get("podAffinityTerm") or {}


def _crosses(term: Object) -> bool:
    return bool(term.get("namespaces")) or term.get("namespaceSelector") is not None
