"""Autoscalers of ``autoscaling/v2beta1``: flat metrics, and the behaviour in an annotation.

Source: kubernetes v1.20 pkg/apis/autoscaling/v2beta1/conversion.go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.conversion.annotations import parsed, typed
from muntin.model.quantity import canonical

Object = dict[str, Any]

_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
_KEYS = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


def v2_of(beta: Object) -> Object:
    """A ``v2beta1`` object in the form of ``autoscaling/v2``."""
    result = _with_metrics(lean(beta), _newer_target, _newer_current)
    metadata = result.get("metadata") or {}
    annotations = dict(metadata.get("annotations") or {})
    if _BEHAVIOR not in annotations:
        return result
    behavior = typed("spec", "behavior", parsed(annotations.pop(_BEHAVIOR)))
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    result["metadata"] = {**rest, "annotations": annotations} if annotations else rest
    if isinstance(behavior, dict):
        result["spec"] = {**(result.get("spec") or {}), "behavior": behavior}
    return result


def newer_of_beta2(beta: Object) -> Object:
    """A ``v2beta2`` object in the form of ``autoscaling/v2``."""
    return lean(beta)


def lean(obj: Object) -> Object:
    """``obj`` without the zero values that older versions write and ``autoscaling/v2`` does not."""
    status = obj.get("status")
    if not isinstance(status, dict):
        return obj
    zeros = {"currentReplicas": 0, "conditions": None, "currentMetrics": None}
    kept = {key: item for key, item in status.items() if key not in zeros or item != zeros[key]}
    return {**obj, "status": kept}


def v2beta2_of(v2: Object) -> Object:
    """An ``autoscaling/v2`` object in the form of ``v2beta2``, whose status leaves out nothing."""
    if "status" not in v2:
        return v2
    status = {"currentReplicas": 0, "desiredReplicas": 0, "conditions": None, **v2["status"]}
    return {**v2, "status": {**status, "currentMetrics": status.get("currentMetrics") or None}}


def v2beta1_of(v2: Object) -> Object:
    """An ``autoscaling/v2`` object in the form of ``v2beta1``."""
    v2 = v2beta2_of(v2)
    result = _with_metrics(v2, _older_target, _older_current)
    spec = dict(result.get("spec") or {})
    if "behavior" not in spec:
        return result
    metadata = result.get("metadata") or {}
    behavior = json.dumps(spec.pop("behavior"), separators=(",", ":"))
    annotations = {**(metadata.get("annotations") or {}), _BEHAVIOR: behavior}
    return {**result, "metadata": {**metadata, "annotations": annotations}, "spec": spec}


def flat_metrics(metrics: list[Object], field: str) -> list[Object]:
    """Metrics of ``autoscaling/v2`` in the flat form; ``field`` is where they stand there."""
    form = _older_target if field == "metrics" else _older_current
    return [_metric(row, form) for row in metrics]


def nested_metrics(metrics: Any, field: str) -> list[Object] | None:
    """Flat metrics in the form of ``autoscaling/v2``, where they stand in ``field``.

    None for what are no metrics: they come from an annotation that anybody can write.
    """
    form = _newer_target if field == "metrics" else _newer_current
    if not isinstance(metrics, list) or not all(isinstance(row, dict) for row in metrics):
        return None
    try:
        return [_metric(row, form) for row in metrics]
    except (Invalid, TypeError, AttributeError):
        return None


def _with_metrics(
    obj: Object, target: Callable[[str, Object], Object], current: Callable[[str, Object], Object]
) -> Object:
    result = dict(obj)
    for part, field, form in (("spec", "metrics", target), ("status", "currentMetrics", current)):
        holder = obj.get(part) or {}
        if holder.get(field) is not None:
            rows = [_metric(row, form) for row in holder[field] or ()]
            result[part] = {**holder, field: rows}
    return result


def _metric(metric: Object, form: Callable[[str, Object], Object]) -> Object:
    kind = metric.get("type", "")
    key = _KEYS.get(kind, "")
    if not isinstance(metric.get(key), dict):
        return metric
    return {**metric, key: form(kind, metric[key])}


def _moved(source: Object, names: Mapping[str, str]) -> Object:
    """The members of ``source`` that ``names`` names, under their new names."""
    return {new: source[old] for old, new in names.items() if source.get(old) is not None}


# How the identity of a metric is said, flat and nested: flat name, path.
_IDENTITY: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Resource": {"name": ("name",)},
    "ContainerResource": {"name": ("name",), "container": ("container",)},
    "Pods": {"metricName": ("metric", "name"), "selector": ("metric", "selector")},
    "Object": {
        "target": ("describedObject",),
        "metricName": ("metric", "name"),
        "selector": ("metric", "selector"),
    },
    "External": {"metricName": ("metric", "name"), "metricSelector": ("metric", "selector")},
}


def _nested_identity(kind: str, flat: Object) -> Object:
    result: Object = {"metric": {}} if kind in ("Pods", "Object", "External") else {}
    for name, path in _IDENTITY[kind].items():
        if flat.get(name) is not None:
            holder = result
            for part in path[:-1]:
                holder = holder[part]
            holder[path[-1]] = flat[name]
    return result


def _flat_identity(kind: str, nested: Object) -> Object:
    result: Object = {}
    for name, path in _IDENTITY[kind].items():
        value: Any = nested
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            result[name] = value
    return result


# Flat names of the amounts: of what is wanted, and of what there is.
_TARGETS: Mapping[str, Mapping[str, str]] = {
    "Resource": {
        "targetAverageUtilization": "averageUtilization",
        "targetAverageValue": "averageValue",
    },
    "ContainerResource": {
        "targetAverageUtilization": "averageUtilization",
        "targetAverageValue": "averageValue",
    },
    "Pods": {"targetAverageValue": "averageValue"},
    "Object": {"targetValue": "value", "averageValue": "averageValue"},
    "External": {"targetValue": "value", "targetAverageValue": "averageValue"},
}
_CURRENTS: Mapping[str, Mapping[str, str]] = {
    "Resource": {
        "currentAverageUtilization": "averageUtilization",
        "currentAverageValue": "averageValue",
    },
    "ContainerResource": {
        "currentAverageUtilization": "averageUtilization",
        "currentAverageValue": "averageValue",
    },
    "Pods": {"currentAverageValue": "averageValue"},
    "Object": {"currentValue": "value", "averageValue": "averageValue"},
    "External": {"currentValue": "value", "currentAverageValue": "averageValue"},
}
# Amounts that the flat form cannot leave out: zero stands for "none" beside another amount.
_REQUIRED = {
    "targetValue": ("Object",),
    "targetAverageValue": ("Pods",),
    "currentValue": ("Object", "External"),
    "currentAverageValue": ("Resource", "ContainerResource", "Pods"),
}
_TYPES = {
    "averageUtilization": "Utilization",
    "averageValue": "AverageValue",
    "value": "Value",
}


def _amounts(kind: str, flat: Object, names: Mapping[str, str]) -> Object:
    found = _moved(flat, names)
    if len(found) > 1:
        for old, new in names.items():
            if kind in _REQUIRED.get(old, ()) and canonical(found.get(new, "1")) == "0":
                found.pop(new, None)
    return found


def _flat_amounts(kind: str, nested: Object, names: Mapping[str, str]) -> Object:
    found = _moved(nested, {new: old for old, new in names.items()})
    for name in names:
        if kind in _REQUIRED.get(name, ()):
            found.setdefault(name, "0")
    return found


def _newer_target(kind: str, flat: Object) -> Object:
    target = _amounts(kind, flat, _TARGETS[kind])
    shown = next((_TYPES[name] for name in _TYPES if name in target), "Value")
    return {**_nested_identity(kind, flat), "target": {"type": shown, **target}}


def _newer_current(kind: str, flat: Object) -> Object:
    return {**_nested_identity(kind, flat), "current": _amounts(kind, flat, _CURRENTS[kind])}


def _older_target(kind: str, nested: Object) -> Object:
    amounts = _flat_amounts(kind, nested.get("target") or {}, _TARGETS[kind])
    return {**_flat_identity(kind, nested), **amounts}


def _older_current(kind: str, nested: Object) -> Object:
    amounts = _flat_amounts(kind, nested.get("current") or {}, _CURRENTS[kind])
    return {**_flat_identity(kind, nested), **amounts}
