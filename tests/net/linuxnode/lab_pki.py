"""A throw-away certificate authority for the kubelet's server."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class LabPki:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lab-ca")])
        builder = self._builder(self._name, self._key)
        builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
        ca = builder.sign(self._key, hashes.SHA256())
        self.ca = ca.public_bytes(serialization.Encoding.PEM)
        (directory / "ca.crt").write_bytes(self.ca)

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )

    def issue(self, name: str, organization: str = "") -> tuple[bytes, bytes]:
        """Certificate and key as PEM; also kept as files of that name."""
        key = ec.generate_private_key(ec.SECP256R1())
        rows = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
        if organization:
            rows.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = self._builder(x509.Name(rows), key).add_extension(
            x509.SubjectAlternativeName([address]), critical=False
        )
        certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(
            serialization.Encoding.PEM
        )
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (self.directory / f"{name}.crt").write_bytes(certificate)
        (self.directory / f"{name}.key").write_bytes(private)
        return certificate, private
