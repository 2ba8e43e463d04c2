"""The pods that a node may create: mirrors of its own static pods, that refer to nothing else.

Source: kubernetes v1.34 plugin/pkg/admission/noderestriction/admission.go (admitPodCreate).
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

MIRROR = "kubernetes.io/config.mirror"


def refused(pod: Object, node: str, uid: str | None) -> str:
    """Why ``node``, whose uid is ``uid`` (None: it is not registered), may not; else empty."""
    metadata, spec = pod["metadata"], pod["spec"]
    if MIRROR not in (metadata.get("annotations") or {}):
        return f'pod does not have "{MIRROR}" annotation, node "{node}" can only create mirror pods'
    head = f'node "{node}" can only create pods with'
    if spec.get("nodeName") != node:
        return f"{head} spec.nodeName set to itself"
    return _of_owners(metadata.get("ownerReferences") or [], node, uid, head) or _of_references(
        spec, node
    )


def _of_owners(owners: list[Object], node: str, uid: str | None, head: str) -> str:
    if len(owners) > 1:
        return f"{head} a single owner reference set to itself"
    owner = owners[0] if owners else {}
    named = (owner.get("apiVersion"), owner.get("kind"), owner.get("name"))
    if named != ("v1", "Node", node):
        return f"{head} an owner reference set to itself"
    if not owner.get("controller"):
        return f"{head} a controller owner reference set to itself"
    if owner.get("blockOwnerDeletion"):
        return f'node "{node}" must not set blockOwnerDeletion on an owner reference'
    if uid is None:
        return f'error looking up node {node} to verify uid: nodes "{node}" not found'
    if owner.get("uid") != uid:
        return f"node {node} UID mismatch: expected {owner.get('uid')} got {uid}"
    return ""


def _of_references(spec: Object, node: str) -> str:
    found = _references(spec)
    return f'node "{node}" can not create pods that reference {found}' if found else ""


def _references(spec: Object) -> str:
    """What other objects the pod needs, the first kind of them."""
    if spec.get("serviceAccountName"):
        return "a service account"
    sources = list(spec.get("volumes") or ())
    drivers: list[Object] = []
    for volume in spec.get("volumes") or ():
        sources += (volume.get("projected") or {}).get("sources") or ()
        drivers += [source for source in volume.values() if isinstance(source, dict)]
    rows = [
        row
        for field in ("initContainers", "containers", "ephemeralContainers")
        for row in spec.get(field) or ()
    ]
    froms = [source for row in rows for source in row.get("envFrom") or ()]
    values = [env.get("valueFrom") or {} for row in rows for env in row.get("env") or ()]
    for kind, keys in (
        ("secrets", ("secret", "secretRef", "secretKeyRef")),
        ("configmaps", ("configMap", "configMapRef", "configMapKeyRef")),
        ("clustertrustbundles", ("clusterTrustBundle",)),
        ("persistentvolumeclaims", ("persistentVolumeClaim",)),
    ):
        if kind == "secrets" and (spec.get("imagePullSecrets") or any(map(_has_secret, drivers))):
            return kind
        if any(row.get(key) is not None for row in (*sources, *froms, *values) for key in keys):
            return kind
    return "resourceclaims" if spec.get("resourceClaims") else ""


def _has_secret(source: Object) -> bool:
    """Whether a volume's source names a Secret for its driver.

    Source: kubernetes v1.34 pkg/api/pod/util.go (VisitPodSecretNames).
    """
    names = ("secretRef", "nodePublishSecretRef", "secretName")
    return any(source.get(name) is not None for name in names)
