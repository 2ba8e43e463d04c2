"""Keeps the objects of flow control right: those that every cluster has, and who dangles.

Mandatory objects are brought back to what they must be; suggested ones as long as their
annotation ``apf.kubernetes.io/autoupdate-spec`` does not say otherwise.
Source: apiserver v1.34 pkg/registry/flowcontrol/ensurer, pkg/util/flowcontrol/apf_controller.go.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import orjson

from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.flowcontrol import LEVELS, SCHEMAS, defaults
from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.kit.log import fields
from muntin.model.conversion import convert
from muntin.model.resources import Resource
from muntin.model.windows_releases import parse_kubernetes

log = logging.getLogger(__name__)

Object = dict[str, Any]
RESYNC_S = 60.0
_HEADERS = {"content-type": "application/json"}
# Who is said to have written the spec, and who the status.
_PRODUCER = "api-priority-and-fairness-config-producer-v1"
_CONSUMER = "api-priority-and-fairness-config-consumer-v1"


class FlowUpkeep:
    """The upkeep of one server, which writes through ``transport``."""

    def __init__(self, core: Core, transport: DirectTransport) -> None:
        self._core = core
        self._version = parse_kubernetes(core.config.kubernetes_version)
        self._transport = transport
        self._changed = asyncio.Event()
        core.limits.flow.changed = self._changed.set

    async def settle(self) -> None:
        """Write whatever is not as it should be now."""
        self._changed.clear()
        levels, schemas = self._row(LEVELS), self._row(SCHEMAS)
        if levels is None or schemas is None:
            return  # turned off: the defaults hold by themselves
        exempt, *others = defaults.priority_levels(self._version)
        wanted = [(levels, obj) for obj in others]
        wanted += [(schemas, obj) for obj in defaults.flow_schemas(self._version)]
        if not self._suggests(levels):
            wanted = [pair for pair in wanted if pair[1]["metadata"]["name"] in defaults.MANDATORY]
        await asyncio.gather(*(self._ensure(*pair) for pair in wanted))
        await self._ensure(levels, exempt)  # the last: it says that all others were made
        await asyncio.gather(*(self._mark(schemas, obj) for obj in self._misjudged(levels)))

    def _row(self, storage: str) -> Resource | None:
        """The served row of the version that is preferred."""
        rows = self._core.registry.rows
        return next((row for row in rows if row.storage_name == storage), None)

    def _suggests(self, levels: Resource) -> bool:
        """Whether suggestions are to be there; an old API makes them once, with a new store."""
        if defaults.are_kept_up(self._version):
            return True
        return self._core.cache.get(levels, "", "exempt") is None

    async def run(self) -> None:
        """Settle after each change and each minute, for ever."""
        while True:
            try:
                async with asyncio.timeout(RESYNC_S):
                    await self._changed.wait()
            except TimeoutError:
                pass
            try:
                await self.settle()
            except errors.MuntinError as err:
                log.warning("flow control objects not brought up to date", **fields(error=err))
                await self._core.clock.sleep(1.0)

    async def _ensure(self, row: Resource, obj: Object) -> None:
        name = obj["metadata"]["name"]
        item = self._core.cache.get(row, "", name)
        if item is None:
            await self._send("POST", row, row.path(), obj, _PRODUCER)
            return
        current = item.object()
        if _is_ours(current) and not _holds(current.get("spec"), obj["spec"]):
            wanted = {**current, "spec": obj["spec"]}
            await self._send("PUT", row, row.path(name), wanted, _PRODUCER)

    def _misjudged(self, levels: Resource) -> Iterator[Object]:
        """The FlowSchemas whose condition Dangling is not true, with the one that is."""
        for item in list(self._core.cache.by_storage[SCHEMAS].items.values()):
            obj = item.object()
            reference = obj["spec"]["priorityLevelConfiguration"]["name"]
            found = self._core.cache.get(levels, "", reference) is not None
            condition = _dangling(reference, found=found)
            conditions = (obj.get("status") or {}).get("conditions") or []
            old: Object = next((c for c in conditions if c.get("type") == "Dangling"), {})
            if any(old.get(key) != value for key, value in condition.items()):
                condition["lastTransitionTime"] = rfc3339(self._core.clock.now())
                others = [c for c in conditions if c.get("type") != "Dangling"]
                yield {**obj, "status": {"conditions": [*others, condition]}}

    async def _mark(self, row: Resource, obj: Object) -> None:
        path = row.path(obj["metadata"]["name"], subresource="status")
        await self._send("PUT", row, path, obj, _CONSUMER)

    async def _send(self, method: str, row: Resource, path: str, obj: Object, manager: str) -> None:
        obj = convert(obj, self._core.registry.stored(row), row)
        answer = await self._transport.request(
            method, f"{path}?fieldManager={manager}", headers=_HEADERS, body=orjson.dumps(obj)
        )
        if answer.status >= 400 and answer.status not in (404, 409):  # somebody was faster
            text = orjson.loads(answer.body).get("message", "")
            raise errors.Internal(f"flow control: {method} {path}: {text}")


def _is_ours(obj: Object) -> bool:
    metadata = obj["metadata"]
    if metadata["name"] in defaults.MANDATORY:
        return True
    asked = (metadata.get("annotations") or {}).get(defaults.AUTO_UPDATE)
    return bool(asked == "true" if asked else metadata.get("generation", 1) == 1)


def _holds(found: Any, wanted: Any) -> bool:
    """Whether all that ``wanted`` says is so in ``found``, which may say more."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(_holds(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(_holds(*pair) for pair in pairs)
    return bool(found == wanted)


def _dangling(level: str, *, found: bool) -> Object:
    about = f'This FlowSchema references the PriorityLevelConfiguration object named "{level}"'
    if found:
        return {"type": "Dangling", "status": "False", "reason": "Found",
                "message": f"{about} and it exists"}  # fmt: skip
    return {"type": "Dangling", "status": "True", "reason": "NotFound",
            "message": f"{about} but there is no such object"}  # fmt: skip
