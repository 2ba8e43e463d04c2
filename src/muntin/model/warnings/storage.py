"""Volumes, claims, classes, drivers; and the pairs of keys that Secrets hold.

Source: kubernetes v1.36 pkg/api/{persistentvolume,persistentvolumeclaim,storage},
pkg/registry/{storage,resource,core/secret}.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.warnings.amounts import of_bytes
from muntin.model.warnings.labels import DEPRECATED, of_term

Object = Mapping[str, Any]

_CLASS = "volume.beta.kubernetes.io/storage-class"
_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_NO_CLASS = 'deprecated since v1.8; use "storageClassName" attribute instead'
_NO_OPTIONS = 'deprecated since v1.31; use "mountOptions" attribute instead'
_RECYCLED = (
    "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the "
    "recommended approach is to use dynamic provisioning."
)
_GONE = (
    ("cephfs", "cephfs", "v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "v1.28, non-functional in v1.31+"),
)
_LOGGED_TOKENS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to "
    "prevent possible logging of tokens in volume attributes"
)
_block = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.+?-----END \1-----", re.DOTALL)


def of_volume(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A PersistentVolume."""
    annotations, spec = new["metadata"].get("annotations") or {}, new.get("spec") or {}
    for key, text in ((_CLASS, _NO_CLASS), (_OPTIONS, _NO_OPTIONS)):
        if key in annotations:
            yield f"metadata.annotations[{key}]: {text}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield _RECYCLED
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        yield from of_term(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")
    for kind, shown, since in _GONE:
        if spec.get(kind) is not None:
            yield f"spec.{shown}: deprecated in {since}"


def of_claim(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A PersistentVolumeClaim."""
    if _CLASS in (new["metadata"].get("annotations") or {}):
        yield f"metadata.annotations[{_CLASS}]: {_NO_CLASS}"
    resources = (new.get("spec") or {}).get("resources") or {}
    for field in ("requests", "limits"):
        yield from of_bytes(resources.get(field), f"spec.resources.{field}", "storage")


def of_class(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """The topologies of a StorageClass."""
    for index, term in enumerate(new.get("allowedTopologies") or ()):
        for number, row in enumerate(term.get("matchLabelExpressions") or ()):
            if row.get("key") in DEPRECATED:
                at = f"allowedTopologies[{index}].matchLabelExpressions[{number}].key"
                yield f"{at}: {DEPRECATED[row['key']]}"


def of_capacity(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """The nodes of a CSIStorageCapacity."""
    topology = new.get("nodeTopology") or {}
    yield from of_term(topology, "nodeTopology")
    for key in topology.get("matchLabels") or ():
        if key in DEPRECATED:
            yield f"nodeTopology.matchLabels.{key}: {DEPRECATED[key]}"


def of_driver(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A CSIDriver that gets tokens where others may read them."""
    spec, before = new.get("spec") or {}, (old or {}).get("spec") or {}
    wanted = spec.get("tokenRequests")
    if not wanted or (old is not None and wanted == before.get("tokenRequests")):
        return
    unsaid = spec.get("serviceAccountTokenInSecrets") is None
    if unsaid and is_in(ApiFeature.TOKENS_IN_SECRETS, api):
        yield _LOGGED_TOKENS


def of_slice(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """The driver of a ResourceSlice."""
    name = (new.get("spec") or {}).get("driver") or ""
    if name != name.lower() and (old is None or name != (old.get("spec") or {}).get("driver")):
        text = "driver names should be lowercase"
        yield f'spec.driver: {text}; "{name}" contains uppercase characters'


def of_secret(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A certificate and its key that cannot be used."""
    if new.get("type") != "kubernetes.io/tls":
        return
    data = new.get("data") or {}
    certificate, key = (_decoded(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    for text, what, ends in (
        (certificate, "certificate", ("CERTIFICATE",)), (key, "key", ("PRIVATE KEY",)),
    ):  # fmt: skip
        kinds = [match[1] for match in _block.finditer(text)]
        if not kinds:
            yield f"tls: failed to find any PEM data in {what} input"
            return
        if not any(kind.endswith(ends) for kind in kinds):
            yield _other_blocks(kinds, what)
            return


def _other_blocks(kinds: list[str], what: str) -> str:
    if what == "certificate":
        shown = " ".join(kinds)
        return (
            'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM '
            f"blocks of the following types: [{shown}]"
        )
    if kinds == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return (
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after '
        f"skipping PEM blocks of the following types: [{' '.join(kinds)}]"
    )


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except (ValueError, binascii.Error):
        return ""
