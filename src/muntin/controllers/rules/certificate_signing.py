"""The certificate for an approved request, as upstream's signers make it.

Source: kubernetes v1.36 pkg/controller/certificates/{authority,signer}; the order of extensions is
that of Go's x509.CreateCertificate.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from muntin.controllers.rules.actions import Action, Object, Update
from muntin.kit.errors import Invalid
from muntin.model.resources import CERTIFICATE_SIGNING_REQUESTS

TTL_S = 365 * 24 * 3600.0
_LEAST_S, _BACKDATE_S, _SHORT_S = 600.0, 300.0, 8 * 3600.0
_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}
# In the order of Go's constants.
_EXTENDED = {
    "any": "2.5.29.37.0",
    "server auth": "1.3.6.1.5.5.7.3.1",
    "client auth": "1.3.6.1.5.5.7.3.2",
    "code signing": "1.3.6.1.5.5.7.3.3",
    "email protection": "1.3.6.1.5.5.7.3.4",
    "s/mime": "1.3.6.1.5.5.7.3.4",
    "ipsec end system": "1.3.6.1.5.5.7.3.5",
    "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
    "ipsec user": "1.3.6.1.5.5.7.3.7",
    "timestamping": "1.3.6.1.5.5.7.3.8",
    "ocsp signing": "1.3.6.1.5.5.7.3.9",
    "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
    "netscape sgc": "2.16.840.1.113730.4.1",
}


@dataclass(frozen=True)
class Authority:
    """Who signs: its certificate and key in PEM, and for how long at most."""

    certificate_pem: bytes
    key_pem: bytes
    ttl_s: float = TTL_S

    @cached_property
    def certificate(self) -> Any:
        from cryptography import x509

        return x509.load_pem_x509_certificate(self.certificate_pem)

    @cached_property
    def key(self) -> Any:
        from cryptography.hazmat.primitives import serialization

        return serialization.load_pem_private_key(self.key_pem, password=None)


def issue(request: Object, authority: Authority, now: float, serial: int) -> Action:
    """The request with its certificate.

    Raises:
        Invalid: the request's signature or usages are wrong, or the authority has expired.
    """
    spec = request["spec"]
    wanted = _lifetime_s(spec.get("expirationSeconds"), authority.ttl_s)
    pem = sign(spec["request"], spec.get("usages") or (), authority, now, wanted, serial)
    status = {**(request.get("status") or {}), "certificate": b64encode(pem).decode()}
    obj = {**request, "status": status}
    return Update(resource=CERTIFICATE_SIGNING_REQUESTS, obj=obj, subresource="status")


def _lifetime_s(wanted_s: int | None, most_s: float) -> float:
    return most_s if wanted_s is None else min(most_s, max(_LEAST_S, float(wanted_s)))


def sign(
    request: str,
    usages: Collection[str],
    authority: Authority,
    now: float,
    lifetime_s: float,
    serial: int,
) -> bytes:
    """The certificate in PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization

    asked, signer = x509.load_pem_x509_csr(b64decode(request)), authority.certificate
    if not asked.is_signature_valid:
        raise Invalid("unable to verify certificate request signature")
    begin, end = _validity(now, lifetime_s, signer.not_valid_after_utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(asked.subject)
        .issuer_name(signer.subject)
        .public_key(asked.public_key())
        .serial_number(serial)
        .not_valid_before(begin)
        .not_valid_after(end)
    )
    for extension, critical in _extensions(asked, usages, signer):
        builder = builder.add_extension(extension, critical=critical)
    made = builder.sign(authority.key, hashes.SHA256())
    return made.public_bytes(serialization.Encoding.PEM)


def _validity(now: float, lifetime_s: float, signer_ends: datetime) -> tuple[datetime, datetime]:
    """Long ones begin and end a little earlier; none outlives its signer."""
    moment = datetime.fromtimestamp(int(now), UTC)
    if moment >= signer_ends:
        text = "refusing to sign a certificate that expired in the past"
        raise Invalid(f"{text}: NotAfter={signer_ends}")
    backdate_s = _BACKDATE_S if lifetime_s >= _SHORT_S else 0.0
    end = moment + timedelta(seconds=lifetime_s - backdate_s)
    return moment - timedelta(seconds=_BACKDATE_S), min(end, signer_ends)


def _extensions(asked: Any, usages: Collection[str], signer: Any) -> list[tuple[Any, bool]]:
    from cryptography import x509

    unknown = [usage for usage in usages if usage not in _USAGES and usage not in _EXTENDED]
    if unknown:
        raise Invalid(f"unrecognized usage values: {unknown}")
    found: list[tuple[Any, bool]] = []
    names = {_USAGES[usage] for usage in usages if usage in _USAGES}
    if names:
        flags = {name: name in names for name in _USAGES.values()}
        for name in ("encipher_only", "decipher_only"):  # they say how keys are agreed upon
            flags[name] &= flags["key_agreement"]
        found.append((x509.KeyUsage(**flags), True))
    extended = [oid for usage, oid in _EXTENDED.items() if usage in usages]
    if extended:
        oids = [x509.ObjectIdentifier(oid) for oid in dict.fromkeys(extended)]
        found.append((x509.ExtendedKeyUsage(oids), False))
    found.append((x509.BasicConstraints(ca=False, path_length=None), True))
    try:
        kind = x509.SubjectKeyIdentifier
        own = signer.extensions.get_extension_for_class(kind).value
        made = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)
    except x509.ExtensionNotFound:
        pass
    else:
        found.append((made, False))
    try:
        alternative = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return found
    return [*found, (alternative, not list(asked.subject))]


def expires(request: Object) -> float | None:
    """When the certificate of a request ends; None if it has none that can be read."""
    text = (request.get("status") or {}).get("certificate")
    if not text:
        return None
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(b64decode(text)).not_valid_after_utc.timestamp()
    except ValueError:
        return None
