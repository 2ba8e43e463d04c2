"""What is known of Secrets that hold a ServiceAccount's token, and of the claims of such tokens.

Source: kubernetes v1.34 pkg/serviceaccount/{legacy,claims}.go, pkg/controller/serviceaccount/
tokens_controller.go; Kubernetes documentation, "Service account token Secrets".
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]

TYPE = "kubernetes.io/service-account-token"
NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
CREATED_BY = "kubernetes.io/created-by"
LAST_USED = "kubernetes.io/legacy-token-last-used"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
LEGACY_ISSUER = "kubernetes/serviceaccount"
TRACKING = "kube-apiserver-legacy-service-account-token-tracking"
_CLAIM = "kubernetes.io/serviceaccount/"


def user_name(namespace: str, name: str) -> str:
    """The user that a ServiceAccount is."""
    return f"system:serviceaccount:{namespace}:{name}"


def legacy_claims(namespace: str, account: str, uid: str, secret: str) -> dict[str, str]:
    """The claims of a token that lives in a Secret: no end and no audience."""
    return {
        "iss": LEGACY_ISSUER,
        f"{_CLAIM}namespace": namespace,
        f"{_CLAIM}secret.name": secret,
        f"{_CLAIM}service-account.name": account,
        f"{_CLAIM}service-account.uid": uid,
        "sub": user_name(namespace, account),
    }


def of_legacy_claims(claims: Object) -> tuple[str, str, str, str]:
    """Namespace, account, its uid and the Secret that legacy claims name.

    Raises:
        KeyError: one is missing.
    """
    fields = ("namespace", "service-account.name", "service-account.uid", "secret.name")
    namespace, account, uid, secret = (str(claims[_CLAIM + field]) for field in fields)
    return namespace, account, uid, secret


def account_of(secret: Object) -> tuple[str, str] | None:
    """Name and uid (maybe empty) of the account whose token ``secret`` is for; None for others."""
    if secret.get("type") != TYPE:
        return None
    annotations = secret["metadata"].get("annotations") or {}
    name = annotations.get(NAME, "")
    return (name, annotations.get(UID, "")) if name else None


def token_of(secret: Object) -> bytes:
    """The token in a Secret, empty if there is none."""
    try:
        return base64.b64decode((secret.get("data") or {}).get("token") or "", validate=True)
    except (binascii.Error, ValueError):
        return b""
