"""How volumes, claims, storage classes and devices are shown.

Source: kubernetes v1.34 pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.model.tables.printer import (
    NOTHING,
    UNSET,
    Cells,
    Column,
    Object,
    Printer,
    age,
    columns,
    name,
    spec_of,
    status_of,
)

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _modes(modes: Iterable[str] | None) -> str:
    have = frozenset(modes or ())
    return ",".join(short for long, short in _MODES.items() if long in have)


def _phase(obj: Object) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str(status_of(obj).get("phase", ""))


def _volume(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    claim = spec.get("claimRef")
    return [
        name(obj),
        (spec.get("capacity") or {}).get("storage", ""),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        spec.get("storageClassName", ""),
        spec.get("volumeAttributesClassName") or UNSET,
        status_of(obj).get("reason", ""),
        age(obj, now_s),
        spec.get("volumeMode") or UNSET,
    ]


def _claim(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    bound = spec.get("volumeName", "")
    return [
        name(obj),
        _phase(obj),
        bound,
        (status.get("capacity") or {}).get("storage", "0") if bound else "",
        _modes(status.get("accessModes")) if bound else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        age(obj, now_s),
        spec.get("volumeMode") or UNSET,
    ]


_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def _class(obj: Object, now_s: float) -> Cells:
    is_default = (obj["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    return [
        f"{name(obj)} (default)" if is_default else name(obj),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now_s),
    ]


def _attachment(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    volume = (spec.get("source") or {}).get("persistentVolumeName") or ""
    attached = bool(status_of(obj).get("attached"))
    return [
        name(obj),
        spec.get("attacher", ""),
        volume,
        spec.get("nodeName", ""),
        attached,
        age(obj, now_s),
    ]


def _csi_node(obj: Object, now_s: float) -> Cells:
    return [name(obj), len(spec_of(obj).get("drivers") or ()), age(obj, now_s)]


def _csi_driver(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    tokens = [row.get("audience", "") for row in spec.get("tokenRequests") or ()]
    return [
        name(obj),
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        ",".join(tokens) if spec.get("tokenRequests") is not None else UNSET,
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NOTHING,
        age(obj, now_s),
    ]


def _attributes_class(obj: Object, now_s: float) -> Cells:
    return [name(obj), obj.get("driverName", ""), age(obj, now_s)]


def _aged(obj: Object, now_s: float) -> Cells:
    return [name(obj), age(obj, now_s)]


def _claim_state(obj: Object) -> str:
    status, is_going = status_of(obj), bool(obj["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if is_going else []
    if status.get("allocation") is not None:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not is_going:
        states.append("pending")
    return ",".join(states)


def _resource_claim(obj: Object, now_s: float) -> Cells:
    return [name(obj), _claim_state(obj), age(obj, now_s)]


def _resource_slice(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    pool = (spec.get("pool") or {}).get("name", "")
    return [name(obj), spec.get("nodeName") or "", spec.get("driver", ""), pool, age(obj, now_s)]


PRINTERS = {
    ("", "PersistentVolume"): Printer(
        columns(
            "Name",
            "Capacity",
            "Access Modes",
            "Reclaim Policy",
            "Status",
            "Claim",
            "StorageClass",
            "VolumeAttributesClass",
            "Reason",
            "Age",
            wide=("VolumeMode",),
        ),
        _volume,
    ),
    ("", "PersistentVolumeClaim"): Printer(
        columns(
            "Name",
            "Status",
            "Volume",
            "Capacity",
            "Access Modes",
            "StorageClass",
            "VolumeAttributesClass",
            "Age",
            wide=("VolumeMode",),
        ),
        _claim,
    ),
    ("storage.k8s.io", "StorageClass"): Printer(
        columns(
            "Name",
            "Provisioner",
            "ReclaimPolicy",
            "VolumeBindingMode",
            "AllowVolumeExpansion",
            "Age",
        ),
        _class,
    ),
    ("storage.k8s.io", "VolumeAttachment"): Printer(
        (
            Column("Name"),
            Column("Attacher", format="name"),
            *columns("PV", "Node", ("Attached", "boolean"), "Age"),
        ),
        _attachment,
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): Printer(
        columns("Name", "DriverName", "Age"), _attributes_class
    ),
    ("resource.k8s.io", "DeviceClass"): Printer(columns("Name", "Age"), _aged),
    ("resource.k8s.io", "ResourceClaim"): Printer(columns("Name", "State", "Age"), _resource_claim),
    ("resource.k8s.io", "ResourceClaimTemplate"): Printer(columns("Name", "Age"), _aged),
    ("resource.k8s.io", "ResourceSlice"): Printer(
        columns("Name", "Node", "Driver", "Pool", "Age"), _resource_slice
    ),
    ("storage.k8s.io", "CSINode"): Printer(
        columns("Name", ("Drivers", "integer"), "Age"), _csi_node
    ),
    ("storage.k8s.io", "CSIDriver"): Printer(
        columns(
            "Name",
            ("AttachRequired", "boolean"),
            ("PodInfoOnMount", "boolean"),
            ("StorageCapacity", "boolean"),
            "TokenRequests",
            ("RequiresRepublish", "boolean"),
            "Modes",
            "Age",
        ),
        _csi_driver,
    ),
}
