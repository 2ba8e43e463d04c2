"""Who signs a certificate request that names no signer, as the beta version allowed.

Source: kubernetes v1.20 pkg/apis/certificates/{helpers.go,v1beta1/defaults.go}.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Collection
from typing import Any

LEGACY = "kubernetes.io/legacy-unknown"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
_NODES, _NODE_PREFIX = "system:nodes", "system:node:"
_CLIENT_USAGES = {"key encipherment", "digital signature", "client auth"}
_SERVING_USAGES = {"key encipherment", "digital signature", "server auth"}


def default_signer(request: str, usages: Collection[str]) -> str:
    """The signer of a request (PEM in base64): the kubelets' own, or the one of old."""
    found = _parsed(request)
    if found is None or not _is_node(found.subject):
        return LEGACY
    names, addresses, others = _alternative_names(found)
    if set(usages) == _CLIENT_USAGES and not (names or addresses or others):
        return KUBELET_CLIENT
    if set(usages) == _SERVING_USAGES and (names or addresses) and not others:
        return KUBELET_SERVING
    return LEGACY


def _parsed(request: str) -> Any:
    from cryptography import x509  # a slow import for the one kind that needs it

    try:
        return x509.load_pem_x509_csr(b64decode(request, validate=True))
    except (ValueError, binascii.Error):
        return None


def _is_node(subject: Any) -> bool:
    from cryptography.x509.oid import NameOID

    organizations = [row.value for row in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    names = [row.value for row in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return organizations == [_NODES] and bool(names) and str(names[0]).startswith(_NODE_PREFIX)


def _alternative_names(request: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """DNS names, addresses, and whatever else the request asks to be known by."""
    from cryptography import x509

    try:
        kind = x509.SubjectAlternativeName
        found = list(request.extensions.get_extension_for_class(kind).value)
    except x509.ExtensionNotFound:
        return [], [], []
    names = [row for row in found if isinstance(row, x509.DNSName)]
    addresses = [row for row in found if isinstance(row, x509.IPAddress)]
    return names, addresses, [row for row in found if row not in names and row not in addresses]
