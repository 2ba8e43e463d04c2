"""Validation of stateful sets.

Source: kubernetes v1.34 pkg/apis/apps/validation/validation.go (ValidateStatefulSet*).
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.apps import ROLLING, endless, selector, selects_itself
from muntin.model.validation.claims import claim_spec
from muntin.model.validation.counts import (
    at_most_all,
    at_most_replicas,
    is_zero,
    not_decremented,
    not_negative,
    share,
)
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import annotation_map, label_map
from muntin.model.validation.pod import pod_template
from muntin.model.validation.pod_annotations import pod_annotations

_MANAGEMENT = ("OrderedReady", "Parallel")
_RETENTION = ("Retain", "Delete")
_MAY_CHANGE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
_RULE = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)


def stateful_set(obj: Object, found: Findings) -> None:
    """A stateful set; its template's pod spec is not looked at before pods are made of it."""
    spec = obj.get("spec") or {}
    if found.has("stateful-templates"):
        for index, row in enumerate(spec.get("volumeClaimTemplates") or ()):
            path = f"spec.volumeClaimTemplates[{index}].spec"
            claim_spec(row.get("spec") or {}, path, found)
        if spec.get("serviceName"):
            problems = names.dns1123_label(spec["serviceName"])
            found.each_invalid("spec.serviceName", spec["serviceName"], problems)
    _set(spec, found)


def _set(spec: Object, found: Findings) -> None:
    policy = spec.get("podManagementPolicy")
    if not policy:
        found.required("spec.podManagementPolicy")
    elif policy not in _MANAGEMENT:
        text = f"must be '{_MANAGEMENT[0]}' or '{_MANAGEMENT[1]}'"
        found.invalid("spec.podManagementPolicy", policy, text)
    _strategy(spec.get("updateStrategy") or {}, "spec.updateStrategy", found)
    retention = spec.get("persistentVolumeClaimRetentionPolicy")
    for field in ("whenDeleted", "whenScaled") if retention is not None else ():
        value = (retention or {}).get(field) or ""
        if value not in _RETENTION:
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            found.not_supported(path, value, _RETENTION)
    not_negative(spec, "spec", found, "replicas", "minReadySeconds")
    not_negative(spec.get("ordinals") or {}, "spec.ordinals", found, "start")
    if selector(spec, found, "statefulset", ""):
        selects_itself(spec, "spec", found)
        _template(spec, "spec.template", found)
    template = spec.get("template") or {}
    endless(template, found, "StatefulSet")


def _template(spec: Object, path: str, found: Findings) -> None:
    template = spec.get("template") or {}
    if found.has("stateful-templates"):
        pod_template(_as_made(template, spec), path, found)
    meta = template.get("metadata") or {}
    label_map(meta.get("labels"), f"{path}.labels", found)
    annotations = meta.get("annotations") or {}
    annotation_map(annotations, f"{path}.annotations", found)
    pod_annotations(annotations, template.get("spec") or {}, f"{path}.annotations", found)


def _as_made(template: Object, spec: Object) -> Object:
    """The template as the controller will make pods of it: its names, and its claims mounted."""
    claims = [row["metadata"].get("name") or "" for row in spec.get("volumeClaimTemplates") or ()]
    left_out = ("subdomain", "hostname")
    pod = {key: item for key, item in (template.get("spec") or {}).items() if key not in left_out}
    own = [row for row in pod.get("volumes") or () if row.get("name") not in claims]
    if claims:
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        pod["volumes"] = [*made, *own]
    return {**template, "spec": pod}


def _strategy(strategy: Object, path: str, found: Findings) -> None:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if not kind:
        found.required(path)
    elif kind == "OnDelete":
        if rolling is not None:
            text = f"only allowed for updateStrategy '{ROLLING}'"
            found.invalid(f"{path}.rollingUpdate", rolling, text)
    elif kind != ROLLING:
        shown = {"Type": kind, "RollingUpdate": rolling}
        found.invalid(path, shown, f"must be '{ROLLING}' or 'OnDelete'")
    elif rolling is not None:
        not_negative(rolling, f"{path}.rollingUpdate", found, "partition")
        down, where = rolling.get("maxUnavailable"), f"{path}.rollingUpdate.maxUnavailable"
        if down is not None:
            share(down, where, found)
            if is_zero(down):
                found.invalid(where, down, "cannot be 0")
            at_most_all(down, where, found)


def stateful_set_update(new: Object, old: Object, found: Findings) -> None:
    """A changed stateful set."""
    _set(new.get("spec") or {}, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    changed = {name for name in {*after, *before} if after.get(name) != before.get(name)}
    if changed.difference(_MAY_CHANGE):
        found.forbidden("spec", _RULE)


def stateful_set_status(new: Object, old: Object, found: Findings) -> None:
    """A stateful set's status."""
    status = new.get("status") or {}
    not_negative(
        status, "status", found, "replicas", "readyReplicas", "currentReplicas",
        "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount",
    )  # fmt: skip
    parts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    at_most_replicas(status, found, parts, "status.readyReplicas")
    not_decremented(new, old, found)
