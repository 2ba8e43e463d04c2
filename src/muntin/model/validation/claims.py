"""Validation of persistent volume claims, and of templates of claims.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePersistentVolumeClaim*).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names, quantity
from muntin.model.validation.amounts import positive_amount, resource_quantity
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import annotation_map, label_map, label_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_ONE_POD = "ReadWriteOncePod"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_RULE = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
    "bound claims"
)
_RESIZE = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress",
    "NodeResizeInfeasible", "NodeResizePending",
)  # fmt: skip


def access_modes(spec: Object, path: str, found: Findings) -> None:
    """Which nodes may mount it how; one pod alone excludes all else."""
    modes = spec.get("accessModes") or ()
    for mode in modes:
        if mode not in ACCESS_MODES:
            found.not_supported(f"{path}.accessModes", mode, ACCESS_MODES)
    others = [mode for mode in modes if mode in ACCESS_MODES and mode != _ONE_POD]
    if _ONE_POD in modes and others:
        found.forbidden(
            f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes"
        )


def persistent_volume_claim(obj: Object, found: Findings) -> None:
    """A new claim."""
    claim_spec(obj.get("spec") or {}, "spec", found)


def claim_template(template: Object, path: str, found: Findings) -> None:
    """The claim that a pod's ephemeral volume makes."""
    meta = template.get("metadata") or {}
    annotation_map(meta.get("annotations"), f"{path}.metadata.annotations", found)
    label_map(meta.get("labels"), f"{path}.metadata.labels", found)
    for field, value in meta.items():
        if value and field not in ("annotations", "labels"):
            found.forbidden(f"{path}.metadata.{field}", "cannot be set")
    claim_spec(template.get("spec") or {}, f"{path}.spec", found)


def claim_spec(spec: Object, path: str, found: Findings) -> None:
    """What is claimed."""
    if not spec.get("accessModes"):
        found.required(f"{path}.accessModes", "at least 1 access mode is required")
    label_selector(spec.get("selector"), f"{path}.selector", found)
    access_modes(spec, path, found)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    where = f"{path}.resources[storage]"
    if size is None:
        found.required(where)
    else:
        positive_amount(size, where, found)
    _class_name(spec.get("storageClassName"), f"{path}.storageClassName", found)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        found.not_supported(f"{path}.volumeMode", mode, VOLUME_MODES)
    _data_sources(spec, path, found)
    attributes = spec.get("volumeAttributesClassName")
    _class_name(attributes, f"{path}.volumeAttributesClassName", found)


def _class_name(value: str | None, path: str, found: Findings) -> None:
    if value:
        found.each_invalid(path, value, names.dns1123_subdomain(value))


def _data_sources(spec: Object, path: str, found: Findings) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        _data_source(source, f"{path}.dataSource", found)
    if reference is None:
        return
    _data_source(reference, f"{path}.dataSourceRef", found)
    namespace = reference.get("namespace")
    if namespace:
        problems = names.dns1123_label(namespace)
        found.each_invalid(f"{path}.dataSourceRef.namespace", namespace, problems)
    if source is None:
        return
    if namespace:
        found.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif any(source.get(field) != reference.get(field) for field in ("apiGroup", "kind", "name")):
        found.invalid(path, {}, "must match dataSourceRef")


def _data_source(source: Object, path: str, found: Findings) -> None:
    for field in ("name", "kind"):
        if not source.get(field):
            found.required(f"{path}.{field}")
    group = source.get("apiGroup")
    if not group and source.get("kind") != "PersistentVolumeClaim":
        found.invalid(
            path,
            source.get("kind") or "",
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        )
    if group:
        found.each_invalid(f"{path}.apiGroup", group, names.dns1123_subdomain(group))


def persistent_volume_claim_update(new: Object, old: Object, found: Findings) -> None:
    """A changed claim: bound once, and then only grown."""
    persistent_volume_claim(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    bound = (new.get("status") or {}).get("phase") == "Bound"
    if _beta_class(new) != _beta_class(old):
        found.invalid(f"metadata.annotations.{_BETA_CLASS}", _beta_class(new), "field is immutable")
    if _kept(after, before, bound) != before:
        found.forbidden("spec", _RULE)
    _shrinks(after, before, old, found)
    found.immutable("volumeMode", after.get("volumeMode"), before.get("volumeMode"))
    field = "volumeAttributesClassName"
    if before.get(field) is not None and after.get(field) != before[field]:
        if after.get(field) is None:
            found.forbidden(f"spec.{field}", "update from non-nil value to nil is forbidden")
        elif not after[field]:
            found.forbidden(
                f"spec.{field}", "update from non-nil value to an empty string is forbidden"
            )


def _beta_class(obj: Object) -> str:
    value: str = (obj["metadata"].get("annotations") or {}).get(_BETA_CLASS, "")
    return value


def _kept(after: Object, before: Object, bound: bool) -> dict[str, Any]:
    """``after`` with what may change as it was."""
    result = dict(after)
    if not before.get("volumeName"):
        result.pop("volumeName", None)
        if "volumeName" in before:
            result["volumeName"] = before["volumeName"]
    if before.get("storageClassName") is None:
        result.pop("storageClassName", None)
    if bound and (after.get("resources") or {}).get("requests"):
        requests = dict(after["resources"]["requests"])
        size = ((before.get("resources") or {}).get("requests") or {}).get("storage")
        if size is not None:
            requests["storage"] = size
        result["resources"] = {**after["resources"], "requests": requests}
    if bound and after.get("volumeAttributesClassName") is not None:
        result.pop("volumeAttributesClassName")
        if "volumeAttributesClassName" in before:
            result["volumeAttributesClassName"] = before["volumeAttributesClassName"]
    return result


def _shrinks(after: Object, before: Object, old: Object, found: Findings) -> None:
    def size(holder: Object, *path: str) -> int:
        for field in path:
            holder = holder.get(field) or {}
        return quantity.parse(str(holder.get("storage") or "0")).nano

    now = size(after, "resources", "requests")
    if now >= size(before, "resources", "requests"):
        return
    if now <= size(old, "status", "capacity"):
        found.forbidden(
            "spec.resources.requests.storage", "field can not be less than status.capacity"
        )


def persistent_volume_claim_status(new: Object, old: Object, found: Findings) -> None:
    """A claim's status: what it got, and how far an expansion is."""
    status = new.get("status") or {}
    if not (new.get("spec") or {}).get("accessModes"):
        found.required("Spec.accessModes")
    for name, text in (status.get("capacity") or {}).items():
        if quantity.parse(text).nano < 0:
            found.invalid(
                f"status.capacity[{name}]",
                quantity.value(text),
                "must be a valid resource quantity",
            )
    path = "status.allocatedResourceStatuses"
    for name, value in (status.get("allocatedResourceStatuses") or {}).items():
        _resource_key(name, path, found)
        if value not in _RESIZE:
            found.not_supported(path, name, _RESIZE)
    path = "status.allocatedResources"
    for name, text in (status.get("allocatedResources") or {}).items():
        if _resource_key(name, path, found):
            resource_quantity("storage", text, f"{path}[{name}]", found)


def _resource_key(name: str, path: str, found: Findings) -> bool:
    problems = names.qualified_name(name)
    found.each_invalid(path, name, problems)
    if not problems and name != "storage" and ("/" not in name or "kubernetes.io/" in name):
        found.not_supported(path, name, ("storage",))
        return False
    return not problems
