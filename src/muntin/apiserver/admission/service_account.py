"""Every pod runs as a ServiceAccount that exists, and finds its token where programs look for it.

Source: kubernetes v1.34 plugin/pkg/admission/serviceaccount/admission.go.
"""

from __future__ import annotations

import secrets
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.cache import Cache
from muntin.model.names import SUFFIX_ALPHABET
from muntin.model.resources import SERVICE_ACCOUNTS

Object = dict[str, Any]

MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME_PREFIX = "kube-api-access-"
MIRROR = "kubernetes.io/config.mirror"
TOKEN_SECONDS = 3607  # upstream's: an hour, and a little to tell these tokens from others
ROOT_CA = "kube-root-ca.crt"


class ServiceAccount(Silent):
    """Sets the account, pull secrets and the projected token volume of new pods."""

    def __init__(self, cache: Cache) -> None:
        self._accounts = cache.of(SERVICE_ACCOUNTS)

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        pod = attributes.obj
        if MIRROR in (pod["metadata"].get("annotations") or {}):
            return
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        item = self._accounts.get(attributes.namespace, name)
        if item is None:
            why = (
                f"error looking up service account {attributes.namespace}/{name}: "
                f'serviceaccount "{name}" not found'
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
        account = item.object()
        wanted = spec.get("automountServiceAccountToken")
        if wanted is None:
            wanted = account.get("automountServiceAccountToken", True)
        if wanted:
            mount_token(spec)
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = account["imagePullSecrets"]


def mount_token(spec: Object) -> None:
    """Mount the token into every container that has nothing at its path."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    bare = [c for c in containers if not _mounted(c)]
    if not bare:
        return
    volumes = spec.setdefault("volumes", [])
    name = next((v["name"] for v in volumes if v.get("name", "").startswith(VOLUME_PREFIX)), "")
    if not name:
        name = VOLUME_PREFIX + "".join(secrets.choice(SUFFIX_ALPHABET) for _ in range(5))
        volumes.append(token_volume(name))
    for container in bare:
        mounts = container.setdefault("volumeMounts", [])
        mounts.append({"name": name, "readOnly": True, "mountPath": MOUNT_PATH})


def _mounted(container: Object) -> bool:
    return any(m.get("mountPath") == MOUNT_PATH for m in container.get("volumeMounts") or ())


def token_volume(name: str) -> Object:
    """The projected volume with token, root certificate and namespace."""
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": ROOT_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}
