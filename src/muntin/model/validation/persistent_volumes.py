"""Validation of persistent volumes.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePersistentVolume*).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from muntin.model import names, quantity
from muntin.model.validation import volume_sources
from muntin.model.validation.amounts import positive_amount
from muntin.model.validation.claims import VOLUME_MODES, access_modes
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.node_selectors import node_selector
from muntin.model.validation.paths import no_back_steps
from muntin.model.validation.volume_sources import Check, required

_RECLAIM = ("Delete", "Recycle", "Retain")
_PORTAL_LENGTH = 64
_GENERALLY_AVAILABLE = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
_INLINE = "in the context of inline volumes"


def persistent_volume(obj: Object, found: Findings) -> None:
    """A new volume."""
    _spec(obj.get("spec") or {}, "spec", found, obj["metadata"].get("name") or "")


def _spec(spec: Object, path: str, found: Findings, name: str) -> None:
    if not spec.get("accessModes"):
        found.required(f"{path}.accessModes")
    access_modes(spec, path, found)
    _capacity(dict(sorted((spec.get("capacity") or {}).items())), f"{path}.capacity", found)
    policy = spec.get("persistentVolumeReclaimPolicy")
    if policy and policy not in _RECLAIM:
        found.not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, _RECLAIM)
    affinity = spec.get("nodeAffinity")
    if affinity is not None and affinity.get("required") is None:
        text = "must specify required node constraints"
        found.required(f"{path}.nodeAffinity.required", text)
    elif affinity is not None:
        node_selector(affinity["required"], f"{path}.nodeAffinity.required", found)
    _source(spec, path, found, name)
    root = posixpath.normpath((spec.get("hostPath") or {}).get("path") or ".") in ("/", "//")
    if root and policy == "Recycle":
        text = "may not be 'recycle' for a hostPath mount of '/'"
        found.forbidden(f"{path}.persistentVolumeReclaimPolicy", text)
    _classes(spec, path, found)


def _capacity(capacity: Object, path: str, found: Findings) -> None:
    if not capacity:
        found.required(path)
    if "storage" not in capacity or len(capacity) > 1:
        found.not_supported(path, capacity, ("storage",))
    for name, text in capacity.items():
        here = f"{path}[{name}]"
        if quantity.parse(text).nano < 0:
            found.invalid(here, quantity.value(text), "must be a valid resource quantity")
        positive_amount(text, here, found)


def _source(spec: Object, path: str, found: Findings, name: str) -> None:
    kinds = [kind for kind in _SOURCES if spec.get(kind) is not None]
    if not kinds:
        found.required(path, "must specify a volume type")
        return
    kind, *extra = kinds
    _SOURCES[kind](spec[kind], f"{path}.{volume_sources.SPELLED.get(kind, kind)}", found)
    if kind == "iscsi":
        _portal(spec["iscsi"], name, f"{path}.iscsi", found)
    if kind == "local" and spec.get("nodeAffinity") is None:
        found.required(f"{path}.nodeAffinity", "Local volume requires node affinity")
    for other in extra:
        if other != "flexVolume":
            shown = "cephFS" if other == "cephfs" else other
            found.forbidden(f"{path}.{shown}", "may not specify more than 1 volume type")


def _portal(source: Object, name: str, path: str, found: Findings) -> None:
    portal = source.get("targetPortal") or ""
    if source.get("initiatorName") is not None and len(f"{name}:{portal}") > _PORTAL_LENGTH:
        found.invalid(
            f"{path}.targetportal",
            portal,
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified.",
        )


def _classes(spec: Object, path: str, found: Findings) -> None:
    name = spec.get("storageClassName")
    if name:
        found.each_invalid(f"{path}.storageClassName", name, names.dns1123_subdomain(name))
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        found.not_supported(f"{path}.volumeMode", mode, VOLUME_MODES)
    attributes, here = spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName"
    if attributes is None:
        return
    if not attributes:
        found.required(here, "an empty string is disallowed")
    else:
        found.each_invalid(here, attributes, names.dns1123_subdomain(attributes))
    if spec.get("csi") is None:
        text = "has to be specified when using volumeAttributesClassName"
        found.required(f"{path}.csi", text)


def _gluster(source: Object, path: str, found: Findings) -> None:
    required("endpoints", "path")(source, path, found)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        found.invalid(f"{path}.endpointsNamespace", namespace, text)
    elif namespace is not None:
        problems = names.dns1123_label(namespace)
        found.each_invalid(f"{path}.endpointsNamespace", namespace, problems)


def _iscsi(source: Object, path: str, found: Findings) -> None:
    volume_sources.iscsi(source, path, found, of_pod=False)


def _azure_file(source: Object, path: str, found: Findings) -> None:
    required("secretName", "shareName")(source, path, found)
    if source.get("secretNamespace") == "":
        found.required(f"{path}.secretNamespace")


def _local(source: Object, path: str, found: Findings) -> None:
    if not source.get("path"):
        found.required(f"{path}.path")
    else:
        no_back_steps(source["path"], f"{path}.path", found)


def _csi(source: Object, path: str, found: Findings) -> None:
    volume_sources.csi_driver_name(source.get("driver") or "", f"{path}.driver", found)
    required("volumeHandle")(source, path, found)
    for field in (
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ):
        reference = source.get(field)
        if reference is None:
            continue
        for key, rule in (("name", names.dns1123_subdomain), ("namespace", names.dns1123_label)):
            value = reference.get(key)
            if not value:
                found.required(f"{path}.{field}.{key}")
            else:
                found.each_invalid(f"{path}.{field}.{key}", value, rule(value))


_SOURCES: Mapping[str, Check] = {
    **volume_sources.SHARED,
    "glusterfs": _gluster,
    "iscsi": _iscsi,
    "cinder": volume_sources.with_secret("volumeID", "name", "namespace"),
    "azureFile": _azure_file,
    "local": _local,
    "storageos": volume_sources.storage_os("name", "namespace"),
    "csi": _csi,
}


def persistent_volume_update(new: Object, old: Object, found: Findings) -> None:
    """A changed volume: where its data is stays."""
    persistent_volume(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    if _data(after, before) != _data(before, before):
        text = "spec.persistentvolumesource is immutable after creation"
        found.forbidden("spec.persistentvolumesource", text)
    found.immutable("volumeMode", after.get("volumeMode"), before.get("volumeMode"))
    was, now = before.get("nodeAffinity"), after.get("nodeAffinity")
    if was is not None and now != was and not _only_newer_labels(now, was):
        text = "field is immutable, except for updating from beta label to GA"
        found.invalid("nodeAffinity", now, text)
    field = "volumeAttributesClassName"
    if before.get(field) is not None and after.get(field) is None:
        found.forbidden(f"spec.{field}", "update from non-nil value to nil is forbidden")


def _data(spec: Object, before: Object) -> dict[str, Any]:
    result = {kind: spec[kind] for kind in _SOURCES if spec.get(kind) is not None}
    old = before.get("csi")
    if "csi" in result and old is not None and old.get("controllerExpandSecretRef") is None:
        result["csi"] = {
            key: value for key, value in spec["csi"].items() if key != "controllerExpandSecretRef"
        }
    return result


def _only_newer_labels(now: Any, was: Any) -> bool:
    """Whether all that changed is keys that have a name of general availability."""
    if isinstance(was, dict) and isinstance(now, dict):
        if was.keys() != now.keys():
            return False
        return all(
            (key == "key" and _GENERALLY_AVAILABLE.get(was[key]) == now[key])
            or _only_newer_labels(now[key], was[key])
            for key in was
        )
    if isinstance(was, list) and isinstance(now, list):
        return len(was) == len(now) and all(map(_only_newer_labels, now, was))
    return bool(now == was)


def inline_volume(spec: Object, path: str, found: Findings) -> None:
    """A volume that an attachment describes itself: of CSI, and nothing that claims would need."""
    for field in ("claimRef", "capacity"):
        if spec.get(field):
            found.forbidden(f"{path}.{field}", f"may not be specified {_INLINE}")
    if spec.get("csi") is None:
        found.required(f"{path}.csi", f"has to be specified {_INLINE}")
    if not spec.get("accessModes"):
        found.required(f"{path}.accessModes")
    access_modes(spec, path, found)
    if spec.get("persistentVolumeReclaimPolicy") not in (None, "", "Retain"):
        found.forbidden(f"{path}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}")
    if spec.get("nodeAffinity") is not None:
        found.forbidden(f"{path}.nodeAffinity", f"may not be specified {_INLINE}")
    _source(spec, path, found, "")
    if spec.get("storageClassName"):
        found.forbidden(f"{path}.storageClassName", f"may not be specified {_INLINE}")
    if spec.get("volumeMode") not in (None, "Filesystem"):
        text = f"may not specify volumeMode other than Filesystem {_INLINE}"
        found.forbidden(f"{path}.volumeMode", text)
