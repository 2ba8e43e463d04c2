"""Keeps ``status.typeChecking`` of the policies: what their expressions get wrong about types.

Source: kubernetes v1.34 pkg/controller/validatingadmissionpolicystatus/controller.go.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import orjson

from muntin.apiserver.cache import Event, ResourceCache
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.items import Item
from muntin.kit.log import fields
from muntin.model.admission.rules import GROUP

Object = dict[str, Any]

log = logging.getLogger(__name__)

_PLURAL = "validatingadmissionpolicies"
_HEADERS = {"content-type": "application/merge-patch+json"}


class TypeChecking:
    """Checks each policy once per generation."""

    def __init__(self, core: Core, transport: DirectTransport, policies: ResourceCache) -> None:
        self._core = core
        self._transport = transport
        self._policies = policies
        self._changed = asyncio.Event()
        policies.observers.append(self._see)
        if policies.items:
            self._changed.set()

    def _see(self, event: Event) -> None:
        if event.type != "DELETED":
            self._changed.set()

    async def run(self) -> None:
        """Check whatever changes, for ever."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            for item in list(self._policies.items.values()):
                try:
                    await self._check(item)
                except Exception:
                    log.exception("types not checked", **fields(policy=item.name))

    async def _check(self, item: Item) -> None:
        obj = item.object()
        generation = obj["metadata"].get("generation", 0)
        status = obj.get("status") or {}
        if status.get("observedGeneration") == generation:
            return
        found = await self._warnings(obj)
        checked: Object = {"expressionWarnings": found} if found else {}
        body = {"status": {"observedGeneration": generation, "typeChecking": checked}}
        answer = await self._transport.request(
            "PATCH",
            f"/apis/{GROUP}/v1/{_PLURAL}/{item.name}/status",
            headers=_HEADERS,
            body=orjson.dumps(body),
        )
        if answer.status >= 400 and answer.status != 404:
            log.warning("types not noted", **fields(policy=item.name, status=answer.status))

    async def _warnings(self, obj: Object) -> list[Object]:
        from muntin.model.admission import type_checking
        from muntin.model.admission.shapes import shape_of

        core, kinds = self._core, []
        for group, version, plural in type_checking.wanted(obj):
            row = core.registry.find(group, version, plural)
            if row is None or core.registry.definition(row) is not None:
                continue
            name = f"{row.group}/{row.version}, Kind={row.kind}"
            kinds.append((name, shape_of(core.schema, core.schema.type_of(row))))
            await asyncio.sleep(0)
        return type_checking.warnings(obj, kinds)


def of(core: Core, transport: DirectTransport) -> TypeChecking | None:
    """The checker, where the API version has policies."""
    policies = core.cache.by_storage.get(f"{GROUP}/{_PLURAL}")
    return None if policies is None else TypeChecking(core, transport, policies)
