"""The end of a definition: first its objects go, then it.

Each step is found again from what is stored, so that a crash between two of them leaves nothing.
Source: apiextensions-apiserver pkg/controller/finalizer/crd_finalizer.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.bootstrap.objects import USER
from muntin.apiserver.cache import Event
from muntin.apiserver.core import Core
from muntin.apiserver.delete_options import Options
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs.delete import delete
from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.kit.http.messages import Request
from muntin.model.custom import conditions
from muntin.model.custom.definition import Definition, is_established
from muntin.model.resources import CUSTOM_RESOURCE_DEFINITIONS

Object = dict[str, Any]

AT_ONCE = 64  # deletions in flight: enough to fill a group commit
_HEADERS = {"content-type": "application/json", "user-agent": "kube-apiserver"}


class Cleanup:
    """Ends definitions; ``ask(name)`` has one looked at again."""

    def __init__(self, core: Core, transport: DirectTransport, ask: Callable[[str], None]) -> None:
        self._core = core
        self._transport = transport
        self._ask = ask
        self._watched: set[str] = set()

    async def run(self, obj: Object) -> None:
        """Take the next step of a definition that is being deleted.

        Raises:
            Internal: a step failed; it is to be tried again.
        """
        name, metadata = obj["metadata"]["name"], obj["metadata"]
        if conditions.FINALIZER not in (metadata.get("finalizers") or ()):
            return
        if is_established(obj):
            if not await self._set(obj, "True", "InstanceDeletionInProgress",
                                   "CustomResource deletion is in progress"):  # fmt: skip
                return  # its event brings us back
            if await self._delete_objects(obj):
                return  # some wait for their finalizers
        self._watched.discard(name)
        await self._finish(obj)

    async def _set(self, obj: Object, value: str, reason: str, message: str) -> bool:
        """Set Terminating; False if it was written just now."""
        now = rfc3339(self._core.clock.now())
        before = obj.get("status") or {}
        rows = [dict(row) for row in before.get("conditions") or ()]
        new: Object = {**before, "conditions": rows}
        conditions.set_condition(new, "Terminating", value, reason, message, now)
        if new == before:
            return True
        await self._put(obj["metadata"]["name"], {**obj, "status": new}, "status")
        return False

    async def _put(self, name: str, obj: Object, subresource: str = "") -> None:
        path = CUSTOM_RESOURCE_DEFINITIONS.path(name, subresource=subresource)
        body = orjson.dumps(obj)
        answer = await self._transport.request("PUT", path, headers=_HEADERS, body=body)
        if answer.status in (404, 409):
            return
        if answer.status >= 400:
            raise errors.Internal(str(orjson.loads(answer.body).get("message")))

    async def _delete_objects(self, obj: Object) -> bool:
        """Delete all objects; whether some are still there."""
        definition = Definition(obj)
        name = definition.storage_name
        resource = self._core.cache.by_storage.get(name)
        if resource is None or not resource.items:
            return False
        self._watch(definition)
        gate = asyncio.Semaphore(AT_ONCE)
        items = list(resource.items.values())
        await asyncio.gather(*(self._delete(definition, item, gate) for item in items))
        await self._core.cache.fresh()
        return bool(resource.items)

    async def _delete(self, definition: Definition, item: Item, gate: asyncio.Semaphore) -> None:
        http = Request(method="DELETE", path="", query="", headers=_HEADERS, body=b"")
        row = definition.storage
        request = ApiRequest(http, USER, "delete", "", {}, row, item.namespace, item.name)
        request.definition = self._core.registry.definition(row)
        async with gate:
            try:
                await delete(self._core, request, item, Options(), admit=False)
            except status.ApiError as err:
                if err.code != 404:
                    raise

    def _watch(self, definition: Definition) -> None:
        """Come back when the last object has gone."""
        if definition.name in self._watched:
            return
        self._watched.add(definition.name)
        resource = self._core.cache.by_storage[definition.storage_name]

        def observe(event: Event) -> None:
            if event.type == "DELETED" and not resource.items:
                self._ask(definition.name)

        resource.observers.append(observe)

    async def _finish(self, obj: Object) -> None:
        await self._put(obj["metadata"]["name"], _without_finalizer(obj))


def _without_finalizer(obj: Object) -> Object:
    metadata = obj["metadata"]
    kept = [name for name in metadata["finalizers"] if name != conditions.FINALIZER]
    return {**obj, "metadata": {**metadata, "finalizers": kept}}
