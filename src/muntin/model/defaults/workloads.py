"""Defaults of workloads. Source: kubernetes v1.34 pkg/apis/{apps,core}/v1/defaults.go."""

from __future__ import annotations

from typing import Any

from muntin.model.conversion.workloads import TEMPLATE_GENERATION
from muntin.model.defaults.pod import pod_template

Object = dict[str, Any]


def _spec(obj: Object) -> Object:
    """The object's spec, its template defaulted; the object gets an empty status."""
    spec: Object = obj.setdefault("spec", {})
    pod_template(spec.setdefault("template", {}))
    obj.setdefault("status", {})
    return spec


def deployment(obj: Object) -> None:
    """One replica, rolling updates of a quarter at a time."""
    spec = _spec(obj)
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def daemon_set(obj: Object) -> None:
    """Rolling updates of one node at a time; templates are counted in an annotation."""
    spec = _spec(obj)
    metadata = obj.setdefault("metadata", {})
    metadata["annotations"] = {TEMPLATE_GENERATION: "0", **(metadata.get("annotations") or {})}
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def replica_set(obj: Object) -> None:
    """One replica."""
    _spec(obj).setdefault("replicas", 1)


def replication_controller(obj: Object) -> None:
    """One replica; selector and labels from the template's labels."""
    spec: Object = obj.setdefault("spec", {})
    obj.setdefault("status", {})
    if spec.get("template") is not None:
        pod_template(spec["template"])
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        metadata = obj.setdefault("metadata", {})
        if not metadata.get("labels"):
            metadata["labels"] = dict(labels)
    spec.setdefault("replicas", 1)


def stateful_set(obj: Object) -> None:
    """One replica, in order, claims kept."""
    spec = _spec(obj)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec.setdefault("updateStrategy", {})
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("partition", 0)
        rolling.setdefault("maxUnavailable", 1)
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
        claim.setdefault("status", {}).setdefault("phase", "Pending")
