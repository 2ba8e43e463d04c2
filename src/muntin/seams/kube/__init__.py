"""The Kubernetes API seam: what a component needs of an API server, ours or any other.

Objects are plain dicts in the API's JSON form. ``Resource`` (model.resources) names what is
asked for. The client of ``seams.kube.client`` implements :class:`KubeClient` over a
:class:`Transport`: HTTPS (``seams.kube.http``), or the API server's in-process one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from muntin.model.resources import Resource

Object = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class StreamResponse:
    """An answer whose body arrives in ``chunks``; leave its context to close it."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


class Transport(Protocol):
    """How requests reach an API server, and as whom. Paths begin with ``/``, with the query.

    Raises ``Unavailable`` when the server cannot be reached; an HTTP error is an ordinary answer.
    """

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> Response:
        """One request, its whole answer."""

    def stream(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> AbstractAsyncContextManager[StreamResponse]:
        """One request whose answer is read as it comes (watch, log)."""

    async def close(self) -> None:
        """Drop all connections."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """``type`` is ADDED, MODIFIED, DELETED or BOOKMARK; an ERROR event is raised instead."""

    type: str
    object: Object


@dataclass(frozen=True, slots=True)
class ObjectList:
    """The items of a LIST and the ``resource_version`` to watch from."""

    resource_version: str
    items: list[Object] = field(default_factory=list)


class KubeClient(Protocol):
    """The verbs of the API. ``namespace`` is None for cluster-scoped kinds and all namespaces.

    Every method raises the class of ``kit.errors`` that the server's Status stands for, with its
    message and causes; ``Unavailable`` when no server answers.
    """

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object:
        """The object as the server has it."""

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> ObjectList:
        """All matching objects at one revision."""

    def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        resource_version: str,
        label_selector: str = "",
        field_selector: str = "",
    ) -> AsyncIterator[WatchEvent]:
        """Events after ``resource_version``, with bookmarks; ends when the server ends it.

        Raises:
            Gone: that revision is no longer kept; list again.
        """

    async def create(
        self,
        resource: Resource,
        obj: Object,
        namespace: str | None = None,
        *,
        subresource: str = "",
    ) -> Object:
        """Create ``obj`` (or, with ``subresource`` such as ``binding``, post to ``obj``'s one)."""

    async def update(self, resource: Resource, obj: Object, *, subresource: str = "") -> Object:
        """Replace the object that ``obj``'s metadata names; its resourceVersion must be current."""

    async def patch(
        self,
        resource: Resource,
        name: str,
        patch: Any,
        namespace: str | None = None,
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
    ) -> Object:
        """Apply ``patch`` to one object."""

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        grace_period_s: int | None = None,
        uid: str = "",
        propagation_policy: str = "",
    ) -> None:
        """Delete one object; ``uid`` is a precondition, NotFound is raised if it is gone."""
