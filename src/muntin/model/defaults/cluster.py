"""Defaults of namespaces, nodes, secrets, storage, bindings of roles and priorities.

Source: kubernetes v1.34 pkg/apis/{core,rbac,scheduling,storage}/v1/defaults.go.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

Object = dict[str, Any]

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
RBAC_GROUP = "rbac.authorization.k8s.io"


def namespace(obj: Object) -> None:
    """Active, and labelled with its own name."""
    metadata = obj.setdefault("metadata", {})
    if metadata.get("name"):
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, NAMESPACE_LABEL: metadata["name"]}
    obj.setdefault("spec", {})
    state = obj.setdefault("status", {})
    if not state.get("phase"):
        state["phase"] = "Active"


def node(obj: Object) -> None:
    """What it has can all be allocated, unless it says otherwise."""
    settle_ranges(obj.setdefault("spec", {}))
    status = obj.setdefault("status", {})
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def settle_ranges(spec: Object) -> None:
    """A node's range of addresses is the first of its ranges; the older field decides."""
    first, ranges = spec.get("podCIDR"), spec.get("podCIDRs")
    if first and (not ranges or ranges[0] != first):
        spec["podCIDRs"] = [first]
    elif ranges and not first:
        spec["podCIDR"] = ranges[0]


def secret(obj: Object) -> None:
    """Opaque; ``stringData`` is written into ``data``."""
    text = obj.pop("stringData", None)
    if text:
        encoded = {key: b64encode(value.encode()).decode("ascii") for key, value in text.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}
    if not obj.get("type"):
        obj["type"] = "Opaque"


def limit_range(obj: Object) -> None:
    """For containers: defaults from the maximum, default requests from defaults and minimum."""
    for item in (obj.get("spec") or {}).get("limits") or ():
        if item.get("type") != "Container":
            continue
        default = {**(item.get("max") or {}), **(item.get("default") or {})}
        request = {**(item.get("min") or {}), **default, **(item.get("defaultRequest") or {})}
        if default:
            item["default"] = default
        if request:
            item["defaultRequest"] = request


def persistent_volume(obj: Object) -> None:
    """Retained, with a file system."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def persistent_volume_claim(obj: Object) -> None:
    """A file system, not yet bound."""
    obj.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def role_binding(obj: Object) -> None:
    """API groups of the role and of users and groups."""
    role = obj.setdefault("roleRef", {})
    if not role.get("apiGroup"):
        role["apiGroup"] = RBAC_GROUP
    for subject in obj.get("subjects") or ():
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup"):
            subject["apiGroup"] = RBAC_GROUP


def pod_security_policy(obj: Object) -> None:
    """Processes may gain privileges."""
    obj.setdefault("spec", {}).setdefault("allowPrivilegeEscalation", True)


def priority_class(obj: Object) -> None:
    """Preempts pods of lower priority."""
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def storage_class(obj: Object) -> None:
    """Volumes are deleted with their claims and bound at once."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


_CSI_DRIVER = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}


def csi_driver(obj: Object) -> None:
    """Attached, persistent volumes."""
    spec = obj.setdefault("spec", {})
    for field, value in _CSI_DRIVER.items():
        spec.setdefault(field, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
