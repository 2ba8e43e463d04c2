"""The verbs of the Kubernetes API over any Transport: JSON objects in, JSON objects out."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import orjson

from muntin.kit import errors
from muntin.kit.log import fields
from muntin.model.conversion import convert
from muntin.model.resources import Resource
from muntin.seams.kube import (
    MERGE_PATCH,
    Object,
    ObjectList,
    Response,
    Transport,
    WatchEvent,
    metrics,
)
from muntin.seams.kube.status import error_of, error_of_answer
from muntin.seams.kube.versions import ServedVersions

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often a request that may be repeated is sent when the connection breaks under it."""
RETRY_DELAY_S = 0.05
REPEATABLE = frozenset({"GET", "PUT", "DELETE"})
"""PUT and DELETE carry their preconditions, so a repeated one cannot undo what came between."""


class Client:
    """A :class:`muntin.seams.kube.KubeClient` over ``transport``."""

    def __init__(self, transport: Transport, *, user_agent: str = "muntin") -> None:
        self._transport = transport
        self._headers = {"Accept": "application/json", "User-Agent": user_agent}
        self._versions = ServedVersions(self.raw)

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object:
        """The object as the server has it."""
        row = await self._versions.row(resource)
        return convert(await self._object("GET", _path(row, namespace, name)), row, resource)

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> ObjectList:
        """All matching objects at one revision, each with its apiVersion and kind."""
        row = await self._versions.row(resource)
        query = _query(labelSelector=label_selector, fieldSelector=field_selector)
        try:
            answer = await self._object("GET", _path(row, namespace) + query)
        except errors.NotFound:
            self._versions.forget(resource)
            raise
        given, meta = answer.get("items") or (), answer.get("metadata") or {}
        if not isinstance(given, list | tuple) or not isinstance(meta, dict):
            raise errors.Internal(f"GET {_path(row, namespace)}: the answer is not a list")
        converted = (_converted(item, row, resource) for item in given)
        items = [item for item in converted if item is not None]
        for item in items:
            item.setdefault("apiVersion", resource.api_version)
            item.setdefault("kind", resource.kind)
        return ObjectList(str(meta.get("resourceVersion") or ""), items)

    async def watch(
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
        query = _query(
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=resource_version,
            labelSelector=label_selector,
            fieldSelector=field_selector,
        )
        row = await self._versions.row(resource)
        path = _path(row, namespace) + query
        async with self._transport.stream("GET", path, headers=self._headers) as answer:
            if answer.status == 404:
                self._versions.forget(resource)
            if answer.status >= 400:
                raise error_of_answer(answer.status, await _all(answer.chunks))
            async for line in _lines(answer.chunks):
                event = _event(line)
                obj = _converted(event.object, row, resource)
                if obj is not None:
                    yield WatchEvent(event.type, obj)

    async def create(
        self,
        resource: Resource,
        obj: Object,
        namespace: str | None = None,
        *,
        subresource: str = "",
    ) -> Object:
        """Create ``obj`` (or, with ``subresource`` such as ``binding``, post to ``obj``'s one)."""
        meta = obj.get("metadata") or {}
        where = namespace or (meta.get("namespace") if resource.namespaced else None)
        row = await self._versions.row(resource)
        path = _path(row, where, meta["name"] if subresource else "", subresource)
        if subresource:
            return await self._object("POST", path, obj)
        return convert(await self._object("POST", path, convert(obj, resource, row)), row, resource)

    async def update(self, resource: Resource, obj: Object, *, subresource: str = "") -> Object:
        """Replace the object that ``obj``'s metadata names; its resourceVersion must be current."""
        meta = obj["metadata"]
        where = meta.get("namespace") if resource.namespaced else None
        row = await self._versions.row(resource)
        path = _path(row, where, meta["name"], subresource)
        return convert(await self._object("PUT", path, convert(obj, resource, row)), row, resource)

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
        """Apply ``patch``, sent as it is, to one object."""
        row = await self._versions.row(resource)
        path = _path(row, namespace, name, subresource)
        answer = await self._object("PATCH", path, patch, content_type=patch_type)
        return convert(answer, row, resource)

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
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace_period_s is not None:
            options["gracePeriodSeconds"] = grace_period_s
        if uid:
            options["preconditions"] = {"uid": uid}
        if propagation_policy:
            options["propagationPolicy"] = propagation_policy
        row = await self._versions.row(resource)
        await self._object("DELETE", _path(row, namespace, name), options)

    async def raw(self, path: str, *, accept: str = "application/json") -> Response:
        """GET ``path`` (discovery, health, version), whatever its form.

        Raises the error that an answer of 400 or more stands for.
        """
        answer = await self._send("GET", path, {**self._headers, "Accept": accept})
        if answer.status >= 400:
            raise error_of_answer(answer.status, answer.body)
        return answer

    async def close(self) -> None:
        """Drop all connections of the transport."""
        await self._transport.close()

    async def _object(
        self,
        method: str,
        path: str,
        obj: Any = None,
        *,
        content_type: str = "application/json",
    ) -> Object:
        headers, body = self._headers, b""
        if obj is not None:
            headers, body = {**headers, "Content-Type": content_type}, orjson.dumps(obj)
        answer = await self._send(method, path, headers, body)
        if answer.status >= 400:
            raise error_of_answer(answer.status, answer.body)
        parsed = _parsed(answer.body) if answer.body else {}
        if not isinstance(parsed, dict):
            raise errors.Internal(f"{method} {path}: the answer is not a JSON object")
        return parsed

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Response:
        attempts = ATTEMPTS if method in REPEATABLE else 1
        for attempt in range(1, attempts + 1):
            try:
                answer = await self._transport.request(method, path, headers=headers, body=body)
                metrics.REQUESTS.add((str(answer.status), method))
                return answer
            except errors.Unavailable:
                metrics.REQUESTS.add(("<error>", method))
                if attempt == attempts:
                    raise
                await asyncio.sleep(RETRY_DELAY_S * attempt * (1 + random.random()))
        raise AssertionError("unreachable")


def _path(resource: Resource, namespace: str | None, name: str = "", subresource: str = "") -> str:
    parts = [resource.root]
    if namespace:
        parts += ["namespaces", quote(namespace, safe="")]
    parts.append(resource.plural)
    if name:
        parts.append(quote(name, safe=":"))
    if subresource:
        parts.append(subresource)
    return "/".join(parts)


def _query(**params: str) -> str:
    given = {key: value for key, value in params.items() if value}
    return f"?{urlencode(given)}" if given else ""


def _parsed(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError as err:
        raise errors.Internal(f"the server's answer is not JSON: {text[:100]!r}") from err


def _converted(obj: Any, source: Resource, target: Resource) -> Object | None:
    """``obj`` in the form of ``target``; None for what cannot be read, which is logged.

    An aggregated API server may send anything: one such object must not hide the others.
    """
    try:
        if isinstance(obj, dict):
            return convert(obj, source, target)
        problem: object = f"{type(obj).__name__} instead of an object"
    except Exception as err:
        problem = repr(err)
    log.warning("object skipped", **fields(resource=source.plural, error=problem))
    return None


def _event(line: bytes) -> WatchEvent:
    parsed = _parsed(line)
    if not isinstance(parsed, dict) or not isinstance(parsed.get("object"), dict):
        raise errors.Internal(f"not a watch event: {line[:100]!r}")
    if parsed.get("type") == "ERROR":
        raise error_of(parsed["object"])
    return WatchEvent(str(parsed.get("type")), parsed["object"])


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream, however it was cut into chunks; a last half line is dropped."""
    parts: list[bytes] = []
    async for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            parts.append(line)
            text = b"".join(parts)
            parts.clear()
            if text.strip():
                yield text
        if rest:
            parts.append(rest)


async def _all(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])
