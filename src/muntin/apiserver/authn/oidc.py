"""OpenID Connect: tokens of somebody else's issuer, whose keys are found by discovery.

Source: Kubernetes documentation, "OpenID Connect Tokens"; apiserver v1.34
plugin/pkg/authenticator/token/oidc/oidc.go; OpenID Connect Discovery 1.0, section 4.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import orjson

from muntin.apiserver.access_config import OidcConfig
from muntin.apiserver.authn.verified import Refused, Verified
from muntin.apiserver.request import User
from muntin.kit import errors, jose
from muntin.kit.clock import Clock
from muntin.kit.http.client import HttpClient
from muntin.kit.log import fields

log = logging.getLogger(__name__)

TIMEOUT_S = 10.0
MOST_BYTES = 1024 * 1024  # of a discovery document or a key set
AGAIN_S = 10.0  # between two looks at a key set that lacked the key of a token
LEEWAY_S = 60
EMAIL = "email"


class OidcTokens:
    """The tokens of one issuer."""

    def __init__(self, config: OidcConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._client: HttpClient | None = None
        self._keys: list[jose.VerifyingKey] = []
        self._asked = float("-inf")
        self._lock = asyncio.Lock()

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """The user that the token's claims name; None for another issuer's token.

        Raises:
            Refused: a claim does not hold, or no key of the issuer signed it.
        """
        try:
            header, claimed = jose.peek(token)
        except errors.Invalid:
            return None
        if claimed.get("iss") != self._config.issuer_url:
            return None
        claims = await self._proven(token, header)
        self._check(claims)
        return Verified(user_of(claims, self._config), audiences)

    def _check(self, claims: Mapping[str, Any]) -> None:
        now, config = self._clock.now(), self._config
        for name in ("exp", "nbf"):
            if not isinstance(claims.get(name, 0 if name == "nbf" else None), int | float):
                raise Refused(f"oidc: the claim {name} must be a time")
        if claims["exp"] <= now:
            raise Refused("oidc: verify token: oidc: token is expired")
        if claims.get("nbf", 0) > now + LEEWAY_S:
            raise Refused("oidc: verify token: current time is before the nbf (not before) time")
        audiences = claims.get("aud")
        audiences = [audiences] if isinstance(audiences, str) else audiences or []
        if config.client_id not in audiences:
            raise Refused(f'oidc: verify token: oidc: expected audience "{config.client_id}" '
                          f"got {audiences}")  # fmt: skip
        for name, value in config.required_claims.items():
            if name not in claims:
                raise Refused(f"oidc: required claim {name} not present in ID token")
            if claims[name] != value:
                raise Refused(f"oidc: required claim {name} value does not match")

    async def _proven(self, token: str, header: Mapping[str, Any]) -> jose.Claims:
        if header.get("alg") not in self._config.signing_algorithms:
            raise Refused("oidc: verify token: the signing algorithm is not one of those allowed")
        for known in (True, False):
            if not known and not await self._refresh():
                break
            try:
                return await asyncio.to_thread(jose.verify, token, self._keys)
            except errors.Invalid:
                continue
        raise Refused("oidc: verify token: failed to verify signature")

    async def _refresh(self) -> bool:
        """Get the issuer's keys anew; False if that was done a moment ago."""
        async with self._lock:
            now = self._clock.monotonic()
            if self._keys and now - self._asked < AGAIN_S:
                return False
            try:
                keys = await self._fetch()
            except errors.MuntinError as err:
                log.warning(
                    "keys of an OpenID issuer cannot be had",
                    **fields(issuer=self._config.issuer_url, error=err.message),
                )
                raise Refused("oidc: authenticator not initialized") from err
            self._keys, self._asked = keys, now
            return True

    async def _fetch(self) -> list[jose.VerifyingKey]:
        issuer = self._config.issuer_url
        document = await self._get(issuer.rstrip("/") + "/.well-known/openid-configuration")
        if document.get("issuer") != issuer:
            raise errors.Invalid(f"the discovery document is of {document.get('issuer')!r}")
        key_set = await self._get(str(document.get("jwks_uri", "")))
        return jose.jwk_keys(key_set, self._config.signing_algorithms)

    async def _get(self, url: str) -> dict[str, Any]:
        if not url.startswith("https://"):
            raise errors.Invalid(f"{url!r} must be an https URL")
        if self._client is None:
            from muntin.kit.http.tls import client_context

            self._client = HttpClient(tls=client_context(ca=self._config.ca), most_bytes=MOST_BYTES)
        answer = await self._client.request("GET", url, timeout_s=TIMEOUT_S)
        if answer.status != 200:
            raise errors.Unavailable(f"{url}: status {answer.status}")
        try:
            found = orjson.loads(answer.body)
        except orjson.JSONDecodeError as err:
            raise errors.Invalid(f"{url}: no JSON") from err
        if not isinstance(found, dict):
            raise errors.Invalid(f"{url}: no JSON object")
        return found

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            await self._client.close()


def user_of(claims: Mapping[str, Any], config: OidcConfig) -> User:
    """The user that proven ``claims`` name. Pure.

    Raises:
        Refused: a claim that is needed is missing or of another form.
    """
    claim = config.username_claim
    name = claims.get(claim)
    if not isinstance(name, str):
        raise Refused(f'oidc: parse username claims "{claim}": claim not present')
    if claim == EMAIL and claims.get("email_verified", True) is not True:
        raise Refused("oidc: email not verified")
    prefix = config.username_prefix
    if not prefix and claim != EMAIL:
        prefix = f"{config.issuer_url}#"
    groups = claims.get(config.groups_claim) if config.groups_claim else None
    groups = [groups] if isinstance(groups, str) else groups or []
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise Refused(f'oidc: parse groups claim "{config.groups_claim}": must be text or a list')
    named = tuple(config.groups_prefix + group for group in groups)
    extra = {}
    if isinstance(claims.get("jti"), str) and claims["jti"]:
        extra["authentication.kubernetes.io/credential-id"] = (f"JTI={claims['jti']}",)
    found = name if prefix == "-" else prefix + name
    return User(found, (*named, "system:authenticated"), "", extra)
