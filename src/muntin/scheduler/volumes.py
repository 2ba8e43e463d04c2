"""Volumes of the pods that are being bound: what is watched, assumed, written and waited for.

A volume or claim that a decision takes is assumed to be taken until the API server shows a newer
state of it. Source: kubernetes v1.36 pkg/scheduler/framework/plugins/volumebinding/binder.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from muntin.kit.clock import Clock
from muntin.kit.errors import Internal, MuntinError, TimedOut
from muntin.model import volume_binding as binding
from muntin.model.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    Resource,
)
from muntin.scheduler.plan_framework import Request
from muntin.scheduler.plan_nodes import Object
from muntin.scheduler.plan_storage import Storage
from muntin.scheduler.plan_volumes import Bindings, PodVolumes
from muntin.seams.kube import KubeClient
from muntin.seams.kube.informer import Informer, OnChange, key_of
from muntin.seams.kube.shared_parts import POOL

BIND_TIMEOUT_S = 600.0
LOOK_S = 1.0
"""How often a pod that waits for its volumes is looked after, whatever changes."""


@dataclass(slots=True)
class _Reserved:
    node: Object
    bindings: Bindings


class Volumes:
    """Keeps ``storage`` current; ``changed`` is called when pods may fit that did not."""

    def __init__(
        self,
        client: KubeClient,
        storage: Storage,
        clock: Clock,
        changed: Callable[[], None],
        *,
        capacities: bool = True,
    ) -> None:
        """``capacities``: whether the server has CSIStorageCapacities."""
        self._client = client
        self._clock = clock
        self._changed = changed
        self._storage = storage
        self._claims: dict[str, Object] = {}
        self._volumes: dict[str, Object] = {}
        watched: dict[Resource, dict[str, Object]] = {
            PERSISTENT_VOLUME_CLAIMS: self._claims,
            PERSISTENT_VOLUMES: self._volumes,
            STORAGE_CLASSES: {},
            CSI_NODES: {},
        }
        storage.claims, storage.volumes = self._claims, self._volumes
        storage.classes, storage.csi_nodes = watched[STORAGE_CLASSES], watched[CSI_NODES]
        if capacities:
            storage.drivers = watched[CSI_DRIVERS] = {}
            storage.capacities = watched[CSI_STORAGE_CAPACITIES] = {}
        self._reserved: dict[str, _Reserved] = {}
        self._waiters: set[asyncio.Event] = set()
        self.informers = [
            self._watch(client, resource, rows, clock) for resource, rows in watched.items()
        ]

    def _watch(
        self, client: KubeClient, resource: Resource, rows: dict[str, Object], clock: Clock
    ) -> Informer:
        informer = Informer(client, resource, transform=_slim, clock=clock)

        def take(obj: Object, old: Object | None) -> None:
            if informer.get(key_of(obj)) is None:
                rows.pop(key_of(obj), None)
            else:
                rows[key_of(obj)] = obj
            for waiter in self._waiters:
                waiter.set()
            self._changed()

        informer.add_handler(OnChange(take))
        return informer

    def reserve(self, pod: Object, node: Object) -> None:
        """Take the volumes that ``pod`` gets on ``node``, so that no other pod is given them."""
        if not any(
            row.get("persistentVolumeClaim") or row.get("ephemeral")
            for row in pod["spec"].get("volumes") or ()
        ):
            return
        found = PodVolumes(Request(pod), self._storage).bindings(node)
        if not (found.static or found.provision):
            return
        for volume, claim in found.static:
            taken = binding.bound_volume(volume, claim)
            self._volumes[key_of(volume)] = volume if taken is None else taken
        for claim in found.provision:
            self._claims[key_of(claim)] = _selected(claim, node)
        self._reserved[pod["metadata"]["uid"]] = _Reserved(node, found)

    def has_reserved(self, pod: Object) -> bool:
        """Whether volumes have to be bound before the pod is."""
        return pod["metadata"]["uid"] in self._reserved

    def release(self, pod: Object) -> None:
        """Give back what was taken for the pod and is not written."""
        reserved = self._reserved.pop(pod["metadata"]["uid"], None)
        if reserved is None:
            return
        claims, volumes = self.informers[:2]
        rows = [(volumes, self._volumes, volume) for volume, _ in reserved.bindings.static]
        rows += [(claims, self._claims, claim) for claim in reserved.bindings.provision]
        for informer, known, obj in rows:
            current = informer.get(key_of(obj))
            if current is None:
                known.pop(key_of(obj), None)
            else:
                known[key_of(obj)] = current
        self._changed()

    async def bind(self, pod: Object, still_wanted: Callable[[], bool]) -> None:
        """Write what was reserved for ``pod``, and wait until all its claims are bound.

        Raises:
            MuntinError: it cannot be; all is released, and the message says why.
        """
        reserved = self._reserved[pod["metadata"]["uid"]]
        try:
            await self._write(reserved)
            await self._bound(reserved, still_wanted)
        except MuntinError:
            self.release(pod)
            raise
        self._reserved.pop(pod["metadata"]["uid"], None)

    async def _write(self, reserved: _Reserved) -> None:
        claims, volumes = self.informers[:2]
        for volume, claim in reserved.bindings.static:
            taken = binding.bound_volume(volume, claim)
            if taken is not None:
                volumes.observe(await self._client.update(PERSISTENT_VOLUMES, taken))
        for claim in reserved.bindings.provision:
            wanted = _selected(claim, reserved.node)
            if wanted != claim:
                claims.observe(await self._client.update(PERSISTENT_VOLUME_CLAIMS, wanted))

    async def _bound(self, reserved: _Reserved, still_wanted: Callable[[], bool]) -> None:
        deadline = self._clock.monotonic() + BIND_TIMEOUT_S
        waiter = asyncio.Event()
        self._waiters.add(waiter)
        try:
            while not self._all_bound(reserved):
                if not still_wanted():
                    raise Internal("binding volumes: pod does not exist any more")
                if self._clock.monotonic() >= deadline:
                    raise TimedOut("binding volumes: context deadline exceeded")
                waiter.clear()
                try:
                    async with asyncio.timeout(LOOK_S):
                        await waiter.wait()
                except TimeoutError:
                    continue
        finally:
            self._waiters.discard(waiter)

    def _all_bound(self, reserved: _Reserved) -> bool:
        """Whether all claims are bound.

        Raises:
            Internal: they will not be, as things are.
        """
        node = reserved.node
        name = node["metadata"]["name"]
        wanted = [claim for _, claim in reserved.bindings.static]
        for claim in (*wanted, *reserved.bindings.provision):
            current = self._claims.get(key_of(claim))
            if current is None:
                raise Internal(
                    "binding volumes: failed to check provisioning pvc: could not find v1."
                    f'PersistentVolumeClaim "{key_of(claim)}"'
                )
            selected = binding.annotations_of(current).get(binding.SELECTED_NODE)
            if claim in reserved.bindings.provision and selected != name:
                raise Internal(
                    f'binding volumes: provisioning failed for PVC "{current["metadata"]["name"]}"'
                )
            volume = self._volumes.get(current["spec"].get("volumeName") or "")
            if volume is not None and not binding.reaches(volume, node):
                raise Internal(
                    f'binding volumes: pv "{key_of(volume)}" node affinity doesn\'t match node '
                    f'"{name}": no matching NodeSelectorTerms'
                )
            if volume is None or not binding.is_fully_bound(current):
                return False
        for volume, _ in reserved.bindings.static:
            found = self._volumes.get(key_of(volume))
            if found is None or not (found["spec"].get("claimRef") or {}).get("uid"):
                raise Internal(f'binding volumes: ClaimRef got reset for pv "{key_of(volume)}"')
        return True


def _selected(claim: Object, node: Object) -> Object:
    return binding.with_annotations(claim, {binding.SELECTED_NODE: node["metadata"]["name"]})


def _slim(obj: Object) -> Object:
    obj["metadata"].pop("managedFields", None)
    return POOL.compact(obj)
