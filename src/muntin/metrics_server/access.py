"""Who asks, as the API server in front says, and whether they may.

The listener admits only certificates that the front proxy's authority signed; RBAC decides, as
a SubjectAccessReview tells. Source: apiserver v1.36 pkg/server/options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muntin.kit.clock import Clock
from muntin.kit.errors import Forbidden, MuntinError
from muntin.kit.http.messages import Request
from muntin.metrics_server.objects import GROUP, VERSION
from muntin.model.resources import known
from muntin.seams.kube import KubeClient

ACCESS_REVIEWS = known("authorization.k8s.io/v1", "SubjectAccessReview")

CACHE_S = 10.0
CACHE_SIZE = 1024


class Unauthenticated(MuntinError):
    """The request did not come through the front proxy."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for; ``name`` is empty for a list, ``namespace`` for all of them."""

    plural: str
    namespace: str = ""
    name: str = ""


class Access:
    """Lets requests through that RBAC allows; answers are remembered for some seconds."""

    def __init__(self, client: KubeClient, clock: Clock, allowed_names: tuple[str, ...]) -> None:
        self._client = client
        self._clock = clock
        self._allowed_names = allowed_names
        self._allowed: dict[tuple[Any, ...], float] = {}

    def user(self, request: Request) -> tuple[str, tuple[str, ...]]:
        """Name and groups of who asks.

        Raises:
            Unauthenticated: another than the front proxy is connected, or it names nobody.
        """
        rows = [
            pair for part in (request.peer_certificate or {}).get("subject", ()) for pair in part
        ]
        names = {value for key, value in rows if key == "commonName"}
        user = request.headers.get("x-remote-user", "")
        if not names & set(self._allowed_names) or not user:
            raise Unauthenticated("Unauthorized")
        groups = request.headers.get("x-remote-group", "")
        return user, tuple(group for group in groups.split(", ") if group)

    async def check(self, request: Request, asked: Asked) -> None:
        """Return if the request may be answered.

        Raises:
            Unauthenticated, Forbidden: it may not.
        """
        user, groups = self.user(request)
        key = (user, groups, asked)
        now = self._clock.monotonic()
        if self._allowed.get(key, 0.0) > now:
            return
        answer = await self._client.create(ACCESS_REVIEWS, review(user, groups, asked))
        if not answer["status"].get("allowed"):
            raise Forbidden(refusal(user, asked))
        if len(self._allowed) >= CACHE_SIZE:
            self._allowed.clear()
        self._allowed[key] = now + CACHE_S


def review(user: str, groups: tuple[str, ...], asked: Asked) -> dict[str, Any]:
    """The question to the API server. Pure."""
    wanted = {
        "verb": "get" if asked.name else "list",
        "group": GROUP,
        "version": VERSION,
        "resource": asked.plural,
        "namespace": asked.namespace,
        "name": asked.name,
    }
    return {
        "apiVersion": ACCESS_REVIEWS.api_version,
        "kind": ACCESS_REVIEWS.kind,
        "spec": {"user": user, "groups": list(groups), "resourceAttributes": wanted},
    }


def refusal(user: str, asked: Asked) -> str:
    """The words of a refusal, as API servers have them. Pure."""
    verb = "get" if asked.name else "list"
    scope = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    named = f' "{asked.name}"' if asked.name else ""
    return (
        f'{asked.plural}.{GROUP}{named} is forbidden: User "{user}" cannot {verb} resource '
        f'"{asked.plural}" in API group "{GROUP}" {scope}'
    )
