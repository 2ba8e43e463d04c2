"""Who is asking: a front proxy's headers, a client certificate, a bearer token, or nobody.

In upstream's order. Source: kubernetes v1.34 pkg/kubeapiserver/authenticator/config.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.access_config import AccessConfig
from muntin.apiserver.authn.bearer import BearerTokens, OfThisServer, token_of
from muntin.apiserver.authn.bootstrap_tokens import BootstrapTokens
from muntin.apiserver.authn.certificates import user_of
from muntin.apiserver.authn.oidc import OidcTokens
from muntin.apiserver.authn.request_header import RequestHeader
from muntin.apiserver.authn.service_account import TokenIssuer
from muntin.apiserver.authn.service_account_tokens import ServiceAccountTokens
from muntin.apiserver.authn.static_tokens import StaticTokens
from muntin.apiserver.authn.verified import Refused, TokenAuthenticator, Verified
from muntin.apiserver.authn.webhook import WebhookTokens
from muntin.apiserver.cache import Cache
from muntin.apiserver.items import Item
from muntin.apiserver.request import ANONYMOUS, User
from muntin.kit.clock import Clock
from muntin.kit.http.messages import Request

__all__ = ["AUTHENTICATED", "Authenticator", "Refused"]

AUTHENTICATED = "system:authenticated"
MOST_CERTIFICATES = 1000  # remembered, with whom they name


class Authenticator:
    """Tries each way in turn."""

    def __init__(
        self,
        config: AccessConfig,
        issuer: TokenIssuer,
        cache: Cache,
        clock: Clock,
        *,
        secret_used: Callable[[Item], None] | None = None,
        credential_ids: bool = True,
    ) -> None:
        self._config = config
        self._issuer = issuer
        self._credential_ids = credential_ids
        self._front = RequestHeader(config.request_header) if config.request_header else None
        # None for the front proxy, whose requests name their users themselves.
        self.certificates: dict[bytes, User | None] = {}
        self._oidc = tuple(OidcTokens(row, clock) for row in config.oidc)
        webhook = config.authentication_webhook
        self._webhook = WebhookTokens(webhook, clock) if webhook else None
        accounts = ServiceAccountTokens(
            issuer, cache, clock, secret_used, credential_ids=credential_ids
        )
        before: list[TokenAuthenticator] = []
        if config.static_tokens:
            before.append(StaticTokens(config.static_tokens))
        after: list[TokenAuthenticator] = []
        if config.bootstrap_tokens:
            after.append(BootstrapTokens(cache, clock))
        after += self._oidc
        self._tokens = BearerTokens(
            [
                *(OfThisServer(kind, issuer.audiences) for kind in before),
                accounts,
                *(OfThisServer(kind, issuer.audiences) for kind in after),
                *([self._webhook] if self._webhook else ()),
            ]
        )

    async def authenticate(self, request: Request) -> User:
        """The user behind ``request``.

        Raises:
            ApiError: 401, a credential was shown that is not good, or none and one is needed.
        """
        if request.peer_certificate is not None:
            user = self._by_certificate(request, request.peer_certificate)
            if user is not None:
                return user
        elif token := token_of(request):
            try:
                return (await self._tokens.verify(token, self._issuer.audiences)).user
            except Refused as err:
                raise status.unauthorized() from err
        elif "authorization" in request.headers:
            raise status.unauthorized()
        if self._is_open(request.path):
            return ANONYMOUS
        raise status.unauthorized()

    async def review(self, token: str, audiences: tuple[str, ...]) -> Verified:
        """Who shows ``token`` for any of ``audiences`` (empty: those of this server).

        Raises:
            Refused: nobody.
        """
        return await self._tokens.verify(token, audiences or self._issuer.audiences)

    def _is_open(self, path: str) -> bool:
        paths = self._config.anonymous_paths
        return self._config.anonymous and (not paths or path in paths)

    def _by_certificate(self, request: Request, certificate: Mapping[str, Any]) -> User | None:
        # By what it says, not by connection: many connections show the same.
        der = request.peer_certificate_der
        if der in self.certificates:
            user = self.certificates[der]
        else:
            is_proxy = self._front is not None and self._front.is_proxy(certificate, der)
            user = None if is_proxy else self._user_of(certificate, der)
            if len(self.certificates) >= MOST_CERTIFICATES:
                self.certificates.clear()
            if der:
                self.certificates[der] = user
        if user is None and self._front is not None:
            user = self._front.user(request)
            if user is None:
                raise status.unauthorized()
        return user

    def _user_of(self, certificate: Mapping[str, Any], der: bytes) -> User:
        return user_of(certificate, der if self._credential_ids else b"")

    async def close(self) -> None:
        """Drop connections to others."""
        for found in self._oidc:
            await found.close()
        if self._webhook is not None:
            await self._webhook.close()
