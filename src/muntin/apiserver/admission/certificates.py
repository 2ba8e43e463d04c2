"""Who may approve, sign and ask for which certificates.

Source: kubernetes v1.34 plugin/pkg/admission/certificates/{approval,signing,subjectrestriction}.
"""

from __future__ import annotations

import base64

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.authz import Attributes as Asked
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.rbac import SUPERUSERS

GROUP = "certificates.k8s.io"
CLIENTS = "kubernetes.io/kube-apiserver-client"


def _is_for_request(attributes: Attributes, operation: str, subresource: str) -> bool:
    resource = attributes.resource
    return (
        resource.group == GROUP
        and resource.plural == "certificatesigningrequests"
        and attributes.operation == operation
        and attributes.subresource == subresource
    )


def may(authorizer: Authorizer, attributes: Attributes, verb: str, signer: str) -> bool:
    """Whether the user has ``verb`` on the signer, by its name or by all of its domain."""
    user = attributes.user
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        asked = Asked(user, verb, GROUP, "signers", name=name)
        if SUPERUSERS in user.groups or authorizer.decide(asked).allowed:
            return True
    return False


class CertificateApproval(Silent):
    """Approving needs the verb ``approve`` on the signer."""

    resources = frozenset({"certificatesigningrequests.certificates.k8s.io"})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def validate(self, attributes: Attributes) -> None:
        if not _is_for_request(attributes, "UPDATE", "approval"):
            return
        signer = ((attributes.old or {}).get("spec") or {}).get("signerName", "")
        if not may(self._authorizer, attributes, "approve", signer):
            why = f'user not permitted to approve requests with signerName "{signer}"'
            raise status.forbidden(attributes.resource, attributes.name, why)


class CertificateSigning(Silent):
    """Writing a certificate needs the verb ``sign`` on the signer."""

    resources = frozenset({"certificatesigningrequests.certificates.k8s.io"})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def validate(self, attributes: Attributes) -> None:
        if not _is_for_request(attributes, "UPDATE", "status"):
            return
        new = attributes.obj.get("status") or {}
        old = (attributes.old or {}).get("status") or {}
        failed = [[row for row in state.get("conditions") or () if row.get("type") == "Failed"]
                  for state in (new, old)]  # fmt: skip
        if new.get("certificate") == old.get("certificate") and failed[0] == failed[1]:
            return
        signer = ((attributes.old or {}).get("spec") or {}).get("signerName", "")
        if not may(self._authorizer, attributes, "sign", signer):
            why = f'user not permitted to sign requests with signerName "{signer}"'
            raise status.forbidden(attributes.resource, attributes.name, why)


class CertificateSubjectRestriction(Silent):
    """Nobody asks for a client certificate of the group of superusers."""

    resources = frozenset({"certificatesigningrequests.certificates.k8s.io"})

    def validate(self, attributes: Attributes) -> None:
        if not _is_for_request(attributes, "CREATE", ""):
            return
        spec = attributes.obj.get("spec") or {}
        if spec.get("signerName") != CLIENTS:
            return
        if SUPERUSERS in _organizations(spec.get("request") or ""):
            why = f"use of {CLIENTS} signer with {SUPERUSERS} group is not allowed"
            raise status.forbidden(attributes.resource, attributes.name, why)


def _organizations(request: str) -> list[str]:
    """The organizations in the subject of a certificate request; none if it is not one."""
    from cryptography import x509  # heavy, and needed for nothing else at the start

    try:
        parsed = x509.load_pem_x509_csr(base64.b64decode(request))
    except ValueError:
        return []  # validation says what is wrong with it
    names = parsed.subject.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME)
    return [str(name.value) for name in names]


class ClusterTrustBundleAttest(Silent):
    """Bundles of a signer are written by those with the verb ``attest`` on it."""

    resources = frozenset({"clustertrustbundles.certificates.k8s.io"})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def validate(self, attributes: Attributes) -> None:
        resource = attributes.resource
        if resource.group != GROUP or resource.plural != "clustertrustbundles":
            return
        if attributes.operation not in ("CREATE", "UPDATE") or attributes.subresource:
            return
        if attributes.old is not None and attributes.obj == attributes.old:
            return
        signer = (attributes.obj.get("spec") or {}).get("signerName")
        if signer and not may(self._authorizer, attributes, "attest", signer):
            why = f'user not permitted to attest for signerName "{signer}"'
            raise status.forbidden(attributes.resource, attributes.name, why)
