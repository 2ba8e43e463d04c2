"""Every pod runs as a ServiceAccount that exists, and finds its token where programs look for it.

Source: kubernetes v1.34 plugin/pkg/admission/serviceaccount/admission.go, and v1.20 for tokens
that are Secrets.
"""

from __future__ import annotations

import secrets

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.admission.mountable_secrets import refused
from muntin.apiserver.cache import Cache
from muntin.apiserver.items import Item
from muntin.model.names import SUFFIX_ALPHABET
from muntin.model.resources import SECRETS, SERVICE_ACCOUNTS
from muntin.model.spec_keys import TOKEN_VOLUME

MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
MIRROR = "kubernetes.io/config.mirror"
TOKEN_SECONDS = 3607  # upstream's: an hour, and a little to tell these tokens from others
ROOT_CA = "kube-root-ca.crt"
TOKEN_TYPE = "kubernetes.io/service-account-token"
ACCOUNT_UID = "kubernetes.io/service-account.uid"
ENFORCE_SECRETS = "kubernetes.io/enforce-mountable-secrets"
_MARK = ENFORCE_SECRETS.encode()
_PULLING = b'"imagePullSecrets"'
_TRUE = ("1", "t", "T", "TRUE", "true", "True")


class ServiceAccount(Silent):
    """Sets the account, pull secrets and the token's volume of new pods.

    Without ``bound_tokens``, as APIs of old, an account's own token Secret is what is mounted
    where it has one.
    """

    resources = frozenset({"pods"})

    def __init__(self, cache: Cache, *, bound_tokens: bool = True) -> None:
        self._accounts = cache.of(SERVICE_ACCOUNTS)
        self._secrets = cache.of(SECRETS)
        self._bound_tokens = bound_tokens

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        pod = attributes.obj
        if _is_mirror(pod):
            return
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        item = self._item(attributes, name)
        wanted = spec.get("automountServiceAccountToken")
        if wanted is False and _PULLING not in item.raw:
            return
        account = item.object()
        if wanted is None:
            wanted = account.get("automountServiceAccountToken", True)
        if wanted:
            mount_token(spec, "" if self._bound_tokens else self._secret_of(account))
        if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
            spec["imagePullSecrets"] = account["imagePullSecrets"]

    def _item(self, attributes: Attributes, name: str) -> Item:
        item = self._accounts.get(attributes.namespace, name)
        if item is None:
            why = (
                f"error looking up service account {attributes.namespace}/{name}: "
                f'serviceaccount "{name}" not found'
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
        return item

    def _secret_of(self, account: Object) -> str:
        """The first Secret that the account lists and that holds a token of it."""
        metadata = account["metadata"]
        for reference in account.get("secrets") or ():
            item = self._secrets.get(metadata["namespace"], reference.get("name", ""))
            secret = {} if item is None else item.object()
            marks = (secret.get("metadata") or {}).get("annotations") or {}
            if secret.get("type") == TOKEN_TYPE and marks.get(ACCOUNT_UID) == metadata["uid"]:
                return str(reference["name"])
        return ""

    def validate(self, attributes: Attributes) -> None:
        ephemeral = attributes.is_for("pods", "UPDATE", subresource="ephemeralcontainers")
        if not ephemeral and not attributes.is_for("pods", "CREATE"):
            return
        pod = attributes.obj
        if _is_mirror(pod):
            why = _of_mirror(pod["spec"])
            if why and not ephemeral:
                raise status.forbidden(attributes.resource, attributes.name, why)
            return
        item = self._item(attributes, pod["spec"].get("serviceAccountName") or "default")
        if _MARK not in item.raw:
            return
        account = item.object()
        marks = account["metadata"].get("annotations") or {}
        if marks.get(ENFORCE_SECRETS) in _TRUE:
            why = refused(account, pod["spec"], ephemeral=ephemeral)
            if why:
                raise status.forbidden(attributes.resource, attributes.name, why)


def _is_mirror(pod: Object) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})


def _of_mirror(spec: Object) -> str:
    """What a mirror pod may not have, in upstream's words."""
    if spec.get("serviceAccountName"):
        return "a mirror pod may not reference service accounts"
    for volume in spec.get("volumes") or ():
        if volume.get("secret") is not None:
            return "a mirror pod may not reference secrets"
        sources = (volume.get("projected") or {}).get("sources") or ()
        if any(source.get("serviceAccountToken") is not None for source in sources):
            return "a mirror pod may not use ServiceAccountToken volume projections"
    return ""


def mount_token(spec: Object, secret: str = "") -> None:
    """Mount the token into every container that has nothing at its path.

    ``secret`` names the Secret that holds it; else the volume is the projected one.
    """
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    bare = [row for row in containers if not _mounted(row)]
    if not bare:
        return
    volumes = spec.setdefault("volumes", [])
    name = next((row["name"] for row in volumes if _holds_token(row, secret)), "")
    if not name:
        name = secret or TOKEN_VOLUME + _suffix()
        if secret and any(row["name"] == name for row in volumes):
            name = f"{secret}-{_suffix()}"
        volumes.append(_secret_volume(name, secret) if secret else token_volume(name))
    for container in bare:
        mounts = container.setdefault("volumeMounts", [])
        mounts.append({"name": name, "readOnly": True, "mountPath": MOUNT_PATH})


def _suffix() -> str:
    return "".join(secrets.choice(SUFFIX_ALPHABET) for _ in range(5))


def _holds_token(volume: Object, secret: str) -> bool:
    if secret:
        return bool((volume.get("secret") or {}).get("secretName") == secret)
    return str(volume.get("name", "")).startswith(TOKEN_VOLUME)


def _mounted(container: Object) -> bool:
    return any(m.get("mountPath") == MOUNT_PATH for m in container.get("volumeMounts") or ())


def _secret_volume(name: str, secret: str) -> Object:
    return {"name": name, "secret": {"secretName": secret, "defaultMode": 0o644}}


def token_volume(name: str) -> Object:
    """The projected volume with token, root certificate and namespace."""
    field = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": ROOT_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": field}]}},
    ]
    return {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}}
