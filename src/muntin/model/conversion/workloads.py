"""Deployments and DaemonSets of the beta groups: fields that the stable form has as annotations.

Source: kubernetes v1.20 pkg/apis/{apps,extensions}/v1beta1/conversion.go, pkg/apis/apps/v1.
"""

from __future__ import annotations

from typing import Any

from muntin.kit import numbers

Object = dict[str, Any]

ROLLBACK = "deprecated.deployment.rollback.to"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def deployment_of(older: Object) -> Object:
    """A Deployment in the form of apps/v1; ``rollbackTo`` becomes an annotation."""
    target = (older.get("spec") or {}).get("rollbackTo")
    if target is None:
        return older
    return _annotated(older, "rollbackTo", ROLLBACK, target.get("revision", 0))


def older_deployment_of(deployment: Object) -> Object:
    """A Deployment in the form of the older versions."""
    revision = _number(deployment, ROLLBACK)
    if revision is None:
        return deployment
    target = {"revision": revision} if revision else {}
    return _unannotated(deployment, ROLLBACK, "rollbackTo", target)


def daemon_set_of(older: Object) -> Object:
    """A DaemonSet in the form of apps/v1; ``templateGeneration`` becomes an annotation."""
    generation = (older.get("spec") or {}).get("templateGeneration")
    if generation is None:
        return older
    return _annotated(older, "templateGeneration", TEMPLATE_GENERATION, generation)


def older_daemon_set_of(daemon_set: Object) -> Object:
    """A DaemonSet in the form of extensions/v1beta1."""
    generation = _number(daemon_set, TEMPLATE_GENERATION)
    if generation is None:
        return daemon_set
    return _unannotated(daemon_set, TEMPLATE_GENERATION, "templateGeneration", generation)


def _number(obj: Object, annotation: str) -> int | None:
    """The annotation's value; one that is no number counts as absent, and stays as it is."""
    text = ((obj.get("metadata") or {}).get("annotations") or {}).get(annotation, "")
    number = numbers.int_or_none(text, numbers.INT64_MIN)
    return number if str(number) == text else None


def _annotated(obj: Object, field: str, annotation: str, value: int) -> Object:
    spec = {key: item for key, item in obj["spec"].items() if key != field}
    metadata = obj.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), annotation: str(value)}
    return {**obj, "metadata": {**metadata, "annotations": annotations}, "spec": spec}


def _unannotated(obj: Object, annotation: str, field: str, value: Any) -> Object:
    metadata = dict(obj["metadata"])
    annotations = {k: text for k, text in metadata["annotations"].items() if k != annotation}
    if annotations:
        metadata["annotations"] = annotations
    else:
        del metadata["annotations"]
    return {**obj, "metadata": metadata, "spec": {**(obj.get("spec") or {}), field: value}}
