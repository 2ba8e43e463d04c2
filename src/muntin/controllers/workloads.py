"""Deployment, ReplicaSet, ReplicationController, StatefulSet and DaemonSet: what rules see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

from muntin.controllers.caches import NAMESPACE, OWNER, STRAY, Caches, owned_or_stray
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import (
    daemonset,
    deployment,
    replicaset,
    replication_controller,
    statefulset,
)
from muntin.controllers.rules.actions import Action
from muntin.controllers.rules.daemon_backoff import Wait, after
from muntin.controllers.rules.stateful_identity import (
    claim_name,
    claim_templates,
    is_member,
    ordinal_of,
    ordinals_in_reach,
)
from muntin.model import pods
from muntin.model.features import ApiFeature
from muntin.model.resources import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Resource,
)
from muntin.model.selectors import labels_of
from muntin.seams.kube import Object
from muntin.seams.kube.informer import Informer, key_of


def _label_selector(owner: Object) -> Any:
    return owner["spec"].get("selector")


class OwnerKeys:
    """From an object to its controller's key; from a stray to all that might adopt it."""

    def __init__(
        self, owners: Informer, selector: Callable[[Object], Any] = _label_selector
    ) -> None:
        self._owners = owners
        self._selector = selector

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
                if labels_of(self._selector(owner)).matches(labels):
                    yield key_of(owner)


def _owned(caches: Caches, resource: Resource) -> Informer:
    return caches.use(resource, OWNER, STRAY)


class ReplicaSets:
    name = "replicaset-controller"
    account = "replicaset-controller"

    def __init__(self, caches: Caches, features: Set[ApiFeature]) -> None:
        self._features = features
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
            features=self._features,
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


class ReplicationControllers:
    name = "replication-controller"
    account = "replication-controller"

    def __init__(self, caches: Caches) -> None:
        self._controllers = caches.use(REPLICATION_CONTROLLERS, NAMESPACE)
        self._pods = _owned(caches, PODS)
        of_pod = OwnerKeys(self._controllers, replication_controller.selector_of)
        self.sources = (Source(REPLICATION_CONTROLLERS), Source(PODS, of_pod))

    async def plan(self, round: Round) -> Sequence[Action]:
        controller = self._controllers.get(round.key)
        if controller is None:
            return ()
        snapshot = replication_controller.Snapshot(
            controller=controller,
            pods=owned_or_stray(self._pods, controller),
            failure=round.failure,
        )
        return replication_controller.reconcile(snapshot, round.now)


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


class StatefulSets:
    name = "statefulset-controller"
    account = "statefulset-controller"

    def __init__(self, caches: Caches, features: Set[ApiFeature]) -> None:
        self._features = features
        self._stateful_sets = caches.use(STATEFUL_SETS, NAMESPACE)
        self._pods = _owned(caches, PODS)
        self._revisions = _owned(caches, CONTROLLER_REVISIONS)
        self._claims = caches.use(PERSISTENT_VOLUME_CLAIMS)
        self.sources = (
            Source(STATEFUL_SETS),
            Source(PODS, OwnerKeys(self._stateful_sets)),
            Source(CONTROLLER_REVISIONS, OwnerKeys(self._stateful_sets)),
            Source(PERSISTENT_VOLUME_CLAIMS, self._of_claim),
        )

    def _of_claim(self, claim: Object) -> Iterable[str]:
        """A claim is known by its name, which holds those of its template and its set."""
        name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
        for found in self._stateful_sets.by_index(NAMESPACE, namespace):
            for template in claim_templates(found):
                if name.startswith(f"{template['metadata']['name']}-{found['metadata']['name']}-"):
                    yield key_of(found)

    async def plan(self, round: Round) -> Sequence[Action]:
        found = self._stateful_sets.get(round.key)
        if found is None:
            return ()
        candidates = owned_or_stray(self._pods, found)
        snapshot = statefulset.Snapshot(
            stateful_set=found,
            pods=candidates,
            revisions=owned_or_stray(self._revisions, found),
            claims=self._claims_of(found, candidates),
            features=self._features,
        )
        return statefulset.reconcile(snapshot, round.now)

    def _claims_of(self, found: Object, candidates: Iterable[Object]) -> dict[str, Object]:
        """The claims of the pods that are there, or are to be."""
        templates = claim_templates(found)
        if not templates:
            return {}
        ordinals = {ordinal_of(pod) for pod in candidates if is_member(found, pod)}
        ordinals.update(ordinals_in_reach(found, ordinals))
        names = [claim_name(found, row, ordinal) for row in templates for ordinal in ordinals]
        namespace = found["metadata"]["namespace"]
        claims = {name: self._claims.get(f"{namespace}/{name}") for name in names}
        return {name: claim for name, claim in claims.items() if claim is not None}


class DaemonSets:
    name = "daemonset-controller"
    account = "daemon-set-controller"

    def __init__(self, caches: Caches, features: Set[ApiFeature]) -> None:
        self._features = features
        self._daemon_sets = caches.use(DAEMON_SETS, NAMESPACE)
        self._pods = _owned(caches, PODS)
        self._revisions = _owned(caches, CONTROLLER_REVISIONS)
        self._nodes = caches.use(NODES)
        self._placed_by: dict[str, object] = {}
        self._waits: dict[str, dict[str, Wait]] = {}
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
            self._waits.pop(round.key, None)
            return ()
        waits = self._waits.get(round.key, {})
        snapshot = daemonset.Snapshot(
            daemon_set=daemon_set,
            features=self._features,
            nodes=sorted(self._nodes, key=key_of),
            pods=owned_or_stray(self._pods, daemon_set),
            revisions=owned_or_stray(self._revisions, daemon_set),
            failure=round.failure,
            waits=waits,
        )
        actions = daemonset.reconcile(snapshot, round.now)
        for node in daemonset.failed_nodes(actions):
            waits = self._waits.setdefault(round.key, {})
            waits[node] = after(waits.get(node), round.now)
        return actions
