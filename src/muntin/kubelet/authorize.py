"""Who may ask the kubelet's server for what: client certificates and bearer tokens, then RBAC.

A certificate's CN and O are user and groups; a token is reviewed by the API server (TokenReview);
then SubjectAccessReview decides on the ``nodes`` subresource that the path stands for.
Source: kubernetes v1.34 pkg/kubelet/server/auth.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit.clock import Clock
from muntin.kit.errors import Forbidden
from muntin.kit.http.messages import Request
from muntin.model.resources import known
from muntin.seams.kube import KubeClient

TOKEN_REVIEWS = known("authentication.k8s.io/v1", "TokenReview")
ACCESS_REVIEWS = known("authorization.k8s.io/v1", "SubjectAccessReview")

CACHE_S = 60.0
CACHE_SIZE = 256

_VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_SUBRESOURCES = {"stats": "stats", "metrics": "metrics", "logs": "log", "spec": "spec"}


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


class Unauthenticated(Exception):
    """Nobody we know: neither a certificate nor a token that holds."""


def certificate_user(certificate: Mapping[str, Any]) -> User:
    """The user of ``ssl.getpeercert``'s dictionary."""
    subject = [pair for rdn in certificate.get("subject", ()) for pair in rdn]
    name = next((value for key, value in subject if key == "commonName"), "")
    groups = tuple(value for key, value in subject if key == "organizationName")
    return User(name, (*groups, "system:authenticated"))


def attributes(method: str, path: str, node_name: str) -> dict[str, Any]:
    """The resourceAttributes of a request: ``nodes`` and one of its subresources."""
    first = path.strip("/").split("/")[0]
    return {
        "verb": _VERBS.get(method, method.lower()),
        "version": "v1",
        "resource": "nodes",
        "subresource": _SUBRESOURCES.get(first, "proxy"),
        "name": node_name,
    }


class Authorizer:
    """Remembers answers for a minute, so that a log or a metrics scrape costs no review."""

    def __init__(self, client: KubeClient, clock: Clock, node_name: str) -> None:
        self._client = client
        self._clock = clock
        self._node_name = node_name
        self._allowed: dict[tuple[Any, ...], float] = {}
        self._users: dict[str, tuple[float, User]] = {}

    async def check(self, request: Request) -> User:
        """The user, if the request is allowed.

        Raises:
            Unauthenticated: no valid credential.
            Forbidden: RBAC says no.
        """
        user = await self._user(request)
        wanted = attributes(request.method, request.path, self._node_name)
        key = (user, wanted["verb"], wanted["subresource"])
        now = self._clock.monotonic()
        if self._allowed.get(key, 0.0) > now:
            return user
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.name,
                "groups": list(user.groups),
                "uid": user.uid,
                "resourceAttributes": wanted,
            },
        }
        answer = await self._client.create(ACCESS_REVIEWS, review)
        if not answer["status"].get("allowed"):
            raise Forbidden(
                f"Forbidden (user={user.name}, verb={wanted['verb']}, resource=nodes, "
                f"subresource={wanted['subresource']})"
            )
        if len(self._allowed) >= CACHE_SIZE:
            self._allowed.clear()
        self._allowed[key] = now + CACHE_S
        return user

    async def _user(self, request: Request) -> User:
        if request.peer_certificate:
            return certificate_user(request.peer_certificate)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated
        now = self._clock.monotonic()
        held = self._users.get(token)
        if held is not None and held[0] > now:
            return held[1]
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token.strip()},
        }
        status = (await self._client.create(TOKEN_REVIEWS, review))["status"]
        if not status.get("authenticated"):
            raise Unauthenticated
        found = status["user"]
        user = User(found["username"], tuple(found.get("groups") or ()), found.get("uid", ""))
        if len(self._users) >= CACHE_SIZE:
            self._users.clear()
        self._users[token] = (now + CACHE_S, user)
        return user
