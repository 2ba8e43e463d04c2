"""Volumes and claims in use: what their protection sees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import NAMESPACE, Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import volume_protection
from muntin.controllers.rules.actions import Action
from muntin.model import pods
from muntin.model.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTRIBUTES_CLASSES,
)
from muntin.model.volumes_in_use import claims_of
from muntin.seams.kube import Object

ATTRIBUTES = "attributes"


class ClaimProtection:
    name = "persistentvolumeclaim-protection-controller"
    account = "pvc-protection-controller"

    def __init__(self, caches: Caches) -> None:
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS)
        self._pods = caches.use(PODS)
        self._caches = caches
        self.sources = (Source(PERSISTENT_VOLUME_CLAIMS), Source(PODS, self._of_pod))

    def _of_pod(self, pod: Object) -> Iterable[str]:
        """The claims whose deletion waits and that the pod uses, or used."""
        for name in claims_of(pod):
            key = f"{pod['metadata']['namespace']}/{name}"
            claim = self._claims.get(key)
            if claim is not None and pods.is_deleting(claim):
                yield key

    async def plan(self, round: Round) -> Sequence[Action]:
        claim = self._claims.get(round.key)
        if claim is None:
            return ()
        users: list[Object] = []
        if pods.is_deleting(claim):
            namespace = claim["metadata"]["namespace"]
            users = self._caches.use(PODS, NAMESPACE).by_index(NAMESPACE, namespace)
        return volume_protection.reconcile_claim(claim, users)


class VolumeProtection:
    name = "persistentvolume-protection-controller"
    account = "pv-protection-controller"

    def __init__(self, caches: Caches) -> None:
        self._volumes = caches.use(PERSISTENT_VOLUMES)
        self.sources = (Source(PERSISTENT_VOLUMES),)

    async def plan(self, round: Round) -> Sequence[Action]:
        volume = self._volumes.get(round.key)
        return () if volume is None else volume_protection.reconcile_volume(volume)


class AttributesClassProtection:
    name = "volumeattributesclass-protection-controller"
    account = "volumeattributesclass-protection-controller"

    def __init__(self, caches: Caches) -> None:
        self._classes = caches.use(VOLUME_ATTRIBUTES_CLASSES)
        self._users = (caches.use(PERSISTENT_VOLUMES), caches.use(PERSISTENT_VOLUME_CLAIMS))
        for informer in self._users:
            informer.add_indexer(ATTRIBUTES, volume_protection.attributes_classes_of)
        self.sources = (
            Source(VOLUME_ATTRIBUTES_CLASSES),
            Source(PERSISTENT_VOLUMES, volume_protection.attributes_classes_of),
            Source(PERSISTENT_VOLUME_CLAIMS, volume_protection.attributes_classes_of),
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._classes.get(round.key)
        if found is None:
            return ()
        in_use = any(informer.by_index(ATTRIBUTES, round.key) for informer in self._users)
        return volume_protection.reconcile_attributes_class(found, in_use=in_use)
