"""Validation of nodes, namespaces, configuration, volumes, leases, events, priorities.

Source: kubernetes v1.34 pkg/apis/{core,coordination,scheduling,node}/validation/validation.go.
"""

from __future__ import annotations

import binascii
import json
from base64 import b64decode
from typing import Any

from muntin.model import names
from muntin.model.validation.amounts import amount, resource_list
from muntin.model.validation.findings import IMMUTABLE, Findings, Object
from muntin.model.validation.placement import taints

_CONTENT_BYTES = 1024 * 1024
_MAX_USER_PRIORITY = 1_000_000_000
_SYSTEM_PREFIX = "system-"
_NODE_RULE = "node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)"  # noqa: E501 - upstream's one sentence
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_RECLAIM = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")


def node(obj: Object, found: Findings) -> None:
    """A node."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    taints(spec.get("taints") or (), "spec.taints", found)
    for field in ("capacity", "allocatable"):
        resource_list(status.get(field), f"status.{field}", found)
    for index, block in enumerate(spec.get("podCIDRs") or ()):
        found.each_invalid(f"spec.podCIDRs[{index}]", block, names.cidr(block))


_NODE_MAY_CHANGE = frozenset({"unschedulable", "taints", "configSource"})


def node_update(new: Object, old: Object, found: Findings) -> None:
    """A changed node: addresses and identity are given once."""
    node(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if before.get("podCIDRs") and after.get("podCIDRs") != before["podCIDRs"]:
        found.forbidden(
            "spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'
        )
    if before.get("providerID") and after.get("providerID") != before["providerID"]:
        found.forbidden(
            "spec.providerID", 'node updates may not change providerID except from "" to valid'
        )
    given_once = {"podCIDR", "podCIDRs", "providerID"}
    for name in sorted({*after, *before} - _NODE_MAY_CHANGE - given_once):
        if after.get(name) != before.get(name):
            found.forbidden("spec", _NODE_RULE)
            return


def namespace(obj: Object, found: Findings) -> None:
    """A namespace."""
    for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
        found.each_invalid("spec.finalizers", finalizer, names.qualified_name(finalizer))


def config_map(obj: Object, found: Findings) -> None:
    """A config map: its keys are file names, and it is small."""
    text, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    size = 0
    for key, value in text.items():
        found.each_invalid(f"data[{key}]", key, names.config_key(key))
        if key in binary:
            found.invalid(f"data[{key}]", key, f"duplicate of key present in {key}")
        size += len(value.encode())
    for key, value in binary.items():
        found.each_invalid(f"binaryData[{key}]", key, names.config_key(key))
        size += len(b64decode(value))
    if size > _CONTENT_BYTES:
        found.too_long("", _CONTENT_BYTES)


def config_map_update(new: Object, old: Object, found: Findings) -> None:
    """A changed config map; an immutable one stays so."""
    _content_update(new, old, ("data", "binaryData"), found)
    config_map(new, found)


def _content_update(new: Object, old: Object, fields: tuple[str, ...], found: Findings) -> None:
    if not old.get("immutable"):
        return
    message = "field is immutable when `immutable` is set"
    if not new.get("immutable"):
        found.forbidden("immutable", message)
    for field in fields:
        if (new.get(field) or {}) != (old.get(field) or {}):
            found.forbidden(field, message)


_SECRET_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
}
_ACCOUNT = "kubernetes.io/service-account.name"


def secret(obj: Object, found: Findings) -> None:
    """A secret, and what its type wants in it."""
    data, size = obj.get("data") or {}, 0
    for key, value in data.items():
        found.each_invalid(f"data[{key}]", key, names.config_key(key))
        size += len(b64decode(value))
    if size > _CONTENT_BYTES:
        found.too_long("data", _CONTENT_BYTES)
    kind = obj.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        if not (obj["metadata"].get("annotations") or {}).get(_ACCOUNT):
            found.required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        found.required("data[username]")
        found.required("data[password]")
    for key in _SECRET_KEYS.get(kind, ()):
        if key not in data:
            found.required(f"data[{key}]")
        elif "docker" in key and not _is_json(data[key]):
            found.invalid(f"data[{key}]", "<secret contents redacted>", "invalid JSON")


def _is_json(encoded: str) -> bool:
    try:
        json.loads(b64decode(encoded))
    except (ValueError, binascii.Error):
        return False
    return True


def secret_update(new: Object, old: Object, found: Findings) -> None:
    """A changed secret: its type stays."""
    found.immutable("type", new.get("type"), old.get("type"))
    _content_update(new, old, ("data",), found)
    secret(new, found)


def event(obj: Object, found: Findings) -> None:
    """An event: it lies in the namespace of what it is about."""
    about = (obj.get("involvedObject") or {}).get("namespace") or ""
    own = obj["metadata"].get("namespace") or ""
    if about != own and (about or own != "default"):
        found.invalid("involvedObject.namespace", about, "does not match event.namespace")


def lease(obj: Object, found: Findings) -> None:
    """A lease."""
    spec = obj.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        found.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    found.not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


def priority_class(obj: Object, found: Findings) -> None:
    """A priority class: those below ``system-`` are the cluster's own."""
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith(_SYSTEM_PREFIX):
        if name not in ("system-node-critical", "system-cluster-critical"):
            found.forbidden(
                "metadata.name",
                f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use "
                "only. error: only system priority classes may use it",
            )
    elif value > _MAX_USER_PRIORITY:
        found.forbidden("value", f"maximum allowed value of a user defined priority is "
                        f"{_MAX_USER_PRIORITY}")  # fmt: skip


def priority_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed priority class keeps its value."""
    if new.get("value", 0) != old.get("value", 0):
        found.forbidden("value", "may not be changed in an update.")
    found.immutable("preemptionPolicy", new.get("preemptionPolicy"), old.get("preemptionPolicy"))


def runtime_class(obj: Object, found: Findings) -> None:
    """A runtime class."""
    handler = obj.get("handler", "")
    found.each_invalid("handler", handler, names.dns1123_label(handler))


def runtime_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed runtime class keeps its handler."""
    runtime_class(new, found)
    found.immutable("handler", new.get("handler"), old.get("handler"))


def _access_modes(spec: Object, found: Findings) -> None:
    modes = spec.get("accessModes") or ()
    if not modes:
        found.required("spec.accessModes", "at least 1 access mode is required")
    for mode in modes:
        if mode not in _ACCESS_MODES:
            found.not_supported("spec.accessModes", mode, _ACCESS_MODES)


_VOLUME_FIELDS = frozenset(
    {
        "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity",
        "persistentVolumeReclaimPolicy", "storageClassName", "volumeAttributesClassName",
        "volumeMode",
    }
)  # fmt: skip


def persistent_volume(obj: Object, found: Findings) -> None:
    """A persistent volume."""
    spec = obj.get("spec") or {}
    _access_modes(spec, found)
    size = (spec.get("capacity") or {}).get("storage")
    if size is None:
        found.not_supported("spec.capacity", list(spec.get("capacity") or ()), ("storage",))
    else:
        amount(size, "spec.capacity[storage]", found)
    sources = [name for name in spec if name not in _VOLUME_FIELDS and spec[name] is not None]
    if not sources:
        found.required("spec", "must specify a volume type")
    for extra in sources[1:]:
        found.forbidden(f"spec.{extra}", "may not specify more than 1 volume type")
    policy = spec.get("persistentVolumeReclaimPolicy")
    found.one_of("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM)
    found.one_of("spec.volumeMode", spec.get("volumeMode"), _VOLUME_MODES)


def persistent_volume_claim(obj: Object, found: Findings) -> None:
    """A claim."""
    spec = obj.get("spec") or {}
    _access_modes(spec, found)
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        found.required("spec.resources[storage]")
    else:
        amount(size, "spec.resources[storage]", found)


_CLAIM_MAY_CHANGE = frozenset({"resources", "volumeName", "volumeAttributesClassName"})


def persistent_volume_claim_update(new: Object, old: Object, found: Findings) -> None:
    """A changed claim: its size, and once its volume."""
    persistent_volume_claim(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    changed: set[Any] = {name for name in {*after, *before} if after.get(name) != before.get(name)}
    if before.get("volumeName") and "volumeName" in changed:
        changed.add("dataSource")
    if before.get("storageClassName") is None:
        changed.discard("storageClassName")
    if changed - _CLAIM_MAY_CHANGE:
        found.forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims",
        )


def storage_class(obj: Object, found: Findings) -> None:
    """A storage class."""
    if not obj.get("provisioner"):
        found.required("provisioner")
    found.one_of("reclaimPolicy", obj.get("reclaimPolicy"), ("Delete", "Retain"))
    modes = ("Immediate", "WaitForFirstConsumer")
    found.one_of("volumeBindingMode", obj.get("volumeBindingMode"), modes)


def storage_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed storage class: what volumes were made by is fixed."""
    storage_class(new, found)
    for field in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
        if new.get(field) != old.get(field):
            found.forbidden(field, "updates to provisioner are forbidden."
                            if field == "provisioner" else IMMUTABLE)  # fmt: skip
