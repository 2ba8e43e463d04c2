"""Validation of LimitRanges and ResourceQuotas.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateLimitRange,
ValidateResourceQuota*), pkg/apis/core/helper/helpers.go.
"""

from __future__ import annotations

from typing import Any

from muntin.model import names, quantity
from muntin.model.validation.amounts import (
    NANO,
    container_resource_name,
    is_standard_quota,
    may_overcommit,
    quota_resource_name,
    resource_name,
    resource_quantity,
)
from muntin.model.validation.findings import Findings, Object

_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_BOUNDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_SCOPES = (
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
    "CrossNamespacePodAffinity", "VolumeAttributesClass",
)  # fmt: skip
_EXISTS_ONLY = (
    "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity",
)  # fmt: skip
_PAIRS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_POD_RESOURCES = frozenset(
    {"pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
     "ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage"}
)  # fmt: skip
_CLAIM_RESOURCES = frozenset({"persistentvolumeclaims", "requests.storage"})
_EXISTS_TEXT = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def limit_range(obj: Object, found: Findings) -> None:
    """A limit range: one item of each type, and its bounds agree."""
    seen: set[Any] = set()
    for index, row in enumerate((obj.get("spec") or {}).get("limits") or ()):
        path, kind = f"spec.limits[{index}]", row.get("type") or ""
        problems = names.qualified_name(kind)
        found.each_invalid(f"{path}.type", kind, problems)
        if not problems and "/" not in kind and kind not in _TYPES:
            text = "must be a standard limit type or fully qualified"
            found.invalid(f"{path}.type", kind, text)
        found.unique(f"{path}.type", kind, seen)
        _limit(row, kind, path, found)


def _limit(row: Object, kind: str, path: str, found: Findings) -> None:
    rule = container_resource_name if kind in ("Pod", "Container") else resource_name
    bounds: dict[str, dict[str, str]] = {}
    for field in _BOUNDS:
        values = row.get(field) or {}
        if kind == "Pod" and field in ("default", "defaultRequest"):
            if values:
                found.forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
            continue
        if field == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim":
            _storage_bounds(row, path, found)
        for name, text in values.items():
            rule(name, f"{path}.{field}[{name}]", found)
            bounds.setdefault(name, {})[field] = text
    for name, by_field in bounds.items():
        _agree(name, by_field, path, found)


def _storage_bounds(row: Object, path: str, found: Findings) -> None:
    if all("storage" not in (row.get(key) or {}) for key in ("min", "max")):
        text = "either minimum or maximum storage value is required, but neither was provided"
        found.required(f"{path}.limits", text)


# (lower, higher, whose field and value is shown, text of both)
_ORDERS = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest",
     "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest",
     "default request value {} is greater than max value {}"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest",
     "default request value {} is greater than default limit value {}"),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)  # fmt: skip


def _agree(name: str, bounds: dict[str, str], path: str, found: Findings) -> None:
    for low, high, field, value, text in _ORDERS:
        if low in bounds and high in bounds and quantity.compare(bounds[low], bounds[high]) > 0:
            here = f"{path}.{field}[{name}]"
            found.invalid(here, bounds[value], text.format(bounds[low], bounds[high]))
    ratio = bounds.get("maxLimitRequestRatio")
    if ratio is not None:
        _ratio(ratio, bounds, f"{path}.maxLimitRequestRatio[{name}]", found)
    asked, given = bounds.get("defaultRequest"), bounds.get("default")
    if may_overcommit(name) or asked is None or given is None:
        return
    if quantity.compare(asked, given):
        text = f"default value {given} must equal to defaultRequest value {asked} in {name}"
        found.invalid(f"{path}.defaultRequest[{name}]", asked, text)


def _ratio(ratio: str, bounds: dict[str, str], path: str, found: Findings) -> None:
    nano = quantity.parse(ratio).nano
    if nano < NANO:
        found.invalid(path, ratio, f"ratio {ratio} is less than 1")
    if "min" in bounds and "max" in bounds:
        low = quantity.parse(bounds["min"]).nano
        limit = quantity.parse(bounds["max"]).nano / low if low else float("inf")
        if nano / NANO > limit:
            found.invalid(path, ratio, f"ratio {ratio} is greater than max/min = {limit:f}")


def resource_quota(obj: Object, found: Findings) -> None:
    """A new quota."""
    _quota_spec(obj.get("spec") or {}, found)
    _quota_status(obj, found)


def _quota_spec(spec: Object, found: Findings) -> None:
    _amounts(spec.get("hard"), "spec.hard", found)
    hard = sorted(spec.get("hard") or ())
    scopes = spec.get("scopes") or ()
    for scope in scopes:
        if scope not in _SCOPES:
            found.invalid("spec.scopes", scopes, "unsupported scope")
        for name in hard:
            if is_standard_quota(name) and not _fits(scope, name):
                text = "unsupported scope applied to resource"
                found.invalid("spec.scopes", scopes, text)
    _conflicts(scopes, "spec.scopes", scopes, found)
    selector = spec.get("scopeSelector")
    if selector is not None:
        _scope_selector(selector, scopes, hard, "spec.scopeSelector.matchExpressions", found)


def _amounts(values: Any, path: str, found: Findings) -> None:
    for name, text in (values or {}).items():
        quota_resource_name(name, f"{path}[{name}]", found)
        resource_quantity(name, text, f"{path}[{name}]", found)


def _fits(scope: str, name: str) -> bool:
    """Whether a quota of that scope can count that resource."""
    if scope == "BestEffort":
        return name == "pods"
    if scope == "VolumeAttributesClass":
        return name in _CLAIM_RESOURCES
    return scope not in _SCOPES or name in _POD_RESOURCES


def _conflicts(scopes: Any, path: str, shown: Any, found: Findings) -> None:
    for pair in _PAIRS:
        if all(scope in scopes for scope in pair):
            found.invalid(path, shown, "conflicting scopes")


def _scope_selector(
    selector: Object, scopes: Any, hard: list[str], path: str, found: Findings
) -> None:
    rows = selector.get("matchExpressions") or ()
    for row in rows:
        scope, operator = row.get("scopeName") or "", row.get("operator") or ""
        if scope not in _SCOPES:
            found.invalid(f"{path}.scopeName", scope, "unsupported scope")
        for name in hard:
            if is_standard_quota(name) and not _fits(scope, name):
                found.invalid(path, selector, "unsupported scope applied to resource")
        if scope in _EXISTS_ONLY and operator != "Exists":
            found.invalid(f"{path}.operator", operator, _EXISTS_TEXT)
        _scope_operator(operator, row.get("values") or (), path, found)
    _conflicts([row.get("scopeName") for row in rows], path, scopes, found)


def _scope_operator(operator: str, values: Any, path: str, found: Findings) -> None:
    if operator in ("In", "NotIn"):
        if not values:
            text = (
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
            found.required(f"{path}.values", text)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            text = (
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            )
            found.invalid(f"{path}.values", values, text)
    else:
        found.invalid(f"{path}.operator", operator, "not a valid selector operator")


def resource_quota_update(new: Object, old: Object, found: Findings) -> None:
    """A changed quota keeps its scopes."""
    _quota_spec(new.get("spec") or {}, found)
    after, before = ((obj.get("spec") or {}).get("scopes") or [] for obj in (new, old))
    if set(after) != set(before):
        found.invalid("spec.scopes", after, "field is immutable")


def _quota_status(obj: Object, found: Findings) -> None:
    status = obj.get("status") or {}
    for field in ("hard", "used"):
        _amounts(status.get(field), f"status.{field}", found)


def resource_quota_status(new: Object, old: Object, found: Findings) -> None:
    """A quota's status."""
    _quota_status(new, found)
