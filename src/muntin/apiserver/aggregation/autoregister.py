"""An APIService for every group version that this server answers for.

Those of built-in groups are brought up to date at the start, those of custom resources always.
Source: kube-aggregator v1.34 pkg/controllers/autoregister.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

from muntin.apiserver.aggregation import priorities
from muntin.apiserver.core import Core
from muntin.apiserver.items import encode, key_of
from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.kit.log import fields
from muntin.model.fields import managers
from muntin.model.fields.elements import SELF, of_field
from muntin.model.fields.sets import LEAF
from muntin.model.resources import Resource

log = logging.getLogger(__name__)

Object = dict[str, Any]
STORAGE = "apiregistration.k8s.io/apiservices"
MANAGED = "kube-aggregator.kubernetes.io/automanaged"
ON_START, ALWAYS = "onstart", "true"
OWN_GROUP = "apiregistration.k8s.io"  # its own APIServices upstream does not list


class AutoRegister:
    """Keeps local APIServices of one server."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._changed = asyncio.Event()
        core.registry.listen(self._changed.set)
        core.cache.by_storage[STORAGE].observers.append(lambda _: self._changed.set())

    @property
    def _row(self) -> Resource:
        return self._core.registry.storage_rows[STORAGE]

    async def settle(self, *, starting: bool = False) -> None:
        """Write what is missing or wrong, and delete what is of no custom resource any more."""
        self._changed.clear()
        wanted = {obj["metadata"]["name"]: obj for obj in self._wanted()}
        work = [self._ensure(obj, starting=starting) for obj in wanted.values()]
        for item in list(self._core.cache.by_storage[STORAGE].items.values()):
            gone = item.name not in wanted
            if gone and (item.labels.get(MANAGED) == ALWAYS or (
                starting and item.labels.get(MANAGED) == ON_START
            )):  # fmt: skip
                work.append(self._delete(item.name, item.revision))
        results = await asyncio.gather(*work, return_exceptions=True)
        for result in results:
            if isinstance(result, errors.MuntinError) and not isinstance(
                result, errors.NotFound | errors.AlreadyExists | errors.Conflict
            ):
                log.warning("APIService not registered", **fields(error=result))
            elif isinstance(result, BaseException) and not isinstance(result, errors.MuntinError):
                raise result

    async def run(self) -> None:
        """Settle after each change of what is served, for ever."""
        while True:
            await self._changed.wait()
            try:
                await self.settle()
            except Exception:
                self._changed.set()  # once more, after a restart
                raise

    def _wanted(self) -> list[Object]:
        registry = self._core.registry
        found: dict[tuple[str, str], bool] = {}
        for row in registry.rows:
            if row.group != OWN_GROUP:
                key = row.group, row.version
                found.setdefault(key, registry.definition(row) is not None)
        return [_local(*key, custom=custom) for key, custom in found.items()]

    async def _ensure(self, wanted: Object, *, starting: bool) -> None:
        core, row, name = self._core, self._row, wanted["metadata"]["name"]
        item = core.cache.get(row, "", name)
        managed = wanted["metadata"]["labels"][MANAGED]
        if item is None:
            if managed == ON_START and not starting:
                return  # somebody deleted it; it comes back with the next start
            wanted["metadata"] |= {
                "uid": str(uuid.uuid4()),
                "creationTimestamp": rfc3339(core.clock.now()),
            }
            wanted["status"] = {"conditions": [_available(core.clock.now())]}
            await core.store.create(key_of(row, "", name), self._encoded(wanted))
            return
        current = item.object()
        is_ours = item.labels.get(MANAGED) in (ON_START, ALWAYS)
        if not is_ours or (managed == ON_START and not starting):
            return
        if current.get("spec") != wanted["spec"]:
            current["spec"] = wanted["spec"]
            await core.store.update(key_of(row, "", name), self._encoded(current), item.revision)

    def _encoded(self, obj: Object) -> bytes:
        managed = b""
        if self._core.forms.names_subresources:  # before, it did not say what is its own
            now = rfc3339(self._core.clock.now())
            spec = {of_field(name): LEAF for name in obj["spec"]}
            labels = {SELF: LEAF, of_field(MANAGED): LEAF}
            owned = {"f:metadata": {"f:labels": labels}, "f:spec": spec}
            managed = managers.of_server(self._row.api_version, now, owned)
        return encode(obj, self._row, managed)

    async def _delete(self, name: str, revision: int) -> None:
        await self._core.store.delete(key_of(self._row, "", name), revision)


def _local(group: str, version: str, *, custom: bool) -> Object:
    group_priority, version_priority = (
        (priorities.CUSTOM_GROUP, priorities.CUSTOM_VERSION)
        if custom
        else priorities.of(group, version)
    )
    spec: Object = {"version": version, "groupPriorityMinimum": group_priority,
                    "versionPriority": version_priority}  # fmt: skip
    if group:
        spec = {"group": group, **spec}
    labels = {MANAGED: ALWAYS if custom else ON_START}
    return {"metadata": {"name": f"{version}.{group}", "labels": labels}, "spec": spec}


def _available(now_s: float) -> Object:
    return {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": rfc3339(now_s),
        "reason": "Local",
        "message": "Local APIServices are always available",
    }
