"""Deployment, ReplicaSet and DaemonSet: what their rules see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import NAMESPACE, OWNER, STRAY, Caches, owned_or_stray
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import daemonset, deployment, replicaset
from muntin.controllers.rules.actions import Action
from muntin.model import pods
from muntin.model.resources import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    NODES,
    PODS,
    REPLICA_SETS,
    Resource,
)
from muntin.model.selectors import labels_of
from muntin.seams.kube import Object
from muntin.seams.kube.informer import Informer, key_of


class OwnerKeys:
    """From an object to its controller's key; from a stray to all that might adopt it."""

    def __init__(self, owners: Informer) -> None:
        self._owners = owners

    def __call__(self, obj: Object) -> Iterable[str]:
        reference = pods.controller_of(obj)
        namespace = obj["metadata"]["namespace"]
        if reference is not None:
            if reference.get("kind") == self._owners.resource.kind:
                yield f"{namespace}/{reference['name']}"
            return
        labels = obj["metadata"].get("labels")
        if labels and not pods.is_deleting(obj):
            for owner in self._owners.by_index(NAMESPACE, namespace):
                if labels_of(owner["spec"].get("selector")).matches(labels):
                    yield key_of(owner)


def _owned(caches: Caches, resource: Resource) -> Informer:
    return caches.use(resource, OWNER, STRAY)


class ReplicaSets:
    name = "replicaset-controller"
    account = "replicaset-controller"

    def __init__(self, caches: Caches) -> None:
        self._replica_sets = caches.use(REPLICA_SETS, NAMESPACE, OWNER)
        self._pods = _owned(caches, PODS)
        self.sources = (Source(REPLICA_SETS), Source(PODS, OwnerKeys(self._replica_sets)))

    async def plan(self, round: Round) -> Sequence[Action]:
        replica_set = self._replica_sets.get(round.key)
        if replica_set is None:
            return ()
        snapshot = replicaset.Snapshot(
            replica_set=replica_set,
            pods=owned_or_stray(self._pods, replica_set),
            related=self._related(replica_set),
            failure=round.failure,
        )
        return replicaset.reconcile(snapshot, round.now)

    def _related(self, replica_set: Object) -> list[Object]:
        owner = pods.controller_of(replica_set)
        siblings = self._replica_sets.by_index(OWNER, owner["uid"]) if owner else [replica_set]
        return [
            pod
            for sibling in siblings
            for pod in self._pods.by_index(OWNER, sibling["metadata"]["uid"])
            if pods.is_active(pod)
        ]


class Deployments:
    name = "deployment-controller"
    account = "deployment-controller"

    def __init__(self, caches: Caches) -> None:
        self._deployments = caches.use(DEPLOYMENTS, NAMESPACE)
        self._replica_sets = _owned(caches, REPLICA_SETS)
        self._pods = _owned(caches, PODS)
        self.sources = (
            Source(DEPLOYMENTS),
            Source(REPLICA_SETS, OwnerKeys(self._deployments)),
            Source(PODS, self._of_pod),
        )

    def _of_pod(self, pod: Object) -> Iterable[str]:
        """A pod matters to a Deployment that waits for its old pods to end."""
        reference = pods.controller_of(pod)
        if reference is None or reference.get("kind") != "ReplicaSet":
            return
        if not (pods.is_deleting(pod) or pods.is_terminal(pod)):
            return
        namespace = pod["metadata"]["namespace"]
        replica_set = self._replica_sets.get(f"{namespace}/{reference['name']}")
        owner = pods.controller_of(replica_set) if replica_set else None
        if owner is not None:
            yield f"{namespace}/{owner['name']}"

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._deployments.get(round.key)
        if found is None:
            return ()
        candidates = owned_or_stray(self._replica_sets, found)
        name = deployment.new_replica_set_name(found)
        snapshot = deployment.Snapshot(
            deployment=found,
            replica_sets=candidates,
            occupant=self._replica_sets.get(f"{found['metadata']['namespace']}/{name}"),
            pods=[
                pod
                for replica_set in self._replica_sets.by_index(OWNER, found["metadata"]["uid"])
                for pod in self._pods.by_index(OWNER, replica_set["metadata"]["uid"])
            ],
        )
        return deployment.reconcile(snapshot, round.now)


class DaemonSets:
    name = "daemonset-controller"
    account = "daemon-set-controller"

    def __init__(self, caches: Caches) -> None:
        self._daemon_sets = caches.use(DAEMON_SETS, NAMESPACE)
        self._pods = _owned(caches, PODS)
        self._revisions = _owned(caches, CONTROLLER_REVISIONS)
        self._nodes = caches.use(NODES)
        self._placed_by: dict[str, object] = {}
        self.sources = (
            Source(DAEMON_SETS),
            Source(PODS, OwnerKeys(self._daemon_sets)),
            Source(CONTROLLER_REVISIONS, OwnerKeys(self._daemon_sets)),
            Source(NODES, self._of_node),
        )

    def _of_node(self, node: Object) -> Iterable[str]:
        """All of them, when what placement looks at has changed; heartbeats change none of it."""
        name = node["metadata"]["name"]
        looks = (
            node["metadata"]["uid"],
            node["metadata"].get("labels"),
            node["spec"].get("taints"),
            self._nodes.get(name) is None,
        )
        if self._placed_by.get(name) == looks:
            return []
        self._placed_by[name] = looks
        return [key_of(daemon_set) for daemon_set in self._daemon_sets]

    async def plan(self, round: Round) -> Sequence[Action]:
        daemon_set = self._daemon_sets.get(round.key)
        if daemon_set is None:
            return ()
        snapshot = daemonset.Snapshot(
            daemon_set=daemon_set,
            nodes=sorted(self._nodes, key=key_of),
            pods=owned_or_stray(self._pods, daemon_set),
            revisions=self._revisions.by_index(OWNER, daemon_set["metadata"]["uid"]),
            failure=round.failure,
        )
        return daemonset.reconcile(snapshot, round.now)
