"""Validation of storage classes, attachments and what CSI drivers say of themselves.

Source: kubernetes v1.34 pkg/apis/storage/validation/validation.go.
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.amounts import amount
from muntin.model.validation.findings import IMMUTABLE, Findings, Object
from muntin.model.validation.labels import label_name, label_selector
from muntin.model.validation.node_selectors import topologies
from muntin.model.validation.persistent_volumes import inline_volume
from muntin.model.validation.volume_sources import csi_driver_name

_RECLAIM = ("Delete", "Retain")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES = ("Persistent", "Ephemeral")
_PARAMETERS, _PARAMETERS_BYTES = 512, 256 * 1024
_METADATA_BYTES, _ERROR_BYTES, _NODE_ID_LENGTH = 256 * 1024, 1024, 192
_MIN_TOKEN_S, _MAX_TOKEN_S, _MIN_UPDATE_S = 10 * 60, 2**32, 10


def storage_class(obj: Object, found: Findings) -> None:
    """A storage class."""
    _provisioner(obj.get("provisioner") or "", "provisioner", found)
    _parameters(obj.get("parameters") or {}, found)
    policy, mode = obj.get("reclaimPolicy"), obj.get("volumeBindingMode")
    if policy and policy not in _RECLAIM:
        found.not_supported("reclaimPolicy", policy, _RECLAIM)
    if mode is None:
        found.required("volumeBindingMode")
    elif mode not in _BINDING:
        found.not_supported("volumeBindingMode", mode, _BINDING)
    topologies(obj.get("allowedTopologies") or (), "allowedTopologies", found)


def _provisioner(name: str, path: str, found: Findings) -> None:
    if not name:
        found.required(path)
    else:
        label_name(name.lower(), path, found)


def _parameters(values: Object, found: Findings) -> None:
    if len(values) > _PARAMETERS:
        found.too_long("parameters", _PARAMETERS)
        return
    if "" in values:
        found.invalid("parameters", "", "field can not be empty.")
    if sum(len(key) + len(value) for key, value in values.items()) > _PARAMETERS_BYTES:
        found.too_long("parameters", _PARAMETERS_BYTES)


def storage_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed storage class: what volumes were made by is fixed."""
    if found.has("immutable-classes"):
        storage_class(new, found)
    for field in ("parameters", "provisioner", "reclaimPolicy"):
        if (new.get(field) or {}) != (old.get(field) or {}):
            if found.has("immutable-classes"):
                found.immutable(field, new.get(field), old.get(field))
            else:
                found.forbidden(field, f"updates to {field} are forbidden.")
    found.immutable("volumeBindingMode", new.get("volumeBindingMode"), old.get("volumeBindingMode"))


def volume_attributes_class(obj: Object, found: Findings) -> None:
    """A class of attributes that a driver can change."""
    _provisioner(obj.get("driverName") or "", "driverName", found)
    _parameters(obj.get("parameters") or {}, found)
    if not obj.get("parameters"):
        found.required("parameters", "must contain at least one key/value pair")


def volume_attributes_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed class is none: volumes were made by it."""
    for field in ("driverName", "parameters"):
        if (new.get(field) or {}) != (old.get(field) or {}):
            found.forbidden(field, f"updates to {field} are forbidden.")
    volume_attributes_class(new, found)


def volume_attachment(obj: Object, found: Findings) -> None:
    """A volume's attachment to a node."""
    spec = obj.get("spec") or {}
    attacher, source = spec.get("attacher") or "", spec.get("source") or {}
    if not attacher:
        found.required("spec.attacher")
    _attached(source, "spec.source", found)
    node = spec.get("nodeName") or ""
    found.each_invalid("spec.nodeName", node, names.dns1123_subdomain(node))
    _attachment_status(obj.get("status") or {}, found)
    if attacher:
        csi_driver_name(attacher, "spec.attacher", found)
    name = source.get("persistentVolumeName")
    if name is not None:
        problems = names.dns1123_subdomain(name)
        found.each_invalid("spec.source.persistentVolumeName", name, problems)


def _attached(source: Object, path: str, found: Findings) -> None:
    name, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if name is None and inline is None:
        found.required(path, text)
    elif name is not None and inline is not None:
        found.forbidden(path, text)
    elif inline is not None:
        inline_volume(inline, f"{path}.inlineVolumeSpec", found)
    elif not name:
        found.required(
            f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName"
        )


def _attachment_status(status: Object, found: Findings) -> None:
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(key) + len(value) for key, value in metadata.items()) > _METADATA_BYTES:
        found.too_long("status.attachmentMetadata", _METADATA_BYTES)
    for field in ("attachError", "detachError"):
        error = status.get(field) or {}
        if len(error.get("message") or "") > _ERROR_BYTES:
            found.too_long(f"status.{field}.message", _METADATA_BYTES)  # upstream says this number
        code = error.get("errorCode")
        if code is not None and code < 0:
            found.each_invalid(f"status.{field}.errorCode", code, names.user_id(code))


def volume_attachment_update(new: Object, old: Object, found: Findings) -> None:
    """A changed attachment is still of the same volume and node."""
    volume_attachment(new, found)
    if new.get("spec") != old.get("spec"):
        found.invalid("spec", new.get("spec"), IMMUTABLE)


def csi_node(obj: Object, found: Findings) -> None:
    """The drivers of a node."""
    seen: set[Any] = set()
    for index, row in enumerate((obj.get("spec") or {}).get("drivers") or ()):
        path, name, node = f"spec.drivers[{index}]", row.get("name") or "", row.get("nodeID") or ""
        csi_driver_name(name, f"{path}.name", found)
        if not node:
            found.required(f"{path}.nodeID")
        if len(node) > _NODE_ID_LENGTH:
            found.invalid(f"{path}.nodeID", node, f"must be {_NODE_ID_LENGTH} characters or less")
        count = (row.get("allocatable") or {}).get("count")
        found.not_negative(f"{path}.allocatable.count", count)
        found.unique(f"{path}.name", name, seen)
        keys: set[Any] = set()
        for key in row.get("topologyKeys") or ():
            if not key:
                found.required(path)
            found.unique(path, key, keys)
            label_name(key, path, found)


def csi_node_update(new: Object, old: Object, found: Findings) -> None:
    """A driver that stays on a node stays as it is; how many volumes fit may change."""
    csi_node(new, found)

    def fixed(row: Object) -> dict[str, Any]:
        return {key: value for key, value in row.items() if key != "allocatable"}

    now = {row.get("name"): row for row in (new.get("spec") or {}).get("drivers") or ()}
    for row in (old.get("spec") or {}).get("drivers") or ():
        other = now.get(row.get("name"))
        if other is not None and fixed(other) != fixed(row):
            found.invalid("spec.drivers", other, IMMUTABLE)


def csi_driver(obj: Object, found: Findings) -> None:
    """A CSI driver."""
    spec = obj.get("spec") or {}
    # As upstream spells it; the field is attachRequired.
    if spec.get("attachRequired") is None:
        found.required("spec.attachedRequired")
    for field in ("podInfoOnMount", "storageCapacity"):
        if spec.get(field) is None:
            found.required(f"spec.{field}")
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in _GROUP_POLICIES:
        found.not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES)
    _token_requests(spec.get("tokenRequests") or (), found)
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in _LIFECYCLES:
            found.not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES)
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < _MIN_UPDATE_S:
        text = f"must be greater than or equal to {_MIN_UPDATE_S} seconds"
        found.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text)


def _token_requests(rows: Any, found: Findings) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        path, seconds = f"spec.tokenRequests[{index}]", row.get("expirationSeconds")
        if not found.unique(f"{path}.audience", row.get("audience") or "", seen):
            continue
        where = f"{path}.expirationSeconds"
        if seconds is not None and seconds < _MIN_TOKEN_S:
            found.invalid(where, seconds, "may not specify a duration less than 10 minutes")
        if seconds is not None and seconds > _MAX_TOKEN_S:
            found.invalid(where, seconds, "may not specify a duration larger than 2^32 seconds")


def csi_driver_update(new: Object, old: Object, found: Findings) -> None:
    """A changed driver: how it attaches and for how long its volumes live is fixed."""
    csi_driver(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    pairs = (("attachRequired", "attachedRequired"), ("volumeLifecycleModes",) * 2)
    for field, shown in pairs:
        found.immutable(f"spec.{shown}", after.get(field), before.get(field))


def csi_storage_capacity(obj: Object, found: Findings) -> None:
    """How much a storage class can still give to a part of the cluster."""
    label_selector(obj.get("nodeTopology"), "nodeTopology", found)
    name = obj.get("storageClassName") or ""
    found.each_invalid("storageClassName", name, names.dns1123_subdomain(name))
    if obj.get("capacity") is not None:
        amount(obj["capacity"], "capacity", found)


def csi_storage_capacity_update(new: Object, old: Object, found: Findings) -> None:
    """A changed capacity is of the same class and place."""
    csi_storage_capacity(new, found)
    for field in ("nodeTopology", "storageClassName"):
        found.immutable(field, new.get(field), old.get(field))
