"""Keys in PEM and signed JSON web tokens (RFC 7515, 7517, 7519), over PyJWT and cryptography.

Both libraries are imported when the first key is used: together they are 40 MB that a program
which never sees a token does without.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit import depth, errors

Claims = dict[str, Any]
ECDSA = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key: ``algorithm`` is what it signs with, ``kid`` its name in token headers."""

    key: Any
    algorithm: str
    kid: str

    def jwk(self) -> dict[str, Any]:
        """It as a member of a JSON web key set."""
        from jwt.algorithms import ECAlgorithm, RSAAlgorithm

        kind = RSAAlgorithm if self.algorithm.startswith("RS") else ECAlgorithm
        public: dict[str, Any] = json.loads(kind.to_jwk(self.key))
        public.pop("key_ops", None)
        return {"use": "sig", "alg": self.algorithm, "kid": self.kid, **public}


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and the public one that belongs to it."""

    key: Any
    public: VerifyingKey

    def sign(self, claims: Mapping[str, Any]) -> str:
        """A compact token of ``claims``."""
        import jwt

        headers = {"kid": self.public.kid}
        return jwt.encode(dict(claims), self.key, algorithm=self.public.algorithm, headers=headers)


def signing_key(pem: bytes) -> SigningKey:
    """The private key in ``pem``: RSA, or EC on P-256, P-384 or P-521.

    Raises:
        Invalid: there is none, or of another kind.
    """
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError) as err:
        raise errors.Invalid(f"the signing key cannot be read: {err}") from err
    return SigningKey(key, _verifying(key.public_key()))


def verifying_keys(pem: bytes) -> list[VerifyingKey]:
    """The public keys of all keys (public or private) and certificates in ``pem``.

    Raises:
        Invalid: one cannot be read, or there is none.
    """
    found = [_public(match.group(1), match.group(0)) for match in _PEM.finditer(pem)]
    if not found:
        raise errors.Invalid("there is no PEM block with a key in it")
    return [_verifying(key) for key in found]


def _public(label: bytes, block: bytes) -> Any:
    from cryptography.hazmat.primitives import serialization
    from cryptography.x509 import load_pem_x509_certificate

    try:
        if label == b"CERTIFICATE":
            return load_pem_x509_certificate(block).public_key()
        if label.endswith(b"PRIVATE KEY"):
            return serialization.load_pem_private_key(block, None).public_key()
        return serialization.load_pem_public_key(block)
    except (ValueError, TypeError) as err:
        raise errors.Invalid(f"a key cannot be read: {err}") from err


def _verifying(key: Any) -> VerifyingKey:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    if isinstance(key, rsa.RSAPublicKey):
        algorithm = "RS256"
    elif isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in ECDSA:
        algorithm = ECDSA[key.curve.name]
    else:
        raise errors.Invalid("a key must be RSA, or EC on P-256, P-384 or P-521")
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return VerifyingKey(key, algorithm, base64url(hashlib.sha256(der).digest()))


def jwk_keys(document: Mapping[str, Any], algorithms: Iterable[str]) -> list[VerifyingKey]:
    """The usable keys of a JSON web key set; those of other kinds are left out."""
    from jwt import PyJWK, PyJWTError

    allowed, found = set(algorithms), []
    for row in document.get("keys") or ():
        if row.get("use") not in (None, "sig"):
            continue
        try:
            key = PyJWK(row)
        except PyJWTError:
            continue
        name = key.algorithm_name
        # A key set need not say which of its family's algorithms an RSA key is for.
        names = [name] if "alg" in row or not name.startswith("RS") else sorted(allowed)
        found += [
            VerifyingKey(key.key, each, row.get("kid", ""))
            for each in names
            if each in allowed and each[:2] in (name[:2], "PS" if name[:2] == "RS" else "")
        ]
    return found


def peek(token: str) -> tuple[dict[str, Any], Claims]:
    """Header and claims as they stand there, nothing of it believed.

    Raises:
        Invalid: it is no token.
    """
    parts = token.split(".")
    if len(parts) != 3:
        raise errors.Invalid("a token has three parts")
    try:
        header, claims = (depth.loads(base64url_decode(part)) for part in parts[:2])
    except ValueError as err:
        raise errors.Invalid("a token's header and claims are JSON in base64url") from err
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise errors.Invalid("a token's header and claims are JSON objects")
    return header, claims


def verify(token: str, keys: Iterable[VerifyingKey]) -> Claims:
    """The claims of ``token``, signed with one of ``keys``; time and audience are the caller's.

    Raises:
        Invalid: it is no token, or none of the keys signed it.
    """
    import jwt

    header, _ = peek(token)
    kid, algorithm = header.get("kid"), header.get("alg")
    fitting = [key for key in keys if key.algorithm == algorithm]
    named = [key for key in fitting if kid and key.kid == kid]
    options = {
        f"verify_{name}": False for name in ("aud", "exp", "nbf", "iat", "iss", "sub", "jti")
    }
    for key in named or fitting:
        try:
            claims: Claims = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm],
                options=options,  # type: ignore[arg-type]
            )
        except jwt.PyJWTError:
            continue
        return claims
    raise errors.Invalid("the token's signature is of no key that is known here")


def detached_hs256(content: bytes, key: bytes, kid: str) -> str:
    """A compact JWS of ``content`` with HMAC-SHA256, its middle part left out (RFC 7515, A.F)."""
    header = base64url(json.dumps({"alg": "HS256", "kid": kid}, separators=(",", ":")).encode())
    signed = f"{header}.{base64url(content)}".encode()
    return f"{header}..{base64url(hmac.digest(key, signed, 'sha256'))}"


def base64url(data: bytes) -> str:
    """Without padding, as in tokens."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def base64url_decode(text: str) -> bytes:
    """The bytes of unpadded base64url.

    Raises:
        ValueError: it is none.
    """
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
