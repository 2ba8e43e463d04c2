"""ServiceAccounts as users, and the issuer of their tokens: JSON web tokens with a private claim.

Source: kubernetes v1.34 pkg/serviceaccount/{claims,jwt,openidmetadata}.go.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from muntin.kit import jose
from muntin.kit.clock import Clock
from muntin.model.service_account_tokens import user_name

__all__ = ["PREFIX", "TokenIssuer", "groups_of", "user_name"]

PREFIX = "system:serviceaccount:"


def groups_of(namespace: str) -> tuple[str, ...]:
    """The groups that the ServiceAccounts of a namespace are in."""
    return (
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    )


class TokenIssuer:
    """The keys of one server: the first signs, all are good for tokens that were signed before.

    ``issuers`` are the names that tokens may carry; new ones carry the first. Tokens that name no
    audience are for ``audiences``.
    """

    def __init__(
        self,
        key: bytes,
        issuers: Sequence[str],
        clock: Clock,
        *,
        audiences: Sequence[str] = (),
        more_keys: Sequence[bytes] = (),
    ) -> None:
        self._pem = key
        self._more = more_keys
        self._clock = clock
        self.issuers = tuple(issuers)
        self.audiences = tuple(audiences) or self.issuers[:1]

    @property
    def issuer(self) -> str:
        """The name that new tokens carry."""
        return self.issuers[0]

    @cached_property
    def _key(self) -> jose.SigningKey:
        return jose.signing_key(self._pem)

    @cached_property
    def keys(self) -> list[jose.VerifyingKey]:
        """The public keys that are good for tokens."""
        found = {self._key.public.kid: self._key.public}
        for pem in self._more:
            found.update((key.kid, key) for key in jose.verifying_keys(pem))
        return list(found.values())

    def jwks(self) -> dict[str, Any]:
        """The public keys as a JSON web key set."""
        return {"keys": [key.jwk() for key in self.keys]}

    def algorithms(self) -> list[str]:
        """The algorithms of the keys, for the discovery document."""
        return sorted({key.algorithm for key in self.keys})

    def sign(
        self,
        namespace: str,
        name: str,
        uid: str,
        *,
        audiences: Sequence[str],
        seconds: int,
        bound: dict[str, dict[str, str]],
        warn_after_s: int = 0,
    ) -> tuple[str, str]:
        """A token of a ServiceAccount, and its identifier.

        ``bound`` maps pod, node or secret to its name and uid: the token dies with it. Its use
        ``warn_after_s`` from now on is noted in the audit log (0: never).
        """
        now = int(self._clock.now())
        private: dict[str, Any] = {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": uid},
            **bound,
        }
        if warn_after_s:
            private["warnafter"] = now + warn_after_s
        identifier = str(uuid.uuid4())
        claims = {
            "aud": list(audiences),
            "exp": now + seconds,
            "iat": now,
            "iss": self.issuer,
            "jti": identifier,
            "kubernetes.io": private,
            "nbf": now,
            "sub": user_name(namespace, name),
        }
        return self._key.sign(claims), identifier

    def verify(self, token: str) -> jose.Claims:
        """The claims of a token that one of the keys signed; whether they hold is not looked at.

        Raises:
            Invalid: no key of ours signed it.
        """
        return jose.verify(token, self.keys)
