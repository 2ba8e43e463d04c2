"""The other servers of one server: known from APIServices, checked, and told to discovery.

Source: kube-aggregator v1.34 pkg/apiserver/apiserver.go, pkg/controllers/status/remote.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import orjson

from muntin.apiserver.aggregation import availability
from muntin.apiserver.aggregation.autoregister import STORAGE
from muntin.apiserver.aggregation.availability import Finding
from muntin.apiserver.aggregation.remote import Remote
from muntin.apiserver.cache import Event
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.kit import errors, supervised
from muntin.kit.clock import rfc3339
from muntin.kit.log import fields
from muntin.kit.metrics import Collected, Samples
from muntin.model.resources import ENDPOINT_SLICES, SERVICES

log = logging.getLogger(__name__)

Object = dict[str, Any]
RESYNC_S = 30.0
_HEADERS = {"content-type": "application/json"}


class Aggregation:
    """The other servers of one server, by the names of their APIServices."""

    def __init__(self, core: Core, transport: DirectTransport) -> None:
        self._core = core
        self._transport = transport
        self._remotes: dict[str, Remote] = {}
        self._shown: dict[str, object] = {}
        self._changed = asyncio.Event()
        by_storage = core.cache.by_storage
        by_storage[STORAGE].observers.append(self._observe)
        for row in (SERVICES, ENDPOINT_SLICES):
            if row.storage_name in by_storage:
                by_storage[row.storage_name].observers.append(self._observe_service)
        core.metrics.families.add(Collected(
            "aggregator_unavailable_apiservice",
            "APIServices which are marked as unavailable.", ("name",), self._unavailable,
        ))  # fmt: skip

    def _observe(self, event: Event) -> None:
        self._changed.set()

    def _observe_service(self, event: Event) -> None:
        if self._remotes:
            self._changed.set()

    def _unavailable(self) -> Samples:
        return [((name,), float(not remote.available)) for name, remote in self._remotes.items()]

    # -- which there are ---------------------------------------------------------------------

    async def settle(self) -> None:
        """Know the servers that the APIServices name now."""
        self._changed.clear()
        core = self._core
        seen = set()
        for item in list(core.cache.by_storage[STORAGE].items.values()):
            obj = item.object()
            if not obj["spec"].get("service"):
                continue
            seen.add(item.name)
            known = self._remotes.get(item.name)
            if known is None or (known.uid, known.spec) != (item.uid, obj["spec"]):
                remote = Remote(obj, core.config, core.cache)
                remote.available = _is_available(obj)
                self._remotes[item.name] = remote
                self._publish(remote)
                if known is not None:
                    await known.close()
        for name in [name for name in self._remotes if name not in seen]:
            gone = self._remotes.pop(name)
            self._shown.pop(name, None)
            core.registry.drop_remote(gone.group, gone.version)
            await gone.close()

    def _publish(self, remote: Remote) -> None:
        """Have discovery made anew, if there is something to tell."""
        now = (
            id(remote),
            remote.available,
            orjson.dumps([remote.resources, remote.openapi, remote.swagger]),
        )
        if self._shown.get(remote.name) != now:
            self._shown[remote.name] = now
            found = {"remote": remote}
            self._core.registry.serve_remote(remote.group, remote.version, found)

    # -- whether they are well ---------------------------------------------------------------

    async def run(self) -> None:
        """Check them after each change and each half minute, for ever."""
        try:
            while True:
                await asyncio.gather(*(self._check(found) for found in self._remotes.values()))
                if self._remotes:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(RESYNC_S):
                            await self._changed.wait()
                else:
                    await self._changed.wait()
                await self.settle()
        finally:
            await asyncio.gather(*(found.close() for found in self._remotes.values()))

    async def _check(self, remote: Remote) -> None:
        try:
            found = availability.of_service(remote, self._core.cache)
            if found is None:
                found = await availability.of_discovery(remote)
                if found.status == "True" and not (remote.available and remote.openapi):
                    await availability.read_openapi(remote)
            if self._remotes.get(remote.name) is not remote:
                return  # it was replaced meanwhile
            remote.available = found.status == "True"
            self._publish(remote)
            await self._tell(remote, found)
        except errors.MuntinError as err:
            log.warning("APIService not checked", **fields(name=remote.name, error=err))
        except Exception:  # whatever a server answers, the others are checked
            supervised.FAILURES.add(("apiserver-aggregation-check",))
            log.exception("APIService not checked", **fields(name=remote.name))

    async def _tell(self, remote: Remote, found: Finding) -> None:
        """Write the condition, if it is another."""
        core = self._core
        row = core.registry.storage_rows[STORAGE]
        item = core.cache.get(row, "", remote.name)
        if item is None:
            return
        obj = item.object()
        conditions = (obj.get("status") or {}).get("conditions") or []
        old: Object = next((row for row in conditions if row.get("type") == "Available"), {})
        if (old.get("status"), old.get("reason"), old.get("message")) == (
            found.status, found.reason, found.message
        ):  # fmt: skip
            return
        since = old.get("lastTransitionTime") if old.get("status") == found.status else ""
        condition = {
            "type": "Available",
            "status": found.status,
            "lastTransitionTime": since or rfc3339(core.clock.now()),
            "reason": found.reason,
            "message": found.message,
        }
        others = [row for row in conditions if row.get("type") != "Available"]
        obj["status"] = {"conditions": [*others, condition]}
        path = row.path(remote.name, subresource="status")
        answer = await self._transport.request(
            "PUT", path, headers=_HEADERS, body=orjson.dumps(obj)
        )
        if answer.status == 409:
            self._changed.set()  # somebody was faster: look again
        log.info(
            "availability of an APIService changed",
            **fields(name=remote.name, status=found.status, reason=found.reason),
        )


def _is_available(obj: Object) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(row.get("type") == "Available" and row.get("status") == "True" for row in conditions)
