"""Validation of where a container sees its volumes: mounts and devices.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateVolumeMounts,
ValidateVolumeDevices).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.paths import has_back_steps, local_path

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_CLAIMS = ("persistentVolumeClaim", "ephemeral")

Volumes = Mapping[str, Any]


def mounts_and_devices(row: Object, path: str, volumes: Volumes, found: Findings) -> None:
    """``volumeMounts`` and ``volumeDevices`` of one container."""
    mounts, devices = row.get("volumeMounts") or (), row.get("volumeDevices") or ()
    if mounts:
        _mounts(row, mounts, devices, f"{path}.volumeMounts", volumes, found)
    if devices:
        _devices(mounts, devices, f"{path}.volumeDevices", volumes, found)


def _mounts(
    container: Object, mounts: Any, devices: Any, path: str, volumes: Volumes, found: Findings
) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(mounts):
        name, where = row.get("name") or "", row.get("mountPath") or ""
        if not name:
            found.required(f"{path}[{index}].name")
        if name not in volumes:
            found.not_found(f"{path}[{index}].name", name)
        if not where:
            found.required(f"{path}[{index}].mountPath")
        if where in seen:
            found.invalid(f"{path}[{index}].mountPath", where, "must be unique")
        seen.add(where)
        if devices:
            _overlap(row, devices, f"{path}[{index}]", found)
        _sub_paths(row, path, index, found)
        if row.get("mountPropagation") is not None:
            _propagation(container, row["mountPropagation"], f"{path}.mountPropagation", found)
        if row.get("recursiveReadOnly") is not None:
            _recursive(row, f"{path}.recursiveReadOnly", found)


def _overlap(row: Object, devices: Any, path: str, found: Findings) -> None:
    if any(device.get("name") == row.get("name") for device in devices):
        found.invalid(f"{path}.name", row.get("name"), "must not already exist in volumeDevices")
    if any(device.get("devicePath") == row.get("mountPath") for device in devices):
        found.invalid(
            f"{path}.mountPath",
            row.get("mountPath"),
            "must not already exist as a path in volumeDevices",
        )


def _sub_paths(row: Object, path: str, index: int, found: Findings) -> None:
    below, template = row.get("subPath"), row.get("subPathExpr")
    if below:
        local_path(below, f"{path}.subPath", found)
    if template:
        if below:
            found.invalid(
                f"{path}[{index}].subPathExpr",
                template,
                "subPathExpr and subPath are mutually exclusive",
            )
        local_path(template, f"{path}.subPathExpr", found)


def _propagation(container: Object, mode: str, path: str, found: Findings) -> None:
    if mode not in _PROPAGATIONS:
        found.not_supported(path, mode, _PROPAGATIONS)
    privileged = (container.get("securityContext") or {}).get("privileged")
    if mode == "Bidirectional" and not privileged:
        found.forbidden(
            path, "Bidirectional mount propagation is available only to privileged containers"
        )


def _recursive(row: Object, path: str, found: Findings) -> None:
    mode = row["recursiveReadOnly"]
    if mode not in _RECURSIVE:
        found.not_supported(path, mode, _RECURSIVE)
    elif mode != "Disabled":
        if not row.get("readOnly"):
            found.forbidden(path, "may only be specified when readOnly is true")
        if row.get("mountPropagation") not in (None, "None"):
            found.forbidden(
                path, "may only be specified when mountPropagation is None or not specified"
            )


def _devices(mounts: Any, devices: Any, path: str, volumes: Volumes, found: Findings) -> None:
    seen_names: set[Any] = set()
    seen_paths: set[Any] = set()
    for index, row in enumerate(devices):
        here, name, where = f"{path}[{index}]", row.get("name") or "", row.get("devicePath") or ""
        _device_name(name, here, volumes, seen_names, found)
        if not where:
            found.required(f"{here}.devicePath")
        if where in seen_paths:
            found.invalid(f"{here}.devicePath", where, "must be unique")
        if where and has_back_steps(where):
            found.invalid(f"{here}.devicePath", where, "can not contain backsteps ('..')")
        else:
            seen_paths.add(where)
        if any(mount.get("name") == name for mount in mounts):
            found.invalid(f"{here}.name", name, "must not already exist in volumeMounts")
        if any(mount.get("mountPath") == where for mount in mounts):
            found.invalid(
                f"{here}.devicePath", where, "must not already exist as a path in volumeMounts"
            )


def _device_name(name: str, path: str, volumes: Volumes, seen: set[Any], found: Findings) -> None:
    volume = volumes.get(name)
    if not name:
        found.required(f"{path}.name")
    if name in seen:
        found.invalid(f"{path}.name", name, "must be unique")
    if volume is None:
        found.not_found(f"{path}.name", name)
    elif all(volume.get(kind) is None for kind in _CLAIMS):
        found.invalid(
            f"{path}.name",
            name,
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
        )
    if name:
        seen.add(name)
