"""Validation of changed pods: images, tolerations and little else may change.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePodUpdate).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.placement import tolerations
from muntin.model.validation.pod import MAX_DEADLINE_S, pod_content
from muntin.model.validation.pod_annotations import pod_annotations_update

_RULE = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions"
    " to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it"
    " was previously negative)"
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_update(new: Object, old: Object, found: Findings) -> None:
    """A changed pod."""
    pod_content(new, found)
    annotations = new["metadata"].get("annotations") or {}
    pod_annotations_update(annotations, old["metadata"].get("annotations") or {}, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    for field in ("containers", "initContainers"):
        if len(after.get(field) or ()) != len(before.get(field) or ()):
            found.forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
        for index, row in enumerate(after.get(field) or ()):
            _image(row, f"spec.{field}[{index}].image", found)
    if not _deadline(after, before, found):
        return
    _more_tolerations(after, before, found)
    _fewer_gates(after, before, found)
    if after == before:
        return
    result = _kept(after, before)
    if before.get("schedulingGates"):
        _gated(result, before, found)
    if result != before:
        found.forbidden("spec", _RULE)


def _image(row: Object, path: str, found: Findings) -> None:
    image = row.get("image") or ""
    if not image:
        found.required(path)
    if image != image.strip():
        found.invalid(path, image, "must not have leading or trailing whitespace")


def _deadline(after: Object, before: Object, found: Findings) -> bool:
    """Whether the rest is worth looking at."""
    new, old = after.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is not None:
            found.invalid(path, None, "must not update from a positive integer to nil value")
        return True
    problems = names.in_range(new, 0, MAX_DEADLINE_S)
    found.each_invalid(path, new, problems)
    if not problems and old is not None and old < new:
        found.invalid(path, new, "must be less than or equal to previous value")
        return False
    return not problems


def _more_tolerations(after: Object, before: Object, found: Findings) -> None:
    rows, old = after.get("tolerations") or [], before.get("tolerations") or []
    if rows == old:
        return

    def lasting(row: Object) -> Any:
        return {key: value for key, value in row.items() if key != "tolerationSeconds"}

    have = [lasting(row) for row in rows]
    if any(lasting(row) not in have for row in old):
        found.forbidden(
            "spec.tolerations",
            "existing toleration can not be modified except its tolerationSeconds",
        )
        return
    tolerations(rows, "spec.tolerations", found)


def _fewer_gates(after: Object, before: Object, found: Findings) -> None:
    old = {gate.get("name") for gate in before.get("schedulingGates") or ()}
    for index, gate in enumerate(after.get("schedulingGates") or ()):
        if gate.get("name") not in old:
            found.forbidden(
                f"spec.schedulingGates[{index}].name",
                f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
            )


def _kept(after: Object, before: Object) -> dict[str, Any]:
    """``after`` with the fields that may change as they were."""
    result = dict(after)
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _restore(result, before, field)
    for kind in ("containers", "initContainers"):
        if kind in result:
            pairs = zip(result[kind] or (), before.get(kind) or (), strict=True)
            result[kind] = [{**row, "image": old.get("image")} for row, old in pairs]
    old_grace = before.get("terminationGracePeriodSeconds")
    if old_grace is not None and old_grace < 0 and result.get("terminationGracePeriodSeconds") == 1:
        _restore(result, before, "terminationGracePeriodSeconds")
    return result


def _gated(result: dict[str, Any], before: Object, found: Findings) -> None:
    """A pod that is held back may yet be sent to fewer nodes."""
    wanted, old = result.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(wanted.get(key) != value for key, value in old.items()):
        found.invalid(
            "spec.nodeSelector",
            wanted,
            "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        )
    _restore(result, before, "nodeSelector")
    now = dict(result.get("affinity") or {})
    was = (before.get("affinity") or {}).get("nodeAffinity")
    node = now.pop("nodeAffinity", None)
    if node == was:
        return
    _narrower(node or {}, was or {}, found)
    if was is not None:
        now["nodeAffinity"] = was
    if now or "affinity" in before:
        result["affinity"] = now
    else:
        result.pop("affinity", None)


def _narrower(now: Object, was: Object, found: Findings) -> None:
    old = (was.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    new = (now.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    if old and len(old) != len(new):
        found.invalid(
            path, new, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        )
        return
    for index, (row, before) in enumerate(zip(new, old, strict=False)):
        if not _only_adds(row, before):
            found.invalid(
                f"{path}[{index}]", row, "only additions are allowed (no mutations or deletions)"
            )


def _only_adds(new: Object, old: Object) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(old.get(field) for field in fields):
        return not any(new.get(field) for field in fields)
    return all(
        list(new.get(field) or ())[: len(old.get(field) or ())] == list(old.get(field) or ())
        for field in fields
    )


def _restore(into: dict[str, Any], source: Object, field: str) -> None:
    if field in source:
        into[field] = source[field]
    else:
        into.pop(field, None)
