"""CertificateSigningRequests: which are approved unasked, which a signer takes, which are old.

Source: kubernetes v1.36 pkg/controller/certificates/{approver,signer,cleaner},
pkg/apis/certificates/helpers.go.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from muntin.controllers.rules.actions import Action, Again, Delete, Object, Update
from muntin.kit.errors import Invalid
from muntin.model import times
from muntin.model.resources import CERTIFICATE_SIGNING_REQUESTS

APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
API_CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
LEGACY = "kubernetes.io/legacy-unknown"
SIGNERS = (API_CLIENT, KUBELET_CLIENT, KUBELET_SERVING, LEGACY)
POLL_S = 3600.0
_HOUR_S = 3600.0
APPROVED_S = DENIED_S = _HOUR_S
PENDING_S = 24 * _HOUR_S
_NODES, _NODE_PREFIX = "system:nodes", "system:node:"
_CLIENT = frozenset({"client auth", "digital signature"})
_SERVING = frozenset({"digital signature", "server auth"})
_ENCIPHERS = "key encipherment"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks to be certified."""

    common_name: str
    organizations: tuple[str, ...] = ()
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    uris: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognized:
    """A request that is approved if its user may create ``subresource`` of requests."""

    subresource: str
    message: str


_OWN = Recognized(
    "selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."
)
_ANY = Recognized(
    "nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."
)


def parse(request: str) -> Asked:
    """What ``request`` (PEM in base64) asks for.

    Raises:
        Invalid: it is no request.
    """
    from cryptography import x509  # slow to import, and few clusters have requests at their start
    from cryptography.x509.oid import NameOID

    try:
        found = x509.load_pem_x509_csr(b64decode(request))
        try:
            kind = x509.SubjectAlternativeName
            names = found.extensions.get_extension_for_class(kind).value
        except x509.ExtensionNotFound:
            names = None
    except ValueError as err:
        raise Invalid(f"the certificate request cannot be read: {err}") from err

    def subject(oid: Any) -> tuple[str, ...]:
        return tuple(str(row.value) for row in found.subject.get_attributes_for_oid(oid))

    def of(kind: Any) -> tuple[str, ...]:
        return tuple(map(str, names.get_values_for_type(kind))) if names is not None else ()

    common = subject(NameOID.COMMON_NAME)
    return Asked(
        common[-1] if common else "",
        subject(NameOID.ORGANIZATION_NAME),
        of(x509.DNSName),
        of(x509.IPAddress),
        of(x509.RFC822Name),
        of(x509.UniformResourceIdentifier),
    )


def conditions(request: Object) -> set[str]:
    """The types of its conditions that hold; older ones have no status."""
    rows = (request.get("status") or {}).get("conditions") or ()
    return {row["type"] for row in rows if row.get("status", "True") == "True"}


def is_issued(request: Object) -> bool:
    """Whether it has its certificate."""
    return bool((request.get("status") or {}).get("certificate"))


def awaits_approval(request: Object) -> bool:
    """Whether a kubelet's request is neither approved nor denied."""
    if is_issued(request) or request["spec"].get("signerName") != KUBELET_CLIENT:
        return False
    return not conditions(request) & {APPROVED, DENIED}


def recognized(request: Object) -> list[Recognized]:
    """As what it may be approved unasked, in this order."""
    asked = parse(request["spec"]["request"])
    if client_problem(asked, request["spec"].get("usages") or ()):
        return []
    own = request["spec"].get("username") == asked.common_name
    return [_OWN, _ANY] if own else [_ANY]


def review(request: Object, found: Recognized) -> Object:
    """The question whether its user may."""
    spec = request["spec"]
    attributes = {
        "group": "certificates.k8s.io",
        "resource": "certificatesigningrequests",
        "verb": "create",
        "subresource": found.subresource,
        "version": "*",
    }
    given = {"user": "username", "uid": "uid", "groups": "groups", "extra": "extra"}
    own = {name: spec[field] for name, field in given.items() if spec.get(field)}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {**own, "resourceAttributes": attributes},
    }


def approve(request: Object, message: str) -> Action:
    """The approval."""
    row = {"type": APPROVED, "status": "True", "reason": "AutoApproved", "message": message}
    return _with_condition(request, row, "approval")


def fail(request: Object, message: str, now: float) -> Action:
    """The end of a request that no signer will take."""
    row = {
        "type": FAILED,
        "status": "True",
        "reason": "SignerValidationFailure",
        "message": message,
        "lastUpdateTime": times.text_of(now),
    }
    return _with_condition(request, row, "status")


def _with_condition(request: Object, row: Object, subresource: str) -> Action:
    status = request.get("status") or {}
    rows = [*(status.get("conditions") or ()), row]
    obj = {**request, "status": {**status, "conditions": rows}}
    return Update(resource=CERTIFICATE_SIGNING_REQUESTS, obj=obj, subresource=subresource)


def awaits_signature(request: Object) -> bool:
    """Whether it is approved for one of the signers, and has no certificate."""
    if is_issued(request) or request["spec"].get("signerName") not in SIGNERS:
        return False
    held = conditions(request)
    return APPROVED in held and not held & {DENIED, FAILED}


def problem(request: Object) -> str:
    """Why its signer does not take it; empty if it does."""
    spec = request["spec"]
    asked, usages = parse(spec["request"]), spec.get("usages") or ()
    if spec["signerName"] == KUBELET_CLIENT:
        return client_problem(asked, usages)
    if spec["signerName"] == KUBELET_SERVING:
        return serving_problem(asked, usages)
    if spec["signerName"] == API_CLIENT:
        return api_client_problem(usages)
    return ""


def client_problem(asked: Asked, usages: Collection[str]) -> str:
    """Why this is no certificate by which a kubelet can be known."""
    if asked.organizations != (_NODES,):
        return "subject organization is not system:nodes"
    for kind, names in (
        ("DNS", asked.dns_names),
        ("Email", asked.emails),
        ("IP", asked.addresses),
        ("URI", asked.uris),
    ):
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if not asked.common_name.startswith(_NODE_PREFIX):
        return "subject common name does not begin with system:node:"
    return _usage_problem(usages, _CLIENT)


def serving_problem(asked: Asked, usages: Collection[str]) -> str:
    """Why this is no certificate with which a kubelet can serve."""
    if asked.organizations != (_NODES,):
        return "subject organization is not system:nodes"
    if not asked.dns_names and not asked.addresses:
        return "DNS or IP subjectAltName is required"
    for kind, names in (("Email", asked.emails), ("URI", asked.uris)):
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if wrong := _usage_problem(usages, _SERVING):
        return wrong
    if not asked.common_name.startswith(_NODE_PREFIX):
        return "subject common name does not begin with system:node:"
    return ""


def _usage_problem(usages: Collection[str], needed: frozenset[str]) -> str:
    if set(usages) in (needed, needed | {_ENCIPHERS}):
        return ""
    return f"usages did not match [{' '.join(sorted(needed | {_ENCIPHERS}))}]"


def api_client_problem(usages: Collection[str]) -> str:
    """Why these are not the usages of a client of the API server."""
    for usage in usages:
        if usage not in _CLIENT | {_ENCIPHERS}:
            return f"invalid usage for client certificate: {usage}"
    if "client auth" not in usages:
        return "missing required usage for client certificate: client auth"
    return ""


def clean(request: Object, expires: float | None, now: float) -> list[Action]:
    """Delete it if it is old; ``expires``: when its certificate ends, if it has one."""
    if _is_old(request, expires, now):
        return [Delete(resource=CERTIFICATE_SIGNING_REQUESTS, obj=request)]
    return [Again(POLL_S)]


def _is_old(request: Object, expires: float | None, now: float) -> bool:
    issued = is_issued(request)
    rows = (request.get("status") or {}).get("conditions") or ()
    if not rows:
        return _older(request["metadata"].get("creationTimestamp"), PENDING_S, now)
    for row in rows:
        since = row.get("lastUpdateTime")
        if row["type"] in (DENIED, FAILED) and _older(since, DENIED_S, now):
            return True
        if row["type"] == APPROVED:
            if _older(since, APPROVED_S if issued else PENDING_S, now):
                return True
            if issued and expires is not None and now > expires:
                return True
    return False


def _older(since: str | None, limit_s: float, now: float) -> bool:
    moment = times.seconds_of(since)
    return moment is not None and now - moment > limit_s
