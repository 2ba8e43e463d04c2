"""Service account tokens for pods, asked for through TokenRequest and renewed in time.

Source: kubernetes v1.34 pkg/kubelet/token/token_manager.go (renewed at 80 % of the lifetime, or
after 24 h).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit.clock import Clock, parse_rfc3339
from muntin.model.resources import SERVICE_ACCOUNTS
from muntin.seams.kube import KubeClient

DEFAULT_LIFETIME_S = 3600
RENEW_AT = 0.8
LONGEST_USE_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    renew_at: float


class TokenSource:
    """Tokens by pod, audience and lifetime."""

    def __init__(self, client: KubeClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._tokens: dict[tuple[str, str, int], _Token] = {}

    async def token(self, pod: Mapping[str, Any], source: Mapping[str, Any]) -> str:
        """A token for one serviceAccountToken source, fresh enough to be handed out."""
        meta, now = pod["metadata"], self._clock.now()
        audience = source.get("audience", "")
        lifetime_s = int(source.get("expirationSeconds") or DEFAULT_LIFETIME_S)
        key = (meta["uid"], audience, lifetime_s)
        held = self._tokens.get(key)
        if held is not None and now < held.renew_at:
            return held.text
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "metadata": {
                "name": pod["spec"].get("serviceAccountName") or "default",
                "namespace": meta["namespace"],
            },
            "spec": {
                "audiences": [audience] if audience else [],
                "expirationSeconds": lifetime_s,
                "boundObjectRef": {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": meta["name"],
                    "uid": meta["uid"],
                },
            },
        }
        answer = await self._client.create(
            SERVICE_ACCOUNTS, request, meta["namespace"], subresource="token"
        )
        status = answer["status"]
        lives_s = parse_rfc3339(status["expirationTimestamp"]) - now
        renew_at = now + min(lives_s * RENEW_AT, LONGEST_USE_S)
        self._tokens[key] = _Token(status["token"], renew_at)
        return str(status["token"])

    def forget(self, uid: str) -> None:
        """Drop the tokens of a pod that is gone."""
        for key in [key for key in self._tokens if key[0] == uid]:
            del self._tokens[key]
