"""Validation of horizontal pod autoscalers, of v1 and of v2, and of scales.

Source: kubernetes v1.34 pkg/apis/autoscaling/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model import names, quantity
from muntin.model.validation.amounts import container_resource_name
from muntin.model.validation.counts import not_negative
from muntin.model.validation.findings import Findings, Object

_SOURCES = ("ContainerResource", "External", "Object", "Pods", "Resource")
_FIELDS = ("object", "external", "pods", "resource", "containerResource")
_TARGETS = ("Utilization", "Value", "AverageValue")
_SELECT = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_MAX_PERIOD_S, _MAX_WINDOW_S = 1800, 3600
_NOTHING_TO_COUNT = (
    "must specify at least one Object or External metric to support scaling to zero replicas"
)
_POSITIVE = "must be greater than 0"


def autoscaler(obj: Object, found: Findings) -> None:
    """An autoscaler of either version."""
    _autoscaler(obj, None, found)


def autoscaler_update(new: Object, old: Object, found: Findings) -> None:
    """A changed autoscaler; a target that was without a group stays so."""
    _autoscaler(new, old, found)


def _must_have_group(spec: Object, old: Object | None, found: Findings) -> bool:
    if not found.has("groups-of-scale-targets"):
        return False
    target, parts = spec.get("scaleTargetRef") or {}, ("apiVersion", "kind")
    before = None if old is None else (old.get("spec") or {}).get("scaleTargetRef") or {}
    if before is not None and all(before.get(part) == target.get(part) for part in parts):
        return False
    return target.get("kind") != "ReplicationController"


def _autoscaler(obj: Object, old: Object | None, found: Findings) -> None:
    spec = obj.get("spec") or {}
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    was_zero = old is not None and (old.get("spec") or {}).get("minReplicas") == 0
    if least is not None and least < (0 if was_zero else 1):
        found.invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if not most and found.has("groups-of-scale-targets"):
        found.required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 1:
        found.invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        text = "must be greater than or equal to `minReplicas`"
        found.invalid("spec.maxReplicas", most, text)
    grouped = _must_have_group(spec, old, found)
    _reference(spec.get("scaleTargetRef") or {}, "spec.scaleTargetRef", found, grouped=grouped)
    share = spec.get("targetCPUUtilizationPercentage")
    if share is not None and share < 1:
        # Of v1, which is one metric of v2: upstream names the field of that.
        path = "spec.metrics[0].resource.target.averageUtilization"
        found.invalid(path, share, _POSITIVE)
    for index, metric in enumerate(spec.get("metrics") or ()):
        _metric(metric, f"spec.metrics[{index}]", found)
    outside = any(row.get("type") in ("Object", "External") for row in spec.get("metrics") or ())
    if least == 0 and not outside:
        found.forbidden("spec.metrics", _NOTHING_TO_COUNT)
    behavior = spec.get("behavior") or {}
    for field in ("scaleUp", "scaleDown"):
        if behavior.get(field) is not None:
            _scaling(behavior[field], f"spec.behavior.{field}", found)


def _reference(reference: Object, path: str, found: Findings, *, grouped: bool = False) -> None:
    for field in ("kind", "name"):
        value = reference.get(field)
        if not value:
            found.required(f"{path}.{field}")
        else:
            found.each_invalid(f"{path}.{field}", value, names.path_segment(value))
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1:
        text = f"unexpected GroupVersion string: {version}"
        found.invalid(f"{path}.apiVersion", version, text)
    elif grouped and "/" not in version:
        found.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _metric(metric: Object, path: str, found: Findings) -> None:
    kind = metric.get("type") or ""
    if not kind:
        found.required(f"{path}.type", "must specify a metric source type")
    if kind not in _SOURCES:
        found.not_supported(f"{path}.type", kind, _SOURCES)
    given = [field for field in _FIELDS if metric.get(field) is not None]
    for field in given[:1]:
        _CHECKS[field](metric[field], f"{path}.{field}", found)
    expected = kind[:1].lower() + kind[1:]
    if kind in _SOURCES and expected not in given:
        text = "must populate information for the given metric source"
        found.required(f"{path}.{expected}", text)
    elif kind not in _SOURCES:
        found.not_supported(f"{path}.type", kind, _SOURCES)
    if len(given) != 1:
        for field in given:
            if field != expected:
                found.forbidden(f"{path}.{field}", "must populate the given metric source only")


def _identifier(identifier: Object, path: str, found: Findings) -> None:
    name = identifier.get("name")
    if not name:
        found.required(f"{path}.name", "must specify a metric name")
    else:
        found.each_invalid(f"{path}.name", name, names.path_segment(name))


def _target(target: Object, path: str, found: Findings) -> None:
    kind = target.get("type") or ""
    if not kind:
        found.required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        text = "must be either Utilization, Value, or AverageValue"
        found.invalid(f"{path}.type", kind, text)
    for field in ("value", "averageValue"):
        value = target.get(field)
        if value is not None and quantity.parse(value).nano <= 0:
            found.invalid(f"{path}.{field}", value, "must be positive")
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        found.invalid(f"{path}.averageUtilization", share, _POSITIVE)


def _object(source: Object, path: str, found: Findings) -> None:
    _reference(source.get("describedObject") or {}, f"{path}.describedObject", found)
    target = source.get("target") or {}
    _identifier(source.get("metric") or {}, f"{path}.metric", found)
    _target(target, f"{path}.target", found)
    if target.get("value") is None and target.get("averageValue") is None:
        text = "must set either a target value or averageValue"
        found.required(f"{path}.target.averageValue", text)


def _external(source: Object, path: str, found: Findings) -> None:
    target = source.get("target") or {}
    value, average = target.get("value"), target.get("averageValue")
    _identifier(source.get("metric") or {}, f"{path}.metric", found)
    _target(target, f"{path}.target", found)
    if value is None and average is None:
        text = "must set either a target value for metric or a per-pod target"
        found.required(f"{path}.target.averageValue", text)
    if value is not None and average is not None:
        text = "may not set both a target value for metric and a per-pod target"
        found.forbidden(f"{path}.target.value", text)


def _pods(source: Object, path: str, found: Findings) -> None:
    target = source.get("target") or {}
    _identifier(source.get("metric") or {}, f"{path}.metric", found)
    _target(target, f"{path}.target", found)
    if target.get("averageValue") is None:
        text = "must specify a positive target averageValue"
        found.required(f"{path}.target.averageValue", text)


def _container_resource(source: Object, path: str, found: Findings) -> None:
    if not source.get("container"):
        found.required(f"{path}.container", "must specify a container")
    else:
        name = source["container"]
        is_label = found.has("autoscaled-container-labels")
        rule = names.dns1123_label if is_label else names.path_segment
        found.each_invalid(f"{path}.container", name, rule(name))
    _resource(source, path, found)


def _resource(source: Object, path: str, found: Findings) -> None:
    target = source.get("target") or {}
    share, value = target.get("averageUtilization"), target.get("averageValue")
    if not source.get("name"):
        found.required(f"{path}.name", "must specify a resource name")
    elif "container" in source:
        container_resource_name(source["name"], f"{path}.name", found)
    _target(target, f"{path}.target", found)
    if share is None and value is None:
        text = "must set either a target raw value or a target utilization"
        found.required(f"{path}.target.averageUtilization", text)
    if share is not None and value is not None:
        text = "may not set both a target raw value and a target utilization"
        found.forbidden(f"{path}.target.averageValue", text)


_CHECKS: dict[str, Callable[[Any, str, Findings], None]] = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


def _scaling(rules: Object, path: str, found: Findings) -> None:
    window, here = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        found.invalid(here, window, "must be greater than or equal to zero")
    if window is not None and window > _MAX_WINDOW_S:
        found.invalid(here, window, f"must be less than or equal to {_MAX_WINDOW_S}")
    select = rules.get("selectPolicy")
    if select is not None and select not in _SELECT:
        found.not_supported(f"{path}.selectPolicy", select, _SELECT)
    if not rules.get("policies"):
        found.required(f"{path}.policies", "must specify at least one Policy")
    for index, policy in enumerate(rules.get("policies") or ()):
        _policy(policy, f"{path}.policies[{index}]", found)
    tolerance = rules.get("tolerance")
    if tolerance is not None and quantity.parse(tolerance).nano < 0:
        text = "must be greater than or equal to 0"
        found.invalid(f"{path}.tolerance", tolerance, text)


def _policy(policy: Object, path: str, found: Findings) -> None:
    if policy.get("type") not in _POLICIES:
        found.not_supported(f"{path}.type", policy.get("type") or "", _POLICIES)
    for field in ("value", "periodSeconds"):
        if (policy.get(field) or 0) <= 0:
            found.invalid(f"{path}.{field}", policy.get(field) or 0, "must be greater than zero")
    period = policy.get("periodSeconds") or 0
    if period > _MAX_PERIOD_S:
        text = f"must be less than or equal to {_MAX_PERIOD_S}"
        found.invalid(f"{path}.periodSeconds", period, text)


def autoscaler_status(new: Object, old: Object, found: Findings) -> None:
    """An autoscaler's status."""
    status = new.get("status") or {}
    not_negative(status, "status", found, "currentReplicas", "desiredReplicas")
