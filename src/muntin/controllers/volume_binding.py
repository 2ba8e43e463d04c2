"""Volumes and their claims: binding, release, growth, and claims of ephemeral volumes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import NAMESPACE, Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import (
    claim_binding,
    ephemeral_volume,
    volume_expansion,
    volume_reclaim,
)
from muntin.controllers.rules.actions import Action
from muntin.kit.errors import NotFound
from muntin.model import quantity
from muntin.model import volume_binding as binding
from muntin.model.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from muntin.model.volumes_in_use import claims_of
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import key_of

CLAIM, UNBOUND = "claim", "unbound"
DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _by_claim(volume: Object) -> Iterable[str]:
    reference = volume["spec"].get("claimRef")
    return [f"{reference.get('namespace')}/{reference.get('name')}"] if reference else []


def _unbound_by_class(claim: Object) -> Iterable[str]:
    return [] if binding.is_fully_bound(claim) else [binding.class_of(claim)]


class VolumeBinder:
    """Keys with a slash are claims, those without are volumes."""

    name = "persistentvolume-controller"
    account = "persistent-volume-binder"

    def __init__(self, caches: Caches, client: KubeClient) -> None:
        self._client = client
        self._volumes = caches.use(PERSISTENT_VOLUMES)
        self._volumes.add_indexer(CLAIM, _by_claim)
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS)
        self._claims.add_indexer(UNBOUND, _unbound_by_class)
        self._classes = caches.use(STORAGE_CLASSES)
        self._pods = caches.use(PODS, NAMESPACE)
        self.sources = (
            Source(PERSISTENT_VOLUME_CLAIMS, self._of_claim),
            Source(PERSISTENT_VOLUMES, self._of_volume),
            Source(STORAGE_CLASSES, self._of_class),
        )

    def _of_claim(self, claim: Object) -> Iterable[str]:
        yield key_of(claim)
        for volume in self._volumes.by_index(CLAIM, key_of(claim)):
            yield key_of(volume)

    def _of_volume(self, volume: Object) -> Iterable[str]:
        """The volume, its claim, and the claims that it might be for when it becomes free."""
        yield key_of(volume)
        yield from _by_claim(volume)
        if not volume["spec"].get("claimRef"):
            for claim in self._claims.by_index(UNBOUND, binding.class_of(volume)):
                yield key_of(claim)

    def _of_class(self, storage_class: Object) -> Iterable[str]:
        for name in (storage_class["metadata"]["name"], ""):
            for claim in self._claims.by_index(UNBOUND, name):
                yield key_of(claim)

    async def plan(self, round: Round) -> Sequence[Action]:
        if "/" in round.key:
            return self._plan_claim(round.key)
        volume = self._volumes.get(round.key)
        if volume is None:
            return ()
        return volume_reclaim.reconcile(volume, await self._claim_of(volume))

    def _plan_claim(self, key: str) -> Sequence[Action]:
        claim = self._claims.get(key)
        if claim is None:
            return ()
        name, named = claim["metadata"]["name"], claim["spec"].get("volumeName")
        mine = self._volumes.get(named) if named else None
        neighbours: Iterable[Object] = ()
        if not named:
            neighbours = self._pods.by_index(NAMESPACE, claim["metadata"]["namespace"])
        snapshot = claim_binding.Snapshot(
            claim=claim,
            volumes=([mine] if mine is not None else []) if named else self._volumes.all(),
            storage_class=self._classes.get(binding.class_of(claim)),
            default_class=self._default_class(),
            users=[pod for pod in neighbours if name in claims_of(pod)],
        )
        return claim_binding.reconcile(snapshot)

    def _default_class(self) -> str | None:
        """The newest of those that are marked so, as admission chooses."""
        found = [
            (row["metadata"].get("creationTimestamp") or "", row["metadata"]["name"])
            for row in self._classes
            if any(binding.annotations_of(row).get(mark) == "true" for mark in DEFAULT_CLASS)
        ]
        newest = max((created for created, _ in found), default="")
        return min((name for created, name in found if created == newest), default=None)

    async def _claim_of(self, volume: Object) -> Object | None:
        """The claim that the volume names; before data goes, the API server is asked."""
        reference = volume["spec"].get("claimRef") or {}
        if not reference.get("uid"):
            return None
        namespace, name = str(reference["namespace"]), str(reference["name"])
        claim = self._claims.get(f"{namespace}/{name}")
        if claim is not None and claim["metadata"]["uid"] == reference["uid"]:
            return claim
        if (volume.get("status") or {}).get("phase") in ("Released", "Failed"):
            return claim
        try:
            return await self._client.get(PERSISTENT_VOLUME_CLAIMS, name, namespace)
        except NotFound:
            return None


class VolumeExpander:
    """Says of claims that grew whom they wait for."""

    name = "volume_expand"
    account = "expand-controller"

    def __init__(self, caches: Caches) -> None:
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = caches.use(PERSISTENT_VOLUMES)
        self._told: dict[str, str] = {}
        self.sources = (Source(PERSISTENT_VOLUME_CLAIMS, self._of_claim),)

    def _of_claim(self, claim: Object) -> Iterable[str]:
        """Bound claims whose request has grown since it was last looked at."""
        uid, wanted = claim["metadata"]["uid"], binding.requested(claim)
        if (claim.get("status") or {}).get("phase") != "Bound":
            return
        if self._claims.get(key_of(claim)) is None:
            self._told.pop(uid, None)
            return
        known = self._told.get(uid)
        self._told[uid] = wanted
        if known is None or quantity.compare(wanted, known) > 0:
            yield key_of(claim)

    async def plan(self, round: Round) -> Sequence[Action]:
        claim = self._claims.get(round.key)
        if claim is None:
            return ()
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        return volume_expansion.reconcile(claim, volume)


class EphemeralVolumes:
    """Makes the claims that pods with generic ephemeral volumes use."""

    name = "ephemeral_volume"
    account = "ephemeral-volume-controller"

    def __init__(self, caches: Caches) -> None:
        self._pods = caches.use(PODS)
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS, NAMESPACE)
        self.sources = (
            Source(PODS, self._of_pod),
            Source(PERSISTENT_VOLUME_CLAIMS, self._of_claim),
        )

    def _of_pod(self, pod: Object) -> Iterable[str]:
        if any(volume.get("ephemeral") for volume in pod["spec"].get("volumes") or ()):
            yield key_of(pod)

    def _of_claim(self, claim: Object) -> Iterable[str]:
        """A claim that somebody deleted is made anew."""
        for owner in claim["metadata"].get("ownerReferences") or ():
            if owner.get("kind") == "Pod" and self._claims.get(key_of(claim)) is None:
                yield f"{claim['metadata']['namespace']}/{owner['name']}"

    async def plan(self, round: Round) -> Sequence[Action]:
        pod = self._pods.get(round.key)
        if pod is None:
            return ()
        rows = self._claims.by_index(NAMESPACE, pod["metadata"]["namespace"])
        return ephemeral_volume.reconcile(pod, {row["metadata"]["name"]: row for row in rows})
