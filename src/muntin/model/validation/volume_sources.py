"""Validation of what a volume is made of: the sources that pods and persistent volumes share.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validate*VolumeSource).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.paths import no_back_steps

Check = Callable[[Any, str, Findings], None]

HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate",
    "Socket",
)  # fmt: skip
_CACHING = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/"
    "{disk-id}"
)
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_QUOBYTE = "must be a host:port pair or multiple pairs separated by commas"
_QUOBYTE_TENANT = 65
_RESERVED = (".kubernetes.io", ".k8s.io")
_DRIVER_LENGTH = 63
_initiators: Mapping[str, Callable[[str], Any]] = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)").fullmatch,
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}").fullmatch,
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}").fullmatch,
}
_host_port = re.compile(r"(\[[^\]]*\]|[^:\[\]]*):[^:]*").fullmatch


def required(*fields: str) -> Check:
    """A check that ``fields`` are there, in that order."""

    def check(source: Object, path: str, found: Findings) -> None:
        for field in fields:
            if not source.get(field):
                found.required(f"{path}.{field}")

    return check


def host_path(source: Object, path: str, found: Findings) -> None:
    """A path of the node."""
    if not source.get("path"):
        found.required(f"{path}.path")
        return
    no_back_steps(source["path"], f"{path}.path", found)
    kind = source.get("type")
    if kind is not None and kind not in HOST_PATH_TYPES:
        found.not_supported(f"{path}.type", kind, HOST_PATH_TYPES)


def nfs(source: Object, path: str, found: Findings) -> None:
    """An export of an NFS server."""
    where = source.get("path") or ""
    if not source.get("server"):
        found.required(f"{path}.server")
    if not where:
        found.required(f"{path}.path")
    if not where.startswith("/"):
        found.invalid(f"{path}.path", where, "must be an absolute path")


def partitioned(field: str) -> Check:
    """A check of a disk that ``field`` names and whose partition may be given."""

    def check(source: Object, path: str, found: Findings) -> None:
        if not source.get(field):
            found.required(f"{path}.{field}")
        partition = source.get("partition") or 0
        if not 0 <= partition <= 255:
            found.invalid(f"{path}.partition", partition, "must be between 1 and 255, inclusive")

    return check


def fibre_channel(source: Object, path: str, found: Findings) -> None:
    """A Fibre Channel volume, by target names or by world wide identifiers."""
    targets, lun = source.get("targetWWNs"), source.get("lun")
    if not targets and not source.get("wwids"):
        found.required(
            f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"
        )
    if targets and source.get("wwids"):
        found.invalid(
            f"{path}.targetWWNs",
            targets,
            "targetWWNs and wwids can not be specified simultaneously",
        )
    if targets and lun is None:
        found.required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif targets and lun is not None:
        found.each_invalid(f"{path}.lun", lun, names.in_range(lun, 0, 255))


def iscsi(source: Object, path: str, found: Findings, *, of_pod: bool) -> None:
    """An iSCSI volume; for persistent ones the messages are shorter and the secret is checked."""
    if not source.get("targetPortal"):
        found.required(f"{path}.targetPortal")
    tail = " starting with iqn, eui, or naa" if of_pod else ""
    name = source.get("iqn")
    if not name:
        found.required(f"{path}.iqn")
    else:
        _initiator(name, f"{path}.iqn", tail, found)
    lun = source.get("lun") or 0
    found.each_invalid(f"{path}.lun", lun, names.in_range(lun, 0, 255))
    secret = source.get("secretRef")
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and secret is None:
        found.required(f"{path}.secretRef")
    if not of_pod and secret is not None and not secret.get("name"):
        found.required(f"{path}.secretRef.name")
    if source.get("initiatorName") is not None:
        _initiator(source["initiatorName"], f"{path}.initiatorname", tail, found)


def _initiator(name: str, path: str, tail: str, found: Findings) -> None:
    match = _initiators.get(name[:3])
    if match is None:
        found.invalid(path, name, f"must be valid format{tail}")
    elif not match(name):
        found.invalid(path, name, "must be valid format")


def quobyte(source: Object, path: str, found: Findings) -> None:
    """A Quobyte volume."""
    registry = source.get("registry")
    if not registry:
        found.required(f"{path}.registry", _QUOBYTE)
    elif len(source.get("tenant") or "") >= _QUOBYTE_TENANT:
        found.required(
            f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters"
        )
    else:
        for pair in registry.split(","):
            if not _host_port(pair):
                found.invalid(f"{path}.registry", registry, _QUOBYTE)
    if not source.get("volume"):
        found.required(f"{path}.volume")


def flocker(source: Object, path: str, found: Findings) -> None:
    """A Flocker dataset, by name or by UUID."""
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID")
    if not name and not uuid:
        found.required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        found.invalid(
            path, "resource", "datasetName and datasetUUID can not be specified simultaneously"
        )
    if "/" in name:
        found.invalid(f"{path}.datasetName", name, "must not contain '/'")


def secret_reference(
    source: Object, path: str, found: Findings, *fields: str, key: str = "secretRef"
) -> None:
    """``fields`` of the secret that ``key`` refers to, if it does."""
    reference = source.get(key)
    if reference is not None:
        required(*fields)(reference, f"{path}.{key}", found)


def with_secret(first: str, *fields: str) -> Check:
    """A check that ``first`` is there, and the ``fields`` of the secret if one is named."""

    def check(source: Object, path: str, found: Findings) -> None:
        required(first)(source, path, found)
        secret_reference(source, path, found, *fields)

    return check


def flex(source: Object, path: str, found: Findings) -> None:
    """A volume of a driver that nodes run as a program."""
    required("driver")(source, path, found)
    for key in source.get("options") or {}:
        if f".{key.partition('/')[0].lower()}".endswith(_RESERVED):
            found.invalid(
                f"{path}.options[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved"
            )


def azure_disk(source: Object, path: str, found: Findings) -> None:
    """A disk of Azure."""
    required("diskName", "diskURI")(source, path, found)
    uri, kind, caching = source.get("diskURI") or "", source.get("kind"), source.get("cachingMode")
    if caching is not None and caching not in _CACHING:
        found.not_supported(f"{path}.cachingMode", caching, _CACHING)
    if kind is not None and kind not in _DISK_KINDS:
        found.not_supported(f"{path}.kind", kind, _DISK_KINDS)
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        found.not_supported(f"{path}.diskURI", uri, (_MANAGED_DISK,))
    if kind not in (None, "Managed") and not uri.startswith("https://"):
        found.not_supported(f"{path}.diskURI", uri, (_BLOB_DISK,))


def storage_os(*secret_fields: str) -> Check:
    """A check of a StorageOS volume, whose secret needs ``secret_fields``."""

    def check(source: Object, path: str, found: Findings) -> None:
        name, namespace = source.get("volumeName"), source.get("volumeNamespace")
        if not name:
            found.required(f"{path}.volumeName")
        else:
            found.each_invalid(f"{path}.volumeName", name, names.dns1123_label(name))
        if namespace:
            problems = names.dns1123_label(namespace)
            found.each_invalid(f"{path}.volumeNamespace", namespace, problems)
        secret_reference(source, path, found, *secret_fields)

    return check


def csi_driver_name(name: str, path: str, found: Findings) -> None:
    """The name of a CSI driver."""
    if not name:
        found.required(path)
        if found.has("empty-drivers-once"):
            return
    if len(name) > _DRIVER_LENGTH:
        found.too_long(path, _DRIVER_LENGTH)
    found.each_invalid(path, name, names.dns1123_subdomain(name.lower()))


# Sources that are the same in pods and in persistent volumes.
SHARED: Mapping[str, Check] = {
    "hostPath": host_path,
    "gcePersistentDisk": partitioned("pdName"),
    "awsElasticBlockStore": partitioned("volumeID"),
    "nfs": nfs,
    "flocker": flocker,
    "rbd": required("monitors", "image"),
    "cephfs": required("monitors"),
    "quobyte": quobyte,
    "fc": fibre_channel,
    "flexVolume": flex,
    "vsphereVolume": required("volumePath"),
    "photonPersistentDisk": required("pdID"),
    "portworxVolume": required("volumeID"),
    "azureDisk": azure_disk,
    "scaleIO": required("gateway", "system", "volumeName"),
}
# Where upstream's path of a source is not its field.
SPELLED = {"gcePersistentDisk": "persistentDisk"}
