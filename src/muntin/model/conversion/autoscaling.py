"""Autoscalers in both their versions: v1 knows only CPU, and keeps the rest in annotations.

Nothing is lost on the way from one to the other and back. In the annotations, metrics have the
flat form that v2beta1 has too.
Source: kubernetes v1.34 pkg/apis/autoscaling/v1/conversion.go, pkg/apis/autoscaling/annotations.go.
"""

from __future__ import annotations

import json
from typing import Any

from muntin.model.conversion import autoscaling_beta
from muntin.model.conversion.annotations import parsed, typed

Object = dict[str, Any]

_PREFIX = "autoscaling.alpha.kubernetes.io/"
# v2 field, the part of the object it stands in, and its annotation in v1.
_ANNOTATED = (
    ("metrics", "spec", f"{_PREFIX}metrics"),
    ("behavior", "spec", f"{_PREFIX}behavior"),
    ("currentMetrics", "status", f"{_PREFIX}current-metrics"),
    ("conditions", "status", f"{_PREFIX}conditions"),
)
_CPU = {"metrics": "target", "currentMetrics": "current"}
_V1_NAMES = {
    "metrics": "targetCPUUtilizationPercentage",
    "currentMetrics": "currentCPUUtilizationPercentage",
}


def _cpu_share(metric: Object, field: str) -> int | None:
    """The percentage of a plain CPU metric; None for any other metric."""
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    share = (resource.get(_CPU[field]) or {}).get("averageUtilization")
    return None if share is None else int(share)


def v1_of(v2: Object) -> Object:
    """An ``autoscaling/v2`` object in the form of ``autoscaling/v1``."""
    result: Object = {**v2, "apiVersion": "autoscaling/v1"}
    annotations = dict((v2.get("metadata") or {}).get("annotations") or {})
    for field, part, annotation in _ANNOTATED:
        holder = dict(result.get(part) or {})
        rest = holder.pop(field, None)
        if field in _CPU and rest:
            shares = [_cpu_share(metric, field) for metric in rest]
            at = next((index for index, share in enumerate(shares) if share is not None), None)
            if at is not None:
                holder[_V1_NAMES[field]] = shares[at]
                if field == "metrics" or len(rest[at]["resource"]["current"]) == 1:
                    rest = [*rest[:at], *rest[at + 1 :]]  # else its value would be lost
            rest = autoscaling_beta.flat_metrics(rest, field)
        if rest or rest == {}:
            annotations[annotation] = json.dumps(rest, separators=(",", ":"))
        if part in result:
            result[part] = holder
    if "status" in result:
        result["status"] = {"currentReplicas": 0, "desiredReplicas": 0, **result["status"]}
    if annotations:
        result["metadata"] = {**v2["metadata"], "annotations": annotations}
    return result


def v2_of(v1: Object) -> Object:
    """An ``autoscaling/v1`` object in the form of ``autoscaling/v2``."""
    result: Object = {**autoscaling_beta.lean(v1), "apiVersion": "autoscaling/v2"}
    annotations = dict((v1.get("metadata") or {}).get("annotations") or {})
    for field, part, annotation in _ANNOTATED:
        holder = dict(result.get(part) or {})
        rest = parsed(annotations.pop(annotation, ""))
        if field in _CPU:
            share = holder.pop(_V1_NAMES[field], None)
            rest = typed(part, field, autoscaling_beta.nested_metrics(rest, field)) or []
            told = any(_cpu_share(metric, field) is not None for metric in rest)
            if share is not None and (field == "metrics" or not told):
                rest = [_cpu_metric(field, share), *rest]
        else:
            rest = typed(part, field, rest)
        if rest or rest == {}:
            holder[field] = rest
        if holder or part in result:
            result[part] = holder
    metadata = {
        name: item for name, item in v1.get("metadata", {}).items() if name != "annotations"
    }
    result["metadata"] = {**metadata, "annotations": annotations} if annotations else metadata
    return result


def _cpu_metric(field: str, share: int) -> Object:
    value: Object = {"averageUtilization": share}
    if field == "metrics":
        value["type"] = "Utilization"
    return {"type": "Resource", "resource": {"name": "cpu", _CPU[field]: value}}
