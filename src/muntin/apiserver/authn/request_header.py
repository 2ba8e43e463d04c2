"""A proxy in front that has authenticated the user and says so in headers.

Only the holder of a certificate that the front proxy's authority signed is believed. Source:
apiserver v1.34 pkg/authentication/request/headerrequest/requestheader.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from muntin.apiserver.access_config import RequestHeaderConfig
from muntin.apiserver.authn.certificates import subject_of
from muntin.apiserver.request import User
from muntin.kit.http.messages import Request


class RequestHeader:
    """Believes the headers of one front proxy."""

    def __init__(self, config: RequestHeaderConfig) -> None:
        self._config = config
        self._authorities: list[Any] = []

    def is_proxy(self, certificate: Mapping[str, Any], der: bytes) -> bool:
        """Whether the front proxy's authority signed this (verified) certificate.

        The listener trusts both authorities, so the handshake does not say which it was: here
        the signature itself is checked, once for each connection.
        """
        if not der:
            return False
        from cryptography import x509

        if not self._authorities:
            self._authorities = x509.load_pem_x509_certificates(self._config.client_ca)
        leaf = x509.load_der_x509_certificate(der)
        return any(_signed(leaf, authority) for authority in self._authorities)

    def user(self, request: Request) -> User | None:
        """The user whom the headers name; None if they name none, or the proxy is not the one."""
        config, certificate = self._config, request.peer_certificate or {}
        names = [value for key, value in subject_of(certificate) if key == "commonName"]
        if config.allowed_names and not set(names) & set(config.allowed_names):
            return None
        headers = request.headers
        name = _first(headers, config.username_headers)
        if not name:
            return None
        groups = [
            group
            for header in config.group_headers
            for group in headers.get(header.lower(), "").split(", ")
            if group
        ]
        extra: dict[str, tuple[str, ...]] = {}
        for key, values in _extra(headers, config.extra_header_prefixes):
            extra[key] = (*extra.get(key, ()), *values)
        if "system:authenticated" not in groups and "system:unauthenticated" not in groups:
            groups.append("system:authenticated")
        return User(name, tuple(groups), _first(headers, config.uid_headers), extra)


def _signed(leaf: Any, authority: Any) -> bool:
    if leaf.issuer != authority.subject:
        return False
    try:
        leaf.verify_directly_issued_by(authority)
    except Exception:  # whatever the library says: another authority of the same name
        return False
    return True


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((headers[name.lower()] for name in names if headers.get(name.lower())), "")


def _extra(
    headers: Mapping[str, str], prefixes: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, value in headers.items():
        for prefix in prefixes:
            if name.startswith(prefix.lower()):
                key = unquote(name[len(prefix) :]).lower()
                yield key, tuple(part for part in value.split(", ") if part)
