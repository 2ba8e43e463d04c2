"""Validation of a pod's volumes.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateVolumes,
validateVolumeSource).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.model import names, quantity
from muntin.model.validation import volume_sources
from muntin.model.validation.claims import claim_template
from muntin.model.validation.containers import pull_policy
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.paths import local_path
from muntin.model.validation.projections import projected
from muntin.model.validation.volume_files import downward_api, items, mode
from muntin.model.validation.volume_sources import Check, required

_PORTAL_LENGTH = 64
# How upstream writes the names of some sources where there is another one.
_SPELLED = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}


def volumes(spec: Object, path: str, found: Findings, pod_name: str = "") -> dict[str, Any]:
    """All volumes of a pod spec; gives the valid ones by name, for the mounts.

    ``pod_name`` is empty in templates: claims are then not known by name.
    """
    result: dict[str, Any] = {}
    rows = spec.get("volumes") or ()
    own = {f"{pod_name}-{row.get('name')}" for row in rows if row.get("ephemeral") is not None}
    for index, row in enumerate(rows):
        here, name = f"{path}[{index}]", row.get("name")
        before = len(found.causes)
        _source(row, here, found, pod_name)
        if not name:
            found.required(f"{here}.name")
        else:
            problems = names.dns1123_label(name)
            if problems:
                found.each_invalid(f"{here}.name", name, problems)
        if name in result:
            found.duplicate(f"{here}.name", name)
        if name and len(found.causes) == before:
            result[name] = row
        claim = (row.get("persistentVolumeClaim") or {}).get("claimName")
        if claim and pod_name and claim in own:
            found.invalid(
                f"{here}.persistentVolumeClaim.claimName",
                claim,
                "must not reference a PVC that gets created for an ephemeral volume",
            )
    return result


def _source(row: Object, path: str, found: Findings, pod_name: str) -> None:
    kinds = [kind for kind in row if kind != "name" and row[kind] is not None]
    if not kinds:
        found.required(path, "must specify a volume type")
        return
    if len(kinds) > 1:
        kinds.sort(key=lambda kind: _ORDER.get(kind, len(_ORDER)))
    kind, *extra = kinds
    check = _SOURCES.get(kind)
    if check is not None:
        check(row[kind], f"{path}.{volume_sources.SPELLED.get(kind, kind)}", found)
    if kind == "iscsi":
        _iscsi_name(row, path, found)
    elif kind == "ephemeral" and pod_name and row.get("name"):
        _claim_name(f"{pod_name}-{row['name']}", row["name"], path, found)
    for other in extra:
        found.forbidden(
            f"{path}.{_SPELLED.get(other, other)}", "may not specify more than 1 volume type"
        )


def _iscsi_name(row: Object, path: str, found: Findings) -> None:
    source = row["iscsi"]
    label = f"{row.get('name') or ''}:{source.get('targetPortal') or ''}"
    if source.get("initiatorName") is not None and len(label) > _PORTAL_LENGTH:
        found.invalid(
            f"{path}.name",
            row.get("name"),
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified.",
        )


def _claim_name(claim: str, name: str, path: str, found: Findings) -> None:
    for problem in names.dns1123_subdomain(claim):
        found.invalid(f"{path}.name", name, f'PVC name "{claim}": {problem}')


def _empty_dir(source: Object, path: str, found: Findings) -> None:
    limit = source.get("sizeLimit")
    if limit is not None and quantity.parse(limit).nano < 0:
        found.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _git_repository(source: Object, path: str, found: Findings) -> None:
    required("repository")(source, path, found)
    local_path(source.get("directory") or "", f"{path}.directory", found)


def _config_map(source: Object, path: str, found: Findings) -> None:
    required("name")(source, path, found)
    mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    items(source, path, found)


def _secret(source: Object, path: str, found: Findings) -> None:
    required("secretName")(source, path, found)
    mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    items(source, path, found)


def _downward_api(source: Object, path: str, found: Findings) -> None:
    mode(source.get("defaultMode"), f"{path}.defaultMode", found)
    for item in source.get("items") or ():
        downward_api(item, path, found)


def _iscsi(source: Object, path: str, found: Findings) -> None:
    volume_sources.iscsi(source, path, found, of_pod=True)


def _csi(source: Object, path: str, found: Findings) -> None:
    volume_sources.csi_driver_name(source.get("driver") or "", f"{path}.driver", found)
    secret = source.get("nodePublishSecretRef")
    if secret is not None and not secret.get("name"):
        found.required(f"{path}.nodePublishSecretRef.name")
    elif secret is not None:
        problems = names.dns1123_subdomain(secret["name"])
        found.each_invalid(f"{path}.name", secret["name"], problems)


def _ephemeral(source: Object, path: str, found: Findings) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        found.required(f"{path}.volumeClaimTemplate")
    else:
        claim_template(template, f"{path}.volumeClaimTemplate", found)


def _image(source: Object, path: str, found: Findings) -> None:
    pull_policy(source.get("pullPolicy"), f"{path}.pullPolicy", found)


_SOURCES: Mapping[str, Check] = {
    **volume_sources.SHARED,
    "emptyDir": _empty_dir,
    "gitRepo": _git_repository,
    "secret": _secret,
    "iscsi": _iscsi,
    "glusterfs": required("endpoints", "path"),
    "persistentVolumeClaim": required("claimName"),
    "cinder": volume_sources.with_secret("volumeID", "name"),
    "downwardAPI": _downward_api,
    "configMap": _config_map,
    "azureFile": required("secretName", "shareName"),
    "storageos": volume_sources.storage_os("name"),
    "projected": projected,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
# The order in which upstream looks at the kinds; the first that is set is the volume's.
_ORDER = {
    kind: index
    for index, kind in enumerate(
        (
            "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore",
            "secret", "nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd",
            "cinder", "cephfs", "quobyte", "downwardAPI", "fc", "flexVolume", "configMap",
            "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk",
            "storageos", "projected", "scaleIO", "csi", "ephemeral", "image",
        )
    )
}  # fmt: skip
