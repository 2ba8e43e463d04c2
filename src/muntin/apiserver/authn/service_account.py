"""ServiceAccount tokens: JSON web tokens (ES256), bound to a pod or to nothing.

Source: kubernetes v1.34 pkg/serviceaccount/claims.go (the private claim ``kubernetes.io``).
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.request import User
from muntin.kit.clock import Clock
from muntin.model.resources import NODES, PODS, SECRETS, SERVICE_ACCOUNTS, Resource

CACHED_S = 10.0
PREFIX = "system:serviceaccount:"
_BOUND_KINDS: dict[str, Resource] = {"pod": PODS, "node": NODES, "secret": SECRETS}


@dataclass(frozen=True, slots=True)
class Verified:
    """A good token: who it is and for which audiences."""

    user: User
    audiences: tuple[str, ...]


def user_name(namespace: str, name: str) -> str:
    """The user that a ServiceAccount is."""
    return f"{PREFIX}{namespace}:{name}"


def groups_of(namespace: str) -> tuple[str, ...]:
    """The groups that the ServiceAccounts of a namespace are in."""
    return (
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    )


class TokenIssuer:
    """Signs tokens and tells good ones from bad ones."""

    def __init__(self, key: bytes, issuer: str, cache: Cache, clock: Clock) -> None:
        self._pem = key
        self.issuer = issuer
        self._cache = cache
        self._clock = clock
        self._verified: dict[bytes, tuple[float, Verified]] = {}
        for resource in (SERVICE_ACCOUNTS, PODS, SECRETS, NODES):
            cache.of(resource).observers.append(self._forget)

    def _forget(self, event: Event) -> None:
        """What a token is bound to is gone: ask again about every token."""
        if event.type == "DELETED":
            self._verified.clear()

    @cached_property
    def _key(self) -> Any:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        return load_pem_private_key(self._pem, None)

    @cached_property
    def _key_id(self) -> str:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key()
        der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(der).hexdigest()[:32]

    def jwks(self) -> dict[str, Any]:
        """The public key as a JSON web key set."""
        import json

        from jwt.algorithms import ECAlgorithm

        key = json.loads(ECAlgorithm.to_jwk(self._key.public_key()))
        return {"keys": [{"use": "sig", "alg": "ES256", "kid": self._key_id, **key}]}

    def sign(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        audiences: tuple[str, ...],
        seconds: int,
        bound: dict[str, dict[str, str]],
    ) -> tuple[str, float]:
        """A token of a ServiceAccount and when it expires.

        ``bound`` maps pod, node or secret to its name and uid: the token dies with it.
        """
        import jwt  # 21 MB that a server which never sees a token does not need

        now = int(self._clock.now())
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "nbf": now,
            "iss": self.issuer,
            "jti": str(uuid.uuid4()),
            "sub": user_name(namespace, name),
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": name, "uid": uid},
                **bound,
            },
        }
        token = jwt.encode(claims, self._key, algorithm="ES256", headers={"kid": self._key_id})
        return token, now + seconds

    def authenticate(self, token: str) -> User:
        """The user of a token meant for this server.

        Raises:
            ApiError: 401.
        """
        return self.verify(token, (self.issuer,)).user

    def verify(self, token: str, audiences: tuple[str, ...]) -> Verified:
        """Check ``token`` for any of ``audiences``.

        Raises:
            ApiError: 401, with no hint as to why, as upstream.
        """
        digest = hashlib.sha256(token.encode()).digest()
        known = self._verified.get(digest)
        now = self._clock.now()
        if known is None or known[0] < now:
            verified, expires = self._check(token)
            if len(self._verified) > 10_000:
                self._verified.clear()
            known = self._verified[digest] = (min(expires, now + CACHED_S), verified)
        matching = tuple(a for a in audiences if a in known[1].audiences)
        if not matching:
            raise status.unauthorized()
        return Verified(known[1].user, matching)

    def _check(self, token: str) -> tuple[Verified, float]:
        import jwt

        try:
            claims = jwt.decode(
                token,
                self._key.public_key(),
                algorithms=["ES256"],
                issuer=self.issuer,
                options={"verify_aud": False, "verify_exp": False, "verify_nbf": False,
                         "verify_iat": False, "require": ["exp", "sub", "kubernetes.io"]},
            )  # fmt: skip
            now = self._clock.now()
            if claims["exp"] <= now or claims.get("nbf", 0) > now + 1:
                raise status.unauthorized()
            private = claims["kubernetes.io"]
            namespace = private["namespace"]
            account = private["serviceaccount"]
            self._check_alive(SERVICE_ACCOUNTS, namespace, account)
            extra = {"authentication.kubernetes.io/credential-id": (f"JTI={claims['jti']}",)}
            for kind, resource in _BOUND_KINDS.items():
                if kind not in private:
                    continue
                # A pod's token also names its node, which may come and go under the same name.
                if kind != "node" or "pod" not in private:
                    self._check_alive(resource, namespace, private[kind])
                key = f"authentication.kubernetes.io/{kind}"
                extra[f"{key}-name"] = (private[kind]["name"],)
                extra[f"{key}-uid"] = (private[kind]["uid"],)
        except (jwt.PyJWTError, KeyError, TypeError) as err:
            raise status.unauthorized() from err
        name = user_name(namespace, account["name"])
        user = User(name, groups_of(namespace), account["uid"], extra)
        audiences = claims.get("aud") or []
        audiences = [audiences] if isinstance(audiences, str) else audiences
        return Verified(user, tuple(audiences)), float(claims["exp"])

    def _check_alive(self, resource: Resource, namespace: str, ref: dict[str, str]) -> None:
        item = self._cache.get(resource, namespace if resource.namespaced else "", ref["name"])
        if item is None or item.uid != ref["uid"]:
            raise status.unauthorized()
