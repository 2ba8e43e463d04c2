"""Validation of files that the kubelet writes into volumes: keys, fields, modes.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateKeyToPath,
validateDownwardAPIVolumeFile).
"""

from __future__ import annotations

from muntin.model.validation.environment import FILE_FIELDS, field_reference, resource_reference
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.paths import local_unreserved_path

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def mode(value: int | None, path: str, found: Findings) -> None:
    """Permissions of a file."""
    if value is not None and not 0 <= value <= 0o777:
        found.invalid(path, value, _MODE)


def items(source: Object, path: str, found: Findings) -> None:
    """Which keys become which files."""
    for index, item in enumerate(source.get("items") or ()):
        key_to_path(item, f"{path}.items[{index}]", found)


def key_to_path(item: Object, path: str, found: Findings) -> None:
    """One key and its file."""
    if not item.get("key"):
        found.required(f"{path}.key")
    where = item.get("path") or ""
    if not where:
        found.required(f"{path}.path")
    local_unreserved_path(where, f"{path}.path", found)
    mode(item.get("mode"), f"{path}.mode", found)


def downward_api(item: Object, path: str, found: Findings) -> None:
    """A file with a field of the pod or a resource of a container; ``path`` is the volume's."""
    where = item.get("path") or ""
    if not where:
        found.required(f"{path}.path")
    local_unreserved_path(where, f"{path}.path", found)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        field_reference(field, f"{path}.fieldRef", found, FILE_FIELDS)
        if resource is not None:
            found.invalid(
                path,
                "resource",
                "fieldRef and resourceFieldRef can not be specified simultaneously",
            )
    elif resource is not None:
        resource_reference(resource, f"{path}.resourceFieldRef", found, needs_container=True)
    else:
        found.required(path, "one of fieldRef and resourceFieldRef is required")
    mode(item.get("mode"), f"{path}.mode", found)
