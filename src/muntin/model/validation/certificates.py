"""Validation of certificate signing requests and trust bundles.

Source: kubernetes v1.34 pkg/apis/certificates/validation/validation.go.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from typing import Any

from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.signers import bundle_name, signer_name

_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign",
    "data encipherment", "decipher only", "digital signature", "email protection",
    "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
    "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth",
    "signing", "timestamping",
)  # fmt: skip
_LEGACY = "kubernetes.io/legacy-unknown"
_DECIDED = ("Approved", "Denied")
_TRUE_ONLY = ("Approved", "Denied", "Failed")
_STATUSES = ("False", "True", "Unknown")
_MIN_EXPIRATION_S = 600
_BUNDLE_BYTES = 1024 * 1024
_PATH = "status.conditions"
_HIDDEN = "<certificate data>"
_pem = re.compile(rb"-----BEGIN ([^-]+)-----\s*(.*?)-----END \1-----", re.DOTALL).finditer


def signing_request(obj: Object, found: Findings) -> None:
    """A new request."""
    _request(obj, {}, found)


def _request(obj: Object, old: Object, found: Findings) -> None:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    problem = _pem_problem(spec.get("request") or "")
    if problem:
        found.invalid("spec.request", spec.get("request") or "", problem)
    _usages(spec.get("usages") or (), (old.get("spec") or {}).get("usages") or (), found)
    signer = spec.get("signerName") or ""
    if signer == _LEGACY and (old.get("spec") or {}).get("signerName") != _LEGACY:
        text = "the legacy signerName is not allowed via this API version"
        found.invalid("spec.signerName", signer, text)
    else:
        signer_name(signer, "spec.signerName", found)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _MIN_EXPIRATION_S:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        found.invalid("spec.expirationSeconds", seconds, text)
    _conditions(status.get("conditions") or (), found)
    certificate = status.get("certificate")
    if certificate and certificate != (old.get("status") or {}).get("certificate"):
        _certificate(a2b_base64(certificate), found)


def _pem_problem(encoded: str) -> str:
    """What is wrong with the request's PEM block; its content is the signer's to judge."""
    try:
        blocks = [match[1] for match in _pem(a2b_base64(encoded))]
    except ValueError:
        blocks = []
    if not blocks or blocks[0] != b"CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    return ""


def _usages(usages: Any, before: Any, found: Findings) -> None:
    if not usages:
        found.required("spec.usages")
    if usages == before:
        return
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            found.not_supported(f"spec.usages[{index}]", usage, _USAGES)
    seen: set[Any] = set()
    for index, usage in enumerate(usages):
        found.unique(f"spec.usages[{index}]", usage, seen)


def _conditions(rows: Any, found: Findings) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        path, kind, status = f"{_PATH}[{index}]", row.get("type") or "", row.get("status") or ""
        if not kind:
            found.required(f"{path}.type")
        known = ("True",) if kind in _TRUE_ONLY else _STATUSES
        if not status:
            found.required(f"{path}.status")
        elif status not in known:
            found.not_supported(f"{path}.status", status, known)
        if kind in _DECIDED and any(other in seen for other in _DECIDED if other != kind):
            text = "Approved and Denied conditions are mutually exclusive"
            found.invalid(f"{path}.type", kind, text)
        found.unique(f"{path}.type", kind, seen)


def _certificate(content: bytes, found: Findings) -> None:
    blocks = list(_pem(content))
    for match in blocks:
        if match[1] != b"CERTIFICATE":
            text = f'only CERTIFICATE PEM blocks are allowed, found "{match[1].decode()}"'
            found.invalid("status.certificate", _HIDDEN, text)
            return
    if not blocks:
        text = "must contain at least one CERTIFICATE PEM block"
        found.invalid("status.certificate", _HIDDEN, text)


def signing_request_update(new: Object, old: Object, found: Findings) -> None:
    """A changed request: neither decided nor signed in passing."""
    _changed(new, old, found)
    _undecided(new, old, found)
    if _issued(new) != _issued(old):
        found.forbidden("status.certificate", "updates may not set certificate content")


def signing_request_approval(new: Object, old: Object, found: Findings) -> None:
    """A request that was decided."""
    _changed(new, old, found)
    if _issued(new) != _issued(old):
        found.forbidden("status.certificate", "updates may not set certificate content")


def signing_request_status(new: Object, old: Object, found: Findings) -> None:
    """A request that was signed: once."""
    _changed(new, old, found)
    _undecided(new, old, found)
    if _issued(old) and _issued(new) != _issued(old):
        text = "updates may not modify existing certificate content"
        found.forbidden("status.certificate", text)


def _issued(obj: Object) -> str:
    value: str = (obj.get("status") or {}).get("certificate") or ""
    return value


def _of_kind(obj: Object, kind: str) -> list[Any]:
    rows = (obj.get("status") or {}).get("conditions") or ()
    return [row for row in rows if row.get("type") == kind]


def _changed(new: Object, old: Object, found: Findings) -> None:
    _request(new, old, found)
    for kind in _TRUE_ONLY:
        if len(_of_kind(new, kind)) < len(_of_kind(old, kind)):
            found.forbidden(_PATH, f'updates may not remove a condition of type "{kind}"')


def _undecided(new: Object, old: Object, found: Findings) -> None:
    for kind in _DECIDED:
        now, was = _of_kind(new, kind), _of_kind(old, kind)
        if len(now) > len(was):
            found.forbidden(_PATH, f'updates may not add a condition of type "{kind}"')
        elif len(now) == len(was) and now != was:
            found.forbidden(_PATH, f'updates may not modify a condition of type "{kind}"')


def trust_bundle(obj: Object, found: Findings) -> None:
    """Certificates that a signer is trusted by."""
    spec = obj.get("spec") or {}
    signer, name = spec.get("signerName") or "", obj["metadata"].get("name") or ""
    found.each_invalid("metadata.name", name, bundle_name(name, signer))
    if signer:
        signer_name(signer, "spec.signerName", found)
    _trusted(spec.get("trustBundle") or "", "spec.trustBundle", found)


def _trusted(text: str, path: str, found: Findings) -> None:
    if len(text) > _BUNDLE_BYTES:
        found.too_long(path, _BUNDLE_BYTES)
        return
    omitted = "<value omitted>"
    blocks = list(_pem(text.encode()))
    for index, match in enumerate(blocks):
        if match[1] != b"CERTIFICATE":
            problem = f"entry {index} has bad block type: {match[1].decode()}"
            found.invalid(path, omitted, problem)
        elif b":" in match[2]:
            found.invalid(path, omitted, f"entry {index} has PEM block headers")
    if not blocks:
        found.invalid(path, omitted, "at least one trust anchor must be provided")
    content = [match[2] for match in blocks]
    if len(set(content)) < len(content):
        twice = [index for index, one in enumerate(content) if content.count(one) > 1]
        shown = f"[{' '.join(map(str, twice))}]"
        problem = f"duplicate trust anchor (indices {shown})"
        found.invalid(path, omitted, problem)


def trust_bundle_update(new: Object, old: Object, found: Findings) -> None:
    """A changed bundle is of the same signer."""
    trust_bundle(new, found)
    after, before = ((obj.get("spec") or {}).get("signerName") for obj in (new, old))
    found.immutable("spec.signerName", after or "", before or "")
