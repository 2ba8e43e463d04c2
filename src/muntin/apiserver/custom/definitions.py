"""The definitions in the store, followed: what they define is served, and their status kept true.

A definition is served from the moment on that the store says that it is established, here and in
every other server over the same store; whoever is first writes the status.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import orjson

from muntin.apiserver.cache import Event
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.kit.log import fields
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import CUSTOM_RESOURCE_DEFINITIONS
from muntin.model.windows_releases import parse_kubernetes

if TYPE_CHECKING:
    from muntin.apiserver.custom.cleanup import Cleanup
    from muntin.model.custom.definition import Definition

Object = dict[str, Any]

log = logging.getLogger(__name__)

RETRY_S = 1.0
_HEADERS = {"content-type": "application/json", "user-agent": "kube-apiserver"}


class Definitions:
    """Keeps the registry of one server as the definitions are."""

    def __init__(self, core: Core, transport: DirectTransport) -> None:
        self._core = core
        self._transport = transport
        self._cache = core.cache.of(CUSTOM_RESOURCE_DEFINITIONS)
        self._cleanup: Cleanup | None = None
        self._waiting: dict[str, None] = {}
        self._judged: dict[str, tuple[object, list[str]]] = {}
        self._changed = asyncio.Event()
        version = parse_kubernetes(core.config.kubernetes_version)
        self._ratchets = is_in(ApiFeature.CUSTOM_RATCHETING, version)
        self._name_formats = is_in(ApiFeature.CUSTOM_NAME_FORMATS, version)

    def load(self) -> None:
        """Serve what the loaded cache has, and follow it from now on."""
        self._cache.observers.append(self._observe)
        for item in self._cache.select():
            self._serve(item.object())
            self._ask(item.name)

    def _observe(self, event: Event) -> None:
        obj = event.item.object()
        if event.type == "DELETED":
            self._core.registry.remove(_storage_name(obj))
            self._judged.pop(event.item.name, None)
            for item in self._cache.select():  # its names may be had by others now
                if item.object()["spec"]["group"] == obj["spec"]["group"]:
                    self._ask(item.name)
            return
        self._serve(obj)
        self._ask(event.item.name)

    def _serve(self, obj: Object) -> None:
        from muntin.model.custom.definition import Definition, is_established

        registry, name = self._core.registry, _storage_name(obj)
        if not is_established(obj):
            registry.remove(name)
            return
        known = registry.definitions.get(name)
        if known is None or _defines(known.object) != _defines(obj):
            definition = Definition(obj, ratchets=self._ratchets, name_formats=self._name_formats)
            registry.replace(name, definition)
            self._convey(definition)

    def _convey(self, definition: Definition) -> None:
        """Have events wait for the definition's webhook, if it has one."""
        resource = self._core.cache.by_storage[definition.storage_name]
        resource.deliver = resource.watchers.fan_out
        if definition.uses_webhook:
            from muntin.apiserver.custom.delivery import Delivery

            resource.deliver = Delivery(self._core.cache.forms, resource, definition).put

    def _ask(self, name: str) -> None:
        """Look at the definition of that name soon."""
        self._waiting[name] = None
        self._changed.set()

    async def run(self) -> None:
        """Keep the status of all definitions true, until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._waiting:
                name = next(iter(self._waiting))
                del self._waiting[name]
                try:
                    await self._settle(name)
                except errors.MuntinError as err:
                    log.warning("definition not settled", **fields(name=name, error=err))
                    asyncio.get_running_loop().call_later(RETRY_S, self._ask, name)
                except Exception:
                    log.exception("definition not settled", **fields(name=name))

    def _cleaner(self) -> Cleanup:
        if self._cleanup is None:
            from muntin.apiserver.custom.cleanup import Cleanup

            self._cleanup = Cleanup(self._core, self._transport, self._ask)
        return self._cleanup

    async def _settle(self, name: str) -> None:
        item = self._cache.get("", name)
        if item is None:
            return
        obj = item.object()
        if "deletionTimestamp" in obj["metadata"]:
            await self._cleaner().run(obj)
            return
        group = [
            other
            for found in self._cache.select()
            if found.name != name
            and (other := found.object())["spec"]["group"] == obj["spec"]["group"]
        ]
        from muntin.model.custom import conditions

        problems = await self._problems(name, obj)
        now = rfc3339(self._core.clock.now())
        status = conditions.reconcile(obj, group, now, problems)
        if status is None:
            return
        await self._write(name, {**obj, "status": status})
        if status.get("acceptedNames") != (obj.get("status") or {}).get("acceptedNames"):
            for other in group:
                self._ask(other["metadata"]["name"])

    async def _problems(self, name: str, obj: Object) -> list[str]:
        """What is not structural; found out once for each change of the definition."""
        from muntin.model.custom import conditions

        key = obj["metadata"].get("uid", ""), obj["metadata"].get("generation", 0)
        known = self._judged.get(name)
        if known is not None and known[0] == key:
            return known[1]
        found = await asyncio.to_thread(conditions.schema_problems, obj)
        self._judged[name] = key, found
        return found

    async def _write(self, name: str, obj: Object) -> None:
        path = CUSTOM_RESOURCE_DEFINITIONS.path(name, subresource="status")
        body = orjson.dumps(obj)
        answer = await self._transport.request("PUT", path, headers=_HEADERS, body=body)
        if answer.status in (404, 409):  # changed meanwhile: its event is on the way
            return
        if answer.status >= 400:
            raise errors.Internal(str(orjson.loads(answer.body).get("message")))


def _storage_name(obj: Object) -> str:
    return f"{obj['spec']['group']}/{obj['spec']['names']['plural']}"


def _defines(obj: Any) -> tuple[Any, ...]:
    """What of a definition changes what is served."""
    names = (obj.get("status") or {}).get("acceptedNames")
    return obj["spec"], names, "deletionTimestamp" in obj["metadata"], obj["metadata"].get("uid")
