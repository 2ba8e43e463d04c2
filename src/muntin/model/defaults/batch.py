"""Defaults of jobs and autoscalers.

Source: kubernetes v1.34 pkg/apis/{batch,autoscaling}/v*/defaults.go.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from muntin.model.defaults.pod import pod_template

Object = dict[str, Any]

_UNLIMITED = 2**31 - 1


def job(obj: Object) -> None:
    """One completion, six retries; labels from the template."""
    spec = obj.setdefault("spec", {})
    pod_template(spec.setdefault("template", {}))
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = _UNLIMITED if "backoffLimitPerIndex" in spec else 6
    metadata = obj.setdefault("metadata", {})
    labels = spec["template"]["metadata"].get("labels")
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    replacement = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", replacement)
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern.setdefault("status", "True")
    obj.setdefault("status", {})


def cron_job(obj: Object) -> None:
    """Concurrent runs allowed, three good and one failed job kept."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    pod_template(template.setdefault("spec", {}).setdefault("template", {}))
    obj.setdefault("status", {})


_UP: Object = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_DOWN: Object = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}


def horizontal_pod_autoscaler(obj: Object) -> None:
    """At least one replica, 80 % of the requested CPU."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if obj.get("apiVersion") == "autoscaling/v2" and not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        for field, rules in (("scaleUp", _UP), ("scaleDown", _DOWN)):
            behavior[field] = {**deepcopy(rules), **(behavior.get(field) or {})}
