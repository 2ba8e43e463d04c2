"""Attaching volumes of CSI drivers to nodes: what the rule sees. Keys are names of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import NAMESPACE, NODE, Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import attach_detach
from muntin.controllers.rules.actions import Action
from muntin.kit.clock import Clock
from muntin.model import pods
from muntin.model.resources import (
    CSI_DRIVERS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from muntin.model.volumes_in_use import claims_of
from muntin.seams.kube import Object
from muntin.seams.kube.informer import key_of


class AttachDetach:
    name = "attachdetach-controller"
    account = "attachdetach-controller"

    def __init__(self, caches: Caches, clock: Clock) -> None:
        self._clock = clock
        self._pods = caches.use(PODS, NAMESPACE, NODE)
        self._nodes = caches.use(NODES)
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = caches.use(PERSISTENT_VOLUMES)
        self._drivers = caches.use(CSI_DRIVERS)
        self._attachments = caches.use(VOLUME_ATTACHMENTS)
        self._unwanted: dict[str, float] = {}
        self._in_use: dict[str, object] = {}
        self._told: dict[str, set[str]] = {}
        self.sources = (
            Source(PODS, self._of_pod),
            Source(PERSISTENT_VOLUME_CLAIMS, self._of_claim),
            Source(PERSISTENT_VOLUMES, self._of_volume),
            Source(NODES, self._of_node),
            Source(CSI_DRIVERS, self._of_driver),
            Source(VOLUME_ATTACHMENTS, self._of_attachment),
        )

    def _of_pod(self, pod: Object) -> Iterable[str]:
        if pods.node_name(pod) and any(True for _ in self._attachable(pod)):
            yield pods.node_name(pod)

    def _of_claim(self, claim: Object) -> Iterable[str]:
        volume = self._volumes.get(claim["spec"].get("volumeName") or "")
        if volume is not None and volume["spec"].get("csi"):
            meta = claim["metadata"]
            yield from self._nodes_of(meta["namespace"], meta["name"])

    def _of_volume(self, volume: Object) -> Iterable[str]:
        reference = volume["spec"].get("claimRef")
        if volume["spec"].get("csi") and reference:
            yield from self._nodes_of(reference["namespace"], reference["name"])

    def _of_node(self, node: Object) -> Iterable[str]:
        """When what it says of volumes has changed; heartbeats change none of it."""
        name, status = node["metadata"]["name"], node.get("status") or {}
        there = self._nodes.get(name) is not None
        looks = (there, status.get("volumesInUse"), node["spec"].get("taints"))
        if self._in_use.get(name) != looks:
            self._in_use[name] = looks
            yield name
        if not there:
            self._in_use.pop(name, None)

    def _of_driver(self, driver: Object) -> Iterable[str]:
        for volume in self._volumes:
            if (volume["spec"].get("csi") or {}).get("driver") == driver["metadata"]["name"]:
                yield from self._of_volume(volume)

    def _of_attachment(self, attachment: Object) -> Iterable[str]:
        """Its node, and those where pods wait for it to be detached."""
        yield attachment["spec"]["nodeName"]
        volume = self._volumes.get(attach_detach.volume_of(attachment))
        if volume is not None:
            yield from self._of_volume(volume)

    def _nodes_of(self, namespace: str, claim: str) -> Iterable[str]:
        for pod in self._pods.by_index(NAMESPACE, namespace):
            if pods.node_name(pod) and claim in claims_of(pod):
                yield pods.node_name(pod)

    async def plan(self, round: Round) -> Sequence[Action]:
        drivers = {key_of(row): row for row in self._drivers}
        volumes = {
            key_of(row): row for row in self._volumes if attach_detach.needs_attaching(row, drivers)
        }
        if not volumes:
            return ()
        wanted: dict[str, list[Object]] = {}
        elsewhere: dict[str, list[Object]] = {}
        for pod in self._pods.by_index(NODE, round.key):
            for name in self._attachable(pod):
                wanted.setdefault(name, []).append(pod)
        for name in wanted:
            elsewhere[name] = self._elsewhere(volumes.get(name), round.key)
        attachments = self._attachments.all()
        snapshot = attach_detach.Snapshot(
            name=round.key,
            node=self._nodes.get(round.key),
            wanted=wanted,
            volumes=volumes,
            attachments=attachments,
            elsewhere=elsewhere,
            told=self._told.get(round.key, ()),
            unwanted_s=self._waited(round, wanted, attachments),
        )
        self._told[round.key] = attach_detach.taken(snapshot)
        return attach_detach.reconcile(snapshot)

    def _attachable(self, pod: Object) -> Iterable[str]:
        """The names of the CSI volumes that the pod uses on its node."""
        if not attach_detach.uses_volumes(pod):
            return
        for name in claims_of(pod):
            claim = self._claims.get(f"{pod['metadata']['namespace']}/{name}")
            volume = self._volumes.get((claim or {"spec": {}})["spec"].get("volumeName") or "")
            if volume is not None and volume["spec"].get("csi"):
                yield volume["metadata"]["name"]

    def _elsewhere(self, volume: Object | None, node: str) -> list[Object]:
        reference = (volume or {"spec": {}})["spec"].get("claimRef") or {}
        namespace, claim = reference.get("namespace", ""), reference.get("name", "")
        return [
            pod
            for pod in self._pods.by_index(NAMESPACE, namespace)
            if pods.node_name(pod) != node
            and attach_detach.uses_volumes(pod)
            and claim in claims_of(pod)
        ]

    def _waited(
        self, round: Round, wanted: dict[str, list[Object]], attachments: Sequence[Object]
    ) -> dict[str, float]:
        waited = {}
        for row in attachments:
            uid = row["metadata"]["uid"]
            if row["spec"]["nodeName"] != round.key:
                continue
            if attach_detach.volume_of(row) in wanted or pods.is_deleting(row):
                self._unwanted.pop(uid, None)
            else:
                waited[uid] = round.now - self._unwanted.setdefault(uid, round.now)
        return waited
