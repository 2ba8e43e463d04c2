"""What the scheduler watches, and how each change reaches the cluster's state and the queue."""

from __future__ import annotations

from muntin.kit.clock import Clock
from muntin.model import pods
from muntin.model.resources import (
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from muntin.model.selectors import Requirement, Selector, labels_of
from muntin.model.windows_releases import NAMESPACE_SELECTORS
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.plan_nodes import ClusterState
from muntin.scheduler.queue import SchedulingQueue
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange

FREED = ("NodeResourcesFit", "NodePorts", "PodTopologySpread", "InterPodAffinity")
"""Plugins whose verdict a pod that leaves may change."""
JOINED = ("PodTopologySpread", "InterPodAffinity")
_OWNERS: dict[str, Resource] = {
    "ReplicaSet": REPLICA_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
    "StatefulSet": STATEFUL_SETS,
}


def _slim(obj: Object) -> Object:
    obj["metadata"].pop("managedFields", None)
    return obj


class World:
    """The informers, and what is worked out of them as they change."""

    def __init__(self, client: KubeClient, config: SchedulerConfig, clock: Clock) -> None:
        self.cluster = ClusterState()
        self.queue = SchedulingQueue(clock, config)
        self.namespace_labels: dict[str, dict[str, str]] = {}
        self._scheduler_name = config.name

        def informer(resource: Resource) -> Informer:
            indexers = {"namespace": _namespace} if resource is SERVICES else None
            return Informer(client, resource, indexers=indexers, transform=_slim, clock=clock)

        watched = [NODES, PODS, SERVICES, *_OWNERS.values()]
        if config.kubernetes >= NAMESPACE_SELECTORS:
            watched.append(NAMESPACES)
        self._by_resource = {resource: informer(resource) for resource in watched}
        self._by_resource[NODES].add_handler(OnChange(self._node_changed))
        self._by_resource[PODS].add_handler(_PodHandler(self))
        if NAMESPACES in self._by_resource:
            self._by_resource[NAMESPACES].add_handler(OnChange(self._namespace_changed))

    @property
    def informers(self) -> list[Informer]:
        """All informers, to be run."""
        return list(self._by_resource.values())

    async def synced(self) -> None:
        """Return when all caches are filled."""
        for informer in self.informers:
            await informer.synced.wait()

    def forget(self, uid: str) -> None:
        """A pod that was assumed to be on a node is not."""
        self.cluster.remove_pod(uid)

    def companions(self, pod: Object) -> Selector | None:
        """Selects the pods of the same Services and the same owner, to spread among."""
        requirements: list[Requirement] = []
        labels = pod["metadata"].get("labels") or {}
        namespace = pod["metadata"]["namespace"]
        for service in self._by_resource[SERVICES].by_index("namespace", namespace):
            wanted = service["spec"].get("selector")
            if wanted and wanted.items() <= labels.items():
                requirements += [Requirement(k, "in", frozenset((v,))) for k, v in wanted.items()]
        owner = pods.controller_of(pod)
        resource = _OWNERS.get(owner["kind"]) if owner else None
        if owner is not None and resource is not None:
            found = self._by_resource[resource].get(f"{namespace}/{owner['name']}")
            if found is not None:
                requirements += _selector_of(found).requirements
        return Selector(tuple(requirements)) if requirements else None

    def waits_for_us(self, pod: Object) -> bool:
        """Whether the pod has no node yet and is ours to place."""
        spec = pod["spec"]
        return (
            not spec.get("nodeName")
            and (spec.get("schedulerName") or "default-scheduler") == self._scheduler_name
            and not spec.get("schedulingGates")
            and pods.is_active(pod)
        )

    # -- changes -----------------------------------------------------------------------------

    def _node_changed(self, node: Object, old: Object | None) -> None:
        name = node["metadata"]["name"]
        if self._by_resource[NODES].get(name) is None:
            self.cluster.remove_node(name)
            return
        self.cluster.set_node(node)
        if old is None or _placement(node) != _placement(old):
            self.queue.something_changed()

    def _namespace_changed(self, namespace: Object, old: Object | None) -> None:
        name = namespace["metadata"]["name"]
        if self._by_resource[NAMESPACES].get(name) is None:
            self.namespace_labels.pop(name, None)
        else:
            self.namespace_labels[name] = namespace["metadata"].get("labels") or {}


class _PodHandler:
    def __init__(self, world: World) -> None:
        self._world = world

    def on_add(self, pod: Object) -> None:
        self._take(pod, None)

    def on_update(self, old: Object, new: Object) -> None:
        self._take(new, old)

    def on_delete(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        self._world.queue.remove(uid)
        self._world.cluster.remove_pod(uid)
        self._world.queue.something_changed(*FREED)

    def _take(self, pod: Object, old: Object | None) -> None:
        world, uid = self._world, pod["metadata"]["uid"]
        if pods.node_name(pod):
            world.queue.remove(uid)
            world.cluster.set_pod(pod)
            if pods.is_terminal(pod) and not (old and pods.is_terminal(old)):
                world.queue.something_changed(*FREED)
            elif old is None or not pods.node_name(old) or _labels(old) != _labels(pod):
                world.queue.something_changed(*JOINED)
        elif not world.waits_for_us(pod):
            world.queue.remove(uid)
        elif world.queue.knows(uid) and old is not None and old["spec"] == pod["spec"]:
            if _labels(old) != _labels(pod):
                world.queue.add(pod)
            else:
                world.queue.update(pod)  # only its status changed, by us most likely
        elif not world.cluster.holds(uid):
            world.queue.add(pod)


def _labels(obj: Object) -> object:
    return obj["metadata"].get("labels")


def _placement(node: Object) -> tuple[object, ...]:
    """What filters look at; a heartbeat changes none of it."""
    return (
        node["metadata"].get("labels"),
        node["spec"].get("taints"),
        node["spec"].get("unschedulable"),
        (node.get("status") or {}).get("allocatable"),
    )


def _selector_of(owner: Object) -> Selector:
    selector = owner["spec"].get("selector") or {}
    if owner["kind"] == "ReplicationController":
        selector = {"matchLabels": selector}
    return labels_of(selector)


def _namespace(obj: Object) -> list[str]:
    return [obj["metadata"].get("namespace") or ""]
