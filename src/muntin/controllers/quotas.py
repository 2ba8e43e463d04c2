"""Resource quotas: what their rule sees, counted from the caches.

Objects are looked at when they go or come to use less; what comes is charged by admission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from muntin.controllers.caches import NAMESPACE, Caches
from muntin.controllers.catalog import Catalog
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import resourcequota
from muntin.controllers.rules.actions import Action
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.model import quota
from muntin.model.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_QUOTAS,
    SERVICES,
    Resource,
)
from muntin.seams.kube import Object
from muntin.seams.kube.informer import Informer, OnChange, key_of
from muntin.seams.kube.workqueue import WorkQueue

_MEASURED = (PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS)


class ResourceQuotas:
    """Keys are those of quotas."""

    name = "resourcequota-controller"
    account = "resourcequota-controller"

    def __init__(self, caches: Caches, catalog: Catalog, clock: Clock) -> None:
        self._caches = caches
        self._catalog = catalog
        self._clock = clock
        self._quotas = caches.use(RESOURCE_QUOTAS, NAMESPACE)
        self._seen: dict[str, tuple[object, float]] = {}
        self._counted: dict[str, Resource] = {row.group_resource: row for row in _MEASURED}
        self.queue: WorkQueue[str] | None = None
        self.sources = (
            Source(RESOURCE_QUOTAS, self._of_quota),
            *(Source(row, _Shrinking(caches.use(row), row, self._of_namespace))
              for row in _MEASURED),
        )  # fmt: skip

    def _of_namespace(self, obj: Object) -> Iterable[str]:
        namespace = obj["metadata"].get("namespace") or ""
        return [key_of(found) for found in self._quotas.by_index(NAMESPACE, namespace)]

    def _of_quota(self, found: Object) -> Iterable[str]:
        key = key_of(found)
        if self._quotas.get(key) is None:
            self._seen.pop(key, None)
            return []
        version = found["metadata"].get("resourceVersion")
        known = self._seen.get(key)
        if known is None or known[0] != version:
            self._seen[key] = (version, self._clock.monotonic())
        status = found.get("status") or {}
        allowed, used = (quota.amounts.parse(status.get(side)) for side in ("hard", "used"))
        hard = quota.hard_of(found)
        return [] if allowed == hard and hard.keys() <= used.keys() else [key]

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._quotas.get(round.key)
        if found is None:
            return ()
        namespace = found["metadata"]["namespace"]
        objects: dict[str, Sequence[Object]] = {}
        for name in sorted(quota.counted(quota.hard_of(found))):
            informer = await self._informer(name)
            if informer is not None:
                objects[name] = informer.by_index(NAMESPACE, namespace)
        since = self._seen.get(round.key, (None, 0.0))[1]
        snapshot = resourcequota.Snapshot(
            quota=found, objects=objects, unchanged_s=self._clock.monotonic() - since
        )
        return resourcequota.reconcile(snapshot, round.now)

    async def _informer(self, name: str) -> Informer | None:
        """The objects of ``plural`` or ``plural.group``; None for what the server does not have."""
        resource = self._counted.get(name)
        if resource is None:
            rows = await self._catalog.deletable()
            resource = next((row for row in rows if row.group_resource == name), None)
            if resource is None or not resource.namespaced:
                return None
            self._counted[name] = resource
            informer = self._caches.use(resource, NAMESPACE, slim=True)
            informer.add_handler(OnChange(self._gone(informer)))
        informer = self._caches.use(resource, NAMESPACE, slim=True)
        await informer.synced.wait()
        return informer

    def _gone(self, informer: Informer) -> Callable[[Object, Object | None], None]:
        def changed(obj: Object, old: Object | None) -> None:
            if informer.get(key_of(obj)) is None and self.queue is not None:
                for key in self._of_namespace(obj):
                    self.queue.add(key)

        return changed


class _Shrinking:
    """The quotas' keys of an object that is gone or uses less than when it was seen before."""

    def __init__(
        self, informer: Informer, resource: Resource, keys: Callable[[Object], Iterable[str]]
    ) -> None:
        rules = quota.evaluator(resource.group_resource)
        if rules is None:
            raise errors.Internal(f"no quota counts {resource.group_resource}")
        self._usage = rules.usage
        self._informer = informer
        self._keys = keys
        self._before: tuple[str, quota.amounts.Amounts] | None = None

    def __call__(self, obj: Object) -> Iterable[str]:
        keys = list(self._keys(obj))
        if not keys:
            return []
        if self._informer.get(key_of(obj)) is None:
            return keys
        uid, before = obj["metadata"]["uid"], self._before
        now = self._usage(obj, 0.0)
        self._before = (uid, now)
        if before is None or before[0] != uid:
            return []
        less = any(name not in now or now[name].nano < was.nano for name, was in before[1].items())
        return keys if less else []
