"""Tokens that a remote service knows: it is sent a TokenReview.

Source: Kubernetes documentation, "Webhook Token Authentication"; apiserver v1.34
plugin/pkg/authenticator/token/webhook/webhook.go.
"""

from __future__ import annotations

import hashlib
from typing import Any

from muntin.apiserver.access_config import AuthenticationWebhookConfig
from muntin.apiserver.authn.remote import Remote
from muntin.apiserver.authn.verified import Refused, Verified
from muntin.apiserver.request import User
from muntin.kit import errors
from muntin.kit.clock import Clock

CACHED = 10_000
API = "authentication.k8s.io/v1"


class WebhookTokens:
    """Asks, and remembers both kinds of answers for the time that the configuration says."""

    def __init__(self, config: AuthenticationWebhookConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._remote = Remote(config.remote, clock)
        self._answers: dict[tuple[bytes, tuple[str, ...]], tuple[float, Verified | None]] = {}

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """Who the service says it is; None if it does not know the token.

        Raises:
            Refused: it gives an error, or cannot be asked.
        """
        key = (hashlib.sha256(token.encode()).digest(), audiences)
        now = self._clock.now()
        known = self._answers.get(key)
        if known is not None and known[0] > now:
            return known[1]
        answer = await self._ask(token, audiences)
        if len(self._answers) > CACHED:
            self._answers.clear()
        self._answers[key] = (now + self._config.cache_s, answer)
        return answer

    async def _ask(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        spec = {"token": token, "audiences": list(audiences)}
        review = {"apiVersion": API, "kind": "TokenReview", "metadata": {}, "spec": spec}
        try:
            answer = await self._remote.ask(review)
        except errors.MuntinError as err:
            raise Refused(f"the authentication webhook failed: {err.message}") from err
        return _verified(answer.get("status") or {}, audiences)

    async def close(self) -> None:
        """Drop the connections."""
        await self._remote.close()


def _verified(status: dict[str, Any], audiences: tuple[str, ...]) -> Verified | None:
    if not status.get("authenticated"):
        if status.get("error"):
            raise Refused(str(status["error"]))
        return None
    matching = audiences  # a service that knows nothing of audiences speaks for this server
    if status.get("audiences"):
        matching = tuple(name for name in audiences if name in status["audiences"])
        if not matching:
            return None
    user = status.get("user") or {}
    groups = tuple(user.get("groups") or ())
    if "system:authenticated" not in groups:
        groups = (*groups, "system:authenticated")
    extra = {key: tuple(values) for key, values in (user.get("extra") or {}).items()}
    found = User(str(user.get("username", "")), groups, str(user.get("uid", "")), extra)
    return Verified(found, matching)
