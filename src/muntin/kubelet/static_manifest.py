"""Static pods: manifests of the node's own folder as pods, and their mirrors in the API. Pure.

Source: kubernetes v1.34 pkg/kubelet/config/{common,file}.go, pkg/kubelet/pod/mirror_client.go.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from muntin.kit import safe_yaml
from muntin.kit.errors import Invalid, Unsupported
from muntin.model import decoding, defaults, schema
from muntin.model.gates import Version
from muntin.model.resources import PODS
from muntin.model.validation import validate_create
from muntin.model.windows_releases import DEFAULT_KUBERNETES

Object = dict[str, Any]

HASH = "kubernetes.io/config.hash"
MIRROR = "kubernetes.io/config.mirror"
SEEN = "kubernetes.io/config.seen"
SOURCE = "kubernetes.io/config.source"
CREATE, DELETE = "create", "delete"

_UID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""The uid names folders of the node, so it must not lead to others."""
_TOLERATION = {"effect": "NoExecute", "operator": "Exists"}
_REFERENCES = (
    "configMap", "configMapKeyRef", "configMapRef", "persistentVolumeClaim", "secret",
    "secretKeyRef", "secretRef", "serviceAccountToken", "clusterTrustBundle",
    "nodePublishSecretRef", "resourceClaims", "secretName",
)  # fmt: skip


def is_mirror(pod: Mapping[str, Any]) -> bool:
    """Whether an API object is the mirror of a static pod."""
    return MIRROR in (pod["metadata"].get("annotations") or {})


def static_pod(text: bytes, path: str, node_name: str, version: Version, seen: str) -> Object:
    """The pod that the manifest ``text`` of the file ``path`` describes, on this node.

    ``seen`` is when it was read, as text. Its uid follows from node, path and text.

    Raises:
        Invalid: it is not one valid pod, its uid cannot name a folder, or it needs other objects
            of the API.
    """
    value = safe_yaml.load(text)
    if not isinstance(value, dict) or (value.get("apiVersion"), value.get("kind")) != ("v1", "Pod"):
        raise Invalid("expected one object of apiVersion v1 and kind Pod")
    pod = decoding.decode(_schema(version), PODS, value).object
    pod = {"apiVersion": "v1", "kind": "Pod", **pod}
    meta, spec = pod.setdefault("metadata", {}), pod.setdefault("spec", {})
    name = meta.get("name") or ""
    if not name:
        raise Invalid("metadata.name is missing")
    if found := _referenced(spec):
        raise Invalid(f"a static pod may not refer to API objects, got {found}")
    uid = meta.get("uid") or _digest(pod, path, node_name)
    if not _UID.fullmatch(uid):
        wanted = "expected at most 128 letters, digits, '-', '_' and '.', the first no sign"
        raise Invalid(f"metadata.uid: {wanted}, got {uid[:200]!r}")
    annotations = {**(meta.get("annotations") or {}), HASH: uid, SEEN: seen, SOURCE: "file"}
    meta |= {"name": f"{name}-{node_name.lower()}", "uid": uid, "annotations": annotations}
    meta.setdefault("namespace", "default")
    tolerations = [row for row in spec.get("tolerations") or () if row != _TOLERATION]
    spec |= {"nodeName": node_name, "tolerations": [*tolerations, _TOLERATION]}
    defaults.apply(PODS, pod)
    if causes := validate_create(PODS, pod):
        raise Invalid("; ".join(f"{cause.field}: {cause.message}" for cause in causes))
    pod["status"] = {"phase": "Pending"}
    return pod


def _schema(version: Version) -> schema.Schema:
    try:
        return schema.load("{}.{}".format(*version))
    except Unsupported:
        return schema.load("{}.{}".format(*DEFAULT_KUBERNETES))


def _digest(pod: Object, path: str, node_name: str) -> str:
    text = json.dumps(pod, sort_keys=True, default=str)
    content = f"host:{node_name}file:{path}{text}".encode()
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def _referenced(spec: Any) -> str:
    """The first field that names another object of the API."""
    if isinstance(spec, dict):
        for field in ("serviceAccountName", "imagePullSecrets"):
            if spec.get(field):
                return field
        for name, value in spec.items():
            if name in _REFERENCES and value is not None:
                return str(name)
            if found := _referenced(value):
                return found
    if isinstance(spec, list):
        return next((found for item in spec if (found := _referenced(item))), "")
    return ""


def mirror_of(pod: Object, node: Mapping[str, Any]) -> Object:
    """What is created in the API to show a static pod."""
    meta = {key: value for key, value in pod["metadata"].items() if key != "uid"}
    owner = {
        "apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"],
        "uid": node["metadata"].get("uid", ""), "controller": True,
    }  # fmt: skip
    annotations = {**meta["annotations"], MIRROR: meta["annotations"][HASH]}
    meta |= {"annotations": annotations, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod["spec"]}


def mirror_action(pod: Object | None, mirror: Object | None) -> str:
    """What to do with the mirror of a static pod: create it, delete it, or nothing.

    A mirror of another manifest, or one that a client deletes, is deleted and created again.
    """
    if mirror is None:
        return CREATE if pod is not None else ""
    if not is_mirror(mirror):
        return ""  # a pod of the API has the name
    same = (
        pod is not None
        and mirror["metadata"]["annotations"][MIRROR] == (pod["metadata"]["annotations"][HASH])
    )
    return "" if same and not mirror["metadata"].get("deletionTimestamp") else DELETE
