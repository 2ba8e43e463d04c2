"""Whether a ServiceAccount's token is good: signature, time, audience, and that all it names lives.

What was verified is kept for some seconds together with the objects that it rests on; each use
looks whether they are still there, so a token ends in the moment its account, pod, node or Secret
does. Source: kubernetes v1.34 pkg/serviceaccount/{jwt,claims,legacy}.go.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.apiserver.authn.service_account import TokenIssuer, groups_of
from muntin.apiserver.authn.verified import Refused, Verified
from muntin.apiserver.cache import Cache
from muntin.apiserver.items import Item
from muntin.apiserver.request import User
from muntin.kit import errors, jose
from muntin.kit.clock import Clock, parse_rfc3339
from muntin.model import service_account_tokens as model
from muntin.model.resources import NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Resource

CACHED_S, CACHED = 10.0, 10_000
LEEWAY_S = 60  # of an object's deletion, and of clocks that differ
EXTRA = "authentication.kubernetes.io/"
_BOUND: Mapping[str, Resource] = {"pod": PODS, "secret": SECRETS, "node": NODES}


@dataclass(frozen=True, slots=True)
class _Rest:
    """An object that a token rests on: ``item`` if not even a change of it is forgiven."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    item: Item | None = None


@dataclass(frozen=True, slots=True)
class _Good:
    """A verified token: until when that need not be looked at again, and what it rests on."""

    until: float
    user: User
    audiences: tuple[str, ...]
    rests: tuple[_Rest, ...]
    secret: Item | None = None


class ServiceAccountTokens:
    """Bound tokens of TokenRequest, and those that lie in Secrets (``used`` is told of these)."""

    def __init__(
        self,
        issuer: TokenIssuer,
        cache: Cache,
        clock: Clock,
        used: Callable[[Item], None] | None = None,
        *,
        credential_ids: bool = True,
    ) -> None:
        self._issuer = issuer
        self._cache = cache
        self._clock = clock
        self._used = used
        self._credential_ids = credential_ids
        self._good: dict[bytes, _Good] = {}

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """The ServiceAccount; None for a token of another issuer.

        Raises:
            Refused: it is ours and not good.
        """
        digest = hashlib.sha256(token.encode()).digest()
        good = self._good.get(digest)
        if good is None or good.until < self._clock.now() or not self._stands(good):
            found = self._check(token)
            if found is None:
                return None
            if len(self._good) > CACHED:
                self._good.clear()
            good = self._good[digest] = found
        matching = tuple(audience for audience in audiences if audience in good.audiences)
        if not matching:
            raise Refused(
                f"token audiences {_quoted(good.audiences)} is invalid for the target audiences "
                f"{_quoted(audiences)}"
            )
        if good.secret is not None and self._used is not None:
            self._used(good.secret)
        return Verified(good.user, matching)

    def _stands(self, good: _Good) -> bool:
        for rest in good.rests:
            item = self._cache.get(rest.resource, rest.namespace, rest.name)
            if item is None or item.uid != rest.uid:
                return False
            if rest.item is not None and item is not rest.item:
                return False
        return True

    def _check(self, token: str) -> _Good | None:
        try:
            _, claimed = jose.peek(token)
        except errors.Invalid:
            return None
        legacy = claimed.get("iss") == model.LEGACY_ISSUER
        if not legacy and claimed.get("iss") not in self._issuer.issuers:
            return None
        try:
            claims = self._issuer.verify(token)
            return self._legacy(token, claims) if legacy else self._bound(claims)
        except errors.Invalid as err:
            raise Refused(err.message) from err
        except (KeyError, TypeError, ValueError, AttributeError) as err:
            raise Refused("service account token claims could not be validated") from err

    # -- bound tokens ------------------------------------------------------------------------

    def _bound(self, claims: jose.Claims) -> _Good:
        now = self._clock.now()
        expires = float(claims["exp"])
        if expires <= now:
            raise Refused("service account token has expired")
        if float(claims.get("nbf", 0)) > now + LEEWAY_S:
            raise Refused("service account token is not valid yet")
        private = claims["kubernetes.io"]
        namespace, account = private["namespace"], private["serviceaccount"]
        rests = [self._alive(SERVICE_ACCOUNTS, namespace, account)]
        extra: dict[str, tuple[str, ...]] = {}
        if claims.get("jti") and self._credential_ids:
            extra[f"{EXTRA}credential-id"] = (f"JTI={claims['jti']}",)
        for kind, resource in _BOUND.items():
            if kind not in private:
                continue
            # A pod's token also names its node, which may come and go under the same name.
            if kind != "node" or "pod" not in private:
                rests.append(self._alive(resource, namespace, private[kind]))
            if kind != "secret":
                extra[f"{EXTRA}{kind}-name"] = (private[kind]["name"],)
                extra[f"{EXTRA}{kind}-uid"] = (private[kind]["uid"],)
        user = _user(namespace, account["name"], account["uid"], extra)
        audiences = claims.get("aud") or list(self._issuer.audiences)
        audiences = [audiences] if isinstance(audiences, str) else audiences
        return _Good(min(expires, now + CACHED_S), user, tuple(audiences), tuple(rests))

    def _alive(self, resource: Resource, namespace: str, ref: Mapping[str, str]) -> _Rest:
        namespace = namespace if resource.namespaced else ""
        name, uid, kind = ref["name"], ref["uid"], resource.singular
        item = self._cache.get(resource, namespace, name)
        if item is None:
            raise Refused(f'{resource.plural} "{name}" not found')
        if item.uid != uid:
            raise Refused(f"{kind} UID ({item.uid}) does not match claim ({uid})")
        deleted = item.object()["metadata"].get("deletionTimestamp")
        if deleted and parse_rfc3339(deleted) + LEEWAY_S < self._clock.now():
            raise Refused(f"service account token has been invalidated: its {kind} is deleted")
        return _Rest(resource, namespace, name, uid)

    # -- tokens in Secrets -------------------------------------------------------------------

    def _legacy(self, token: str, claims: jose.Claims) -> _Good:
        namespace, account, uid, name = model.of_legacy_claims(claims)
        if claims.get("sub") != model.user_name(namespace, account):
            raise Refused("sub claim does not match the service account")
        rest = self._alive(SERVICE_ACCOUNTS, namespace, {"name": account, "uid": uid})
        item = self._cache.get(SECRETS, namespace, name)
        if item is None:
            raise Refused("service account token has been invalidated")
        secret = item.object()
        if secret["metadata"].get("deletionTimestamp"):
            raise Refused("service account token has been invalidated")
        if not hmac.compare_digest(model.token_of(secret), token.encode()):
            raise Refused("service account token does not match server's copy")
        if model.INVALID_SINCE in item.labels:
            raise Refused(
                f"the token in secret {namespace}/{name} for service account {namespace}/{account} "
                "has been marked invalid. Use tokens from the TokenRequest API or manually created "
                f"secret-based tokens, or remove the '{model.INVALID_SINCE}' label from the secret "
                "to temporarily allow use of this token"
            )
        strict = _Rest(SECRETS, namespace, name, item.uid, item)
        user = _user(namespace, account, uid, {})
        until = self._clock.now() + CACHED_S
        return _Good(until, user, self._issuer.audiences, (rest, strict), item)


def _user(namespace: str, name: str, uid: str, extra: Mapping[str, Any]) -> User:
    return User(model.user_name(namespace, name), groups_of(namespace), uid, extra)


def _quoted(names: tuple[str, ...]) -> str:
    """Names as Go prints a list of strings with %q."""
    return "[" + " ".join(f'"{name}"' for name in names) + "]"
