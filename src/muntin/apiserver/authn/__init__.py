"""Who is asking: client certificates, ServiceAccount tokens, or nobody in particular."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.authn.certificates import user_of
from muntin.apiserver.authn.service_account import TokenIssuer
from muntin.apiserver.request import ANONYMOUS, User
from muntin.kit.http.messages import Request

AUTHENTICATED = "system:authenticated"


class Authenticator:
    """Tries a certificate first, then a bearer token."""

    def __init__(self, issuer: TokenIssuer, *, anonymous: bool) -> None:
        self._issuer = issuer
        self._anonymous = anonymous
        self._certificates: dict[int, tuple[Mapping[str, Any], User]] = {}

    def authenticate(self, request: Request) -> User:
        """The user behind ``request``.

        Raises:
            ApiError: 401, a credential was shown that is not good, or none and one is needed.
        """
        if request.peer_certificate is not None:
            return self._by_certificate(request.peer_certificate)
        header = request.headers.get("authorization", "")
        if header[:7].lower() == "bearer ":
            return self._issuer.authenticate(header[7:].strip())
        if header or not self._anonymous:
            raise status.unauthorized()
        return ANONYMOUS

    def _by_certificate(self, certificate: Mapping[str, Any]) -> User:
        # One dict per connection, alive as long as the connection: its identity is its key.
        key = id(certificate)
        known = self._certificates.get(key)
        if known is not None and known[0] is certificate:
            return known[1]
        user = user_of(certificate)
        if len(self._certificates) > 10_000:
            self._certificates.clear()
        self._certificates[key] = (certificate, user)
        return user
