"""The provisioner of the cluster's own storage class: directories of its nodes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

from muntin.controllers.caches import Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import local_volumes
from muntin.controllers.rules.actions import Action, Again
from muntin.controllers.rules.local_volumes import RETRY_S, Step
from muntin.kit.clock import Clock
from muntin.kit.errors import MuntinError
from muntin.kit.log import fields
from muntin.model import volume_binding as binding
from muntin.model.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from muntin.seams.kube import Object
from muntin.seams.kube.informer import key_of

log = logging.getLogger(__name__)


class Directories(Protocol):
    """The file systems of the nodes; paths are as the node names them."""

    async def make(self, node: str, path: str) -> None:
        """Make the directory, if it is not there, for everybody to write to.

        Raises:
            MuntinError: it cannot be made; the message says why.
        """

    async def remove(self, node: str, path: str) -> None:
        """Remove it with all that is in it, if it is there.

        Raises:
            MuntinError: something is left.
        """


class LocalVolumes:
    """Keys with a slash are claims, those without are volumes."""

    name = local_volumes.PROVISIONER
    account = "local-path-provisioner"

    def __init__(
        self, caches: Caches, directories: Directories, clock: Clock, *, recovers: bool
    ) -> None:
        self._directories = directories
        self._clock = clock
        self._recovers = recovers
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = caches.use(PERSISTENT_VOLUMES)
        self._classes = caches.use(STORAGE_CLASSES)
        self._nodes = caches.use(NODES)
        self.sources = (
            Source(PERSISTENT_VOLUME_CLAIMS, self._of_claim),
            Source(PERSISTENT_VOLUMES, self._of_volume),
        )

    def _of_claim(self, claim: Object) -> Iterable[str]:
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        ours = volume is not None and local_volumes.is_ours(volume)
        if ours or local_volumes.waits_for_us(claim):
            yield key_of(claim)

    def _of_volume(self, volume: Object) -> Iterable[str]:
        if local_volumes.is_ours(volume):
            reference = volume["spec"].get("claimRef") or {}
            yield key_of(volume)
            yield f"{reference.get('namespace')}/{reference.get('name')}"

    async def plan(self, round: Round) -> Sequence[Action]:
        if "/" not in round.key:
            volume = self._volumes.get(round.key)
            return () if volume is None else await self._release(volume)
        claim = self._claims.get(round.key)
        if claim is None:
            return ()
        if local_volumes.waits_for_us(claim):
            return await self._provision(claim)
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        now = self._clock.now()
        return local_volumes.expand(claim, volume, now, recovers=self._recovers).actions

    async def _provision(self, claim: Object) -> Sequence[Action]:
        if self._volumes.get(f"pvc-{claim['metadata']['uid']}") is not None:
            return ()  # the binder has to take it
        storage_class = self._classes.get(binding.class_of(claim))
        node = self._nodes.get(binding.annotations_of(claim).get(binding.SELECTED_NODE, ""))
        step = local_volumes.provision(claim, storage_class, node)
        if not step.make or storage_class is None:
            return step.actions
        try:
            await self._directories.make(step.node, step.make)
        except MuntinError as err:
            return local_volumes.give_up(claim, storage_class, err.message).actions
        _said("directory of a volume made", step, step.make)
        return step.actions

    async def _release(self, volume: Object) -> Sequence[Action]:
        step = local_volumes.release(volume)
        if not step.remove:
            return step.actions
        try:
            await self._directories.remove(step.node, step.remove)
        except MuntinError as err:
            return (local_volumes.failed_delete(volume, err.message), Again(RETRY_S))
        _said("directory of a volume removed", step, step.remove)
        return step.actions


def _said(message: str, step: Step, path: str) -> None:
    log.info(message, **fields(node=step.node, path=path))
