"""Bootstrap tokens: Secrets of kube-system with which a machine that joins proves that it may.

Source: kubernetes v1.34 plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go,
cluster-bootstrap pkg/token/util.
"""

from __future__ import annotations

import hmac

from muntin.apiserver.authn.verified import Verified
from muntin.apiserver.cache import Cache
from muntin.apiserver.request import User
from muntin.kit.clock import Clock
from muntin.model import bootstrap_tokens
from muntin.model.resources import SECRETS

USER_PREFIX = "system:bootstrap:"
DEFAULT_GROUP = "system:bootstrappers"


class BootstrapTokens:
    """Reads the Secret at each question: nothing to forget when it goes."""

    def __init__(self, cache: Cache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """The user ``system:bootstrap:ID``; None for whatever is not right, as upstream."""
        parts = bootstrap_tokens.parse(token)
        if parts is None:
            return None
        name = bootstrap_tokens.PREFIX + parts[0]
        item = self._cache.get(SECRETS, bootstrap_tokens.NAMESPACE, name)
        if item is None:
            return None
        secret = item.object()
        if secret["metadata"].get("deletionTimestamp"):
            return None
        found = bootstrap_tokens.of_secret(secret)
        if found is None or not hmac.compare_digest(found.secret.encode(), parts[1].encode()):
            return None
        if found.id != parts[0] or found.is_expired(self._clock.now()):
            return None
        if not found.authentication or found.groups is None:
            return None
        groups = (DEFAULT_GROUP, *found.groups, "system:authenticated")
        return Verified(User(USER_PREFIX + found.id, groups), audiences)
