"""What the scheduler watches, and how each change reaches the cluster's state and the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.kit.clock import Clock
from muntin.model import pods
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import (
    NAMESPACES,
    NODES,
    POD_DISRUPTION_BUDGETS,
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
from muntin.scheduler.plan_hints import NodeChange, PodChange
from muntin.scheduler.plan_nodes import ClusterState
from muntin.scheduler.plan_volumes import PLUGINS
from muntin.scheduler.queue import SchedulingQueue
from muntin.scheduler.volumes import Volumes
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange
from muntin.seams.kube.shared_parts import POOL

if TYPE_CHECKING:
    from muntin.scheduler.extender import Extenders

_OWNERS: dict[str, Resource] = {
    "ReplicaSet": REPLICA_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
    "StatefulSet": STATEFUL_SETS,
}


_POD_STATUS = ("phase", "conditions", "nominatedNodeName", "startTime")
_CONTAINER = ("name", "image", "resources", "ports", "restartPolicy")


def _slim(obj: Object) -> Object:
    obj["metadata"].pop("managedFields", None)
    return POOL.compact(obj)


def _slim_pod(pod: Object) -> Object:
    """What decisions and events need of a pod, a fraction of the whole."""
    metadata, spec, status = pod["metadata"], pod["spec"], pod.get("status") or {}
    metadata.pop("managedFields", None)
    metadata.pop("annotations", None)
    for field in ("containers", "initContainers"):
        if field in spec:
            spec[field] = [
                {name: row[name] for name in _CONTAINER if name in row} for row in spec[field]
            ]
    spec.pop("ephemeralContainers", None)
    pod["status"] = {name: status[name] for name in _POD_STATUS if name in status}
    return POOL.compact(pod)


def _extenders(config: SchedulerConfig) -> Extenders | None:
    if not config.extenders:
        return None
    from muntin.scheduler.extender import Extenders

    return Extenders(config.extenders)


class World:
    """The informers, and what is worked out of them as they change."""

    def __init__(self, client: KubeClient, config: SchedulerConfig, clock: Clock) -> None:
        self.cluster = ClusterState()
        self.queue = SchedulingQueue(clock, config)
        self.namespace_labels: dict[str, dict[str, str]] = {}
        self.extenders = _extenders(config)
        self._scheduler_names = {profile.scheduler_name for profile in config.profiles}

        def informer(resource: Resource) -> Informer:
            indexers = {"namespace": _namespace} if resource is SERVICES else None
            slim = resource is PODS and not config.extenders  # an extender is given all of a pod
            transform = _slim_pod if slim else _slim
            return Informer(client, resource, indexers=indexers, transform=transform, clock=clock)

        watched = [NODES, PODS, SERVICES, POD_DISRUPTION_BUDGETS, *_OWNERS.values()]
        if config.kubernetes >= NAMESPACE_SELECTORS:
            watched.append(NAMESPACES)
        self._by_resource = {resource: informer(resource) for resource in watched}
        self.volumes = Volumes(
            client,
            self.cluster.storage,
            clock,
            lambda: self.queue.something_changed(*PLUGINS),
            capacities=is_in(ApiFeature.STORAGE_CAPACITIES, config.kubernetes),
        )
        self._by_resource[NODES].add_handler(OnChange(self._node_changed))
        self._by_resource[PODS].add_handler(_PodHandler(self))
        if NAMESPACES in self._by_resource:
            self._by_resource[NAMESPACES].add_handler(OnChange(self._namespace_changed))

    @property
    def informers(self) -> list[Informer]:
        """All informers, to be run."""
        return [*self._by_resource.values(), *self.volumes.informers]

    async def synced(self) -> None:
        """Return when all caches are filled."""
        for informer in self.informers:
            await informer.synced.wait()

    def reserve(self, pod: Object, node: str) -> None:
        """Assume that the pod is on ``node``, with the volumes that it gets there."""
        self.cluster.set_pod(pod, node)
        info = self.cluster.get(node)
        if info is not None and info.node is not None:
            self.volumes.reserve(pod, info.node)

    def forget(self, uid: str) -> None:
        """A pod that was assumed to be on a node is not."""
        self.cluster.remove_pod(uid)

    @property
    def budgets(self) -> list[Object]:
        """All PodDisruptionBudgets."""
        return self._by_resource[POD_DISRUPTION_BUDGETS].all()

    @staticmethod
    def scheduler_name(pod: Object) -> str:
        """The profile that the pod asks for."""
        return pod["spec"].get("schedulerName") or "default-scheduler"

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
            and self.scheduler_name(pod) in self._scheduler_names
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
            self.queue.changed(NodeChange(node, old))

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
        self._world.cluster.nominate(pod, "")
        self._left(pod)

    def _left(self, pod: Object) -> None:
        spaces = self._world.namespace_labels
        self._world.queue.changed(PodChange(pod, gone=True, namespaces=spaces))

    def _take(self, pod: Object, old: Object | None) -> None:
        if pods.node_name(pod):
            self._take_placed(pod, old)
        else:
            self._take_waiting(pod, old)

    def _take_placed(self, pod: Object, old: Object | None) -> None:
        world = self._world
        world.queue.remove(pod["metadata"]["uid"])
        world.cluster.set_pod(pod)
        if pods.is_terminal(pod):
            if not (old and pods.is_terminal(old)):
                self._left(pod)
        elif old is None or not pods.node_name(old) or _labels(old) != _labels(pod):
            before = old if old is not None and pods.node_name(old) else None
            change = PodChange(pod, before, namespaces=world.namespace_labels)
            world.queue.changed(change)

    def _take_waiting(self, pod: Object, old: Object | None) -> None:
        world, uid = self._world, pod["metadata"]["uid"]
        if not world.waits_for_us(pod):
            world.queue.remove(uid)
            world.cluster.nominate(pod, "")
            return
        if world.cluster.holds(uid):
            return
        self._take_nomination(pod, old)
        if world.queue.knows(uid) and old is not None and old["spec"] == pod["spec"]:
            if _labels(old) != _labels(pod):
                world.queue.add(pod)
            else:
                world.queue.update(pod)  # only its status changed, by us most likely
        else:
            world.queue.add(pod)

    def _take_nomination(self, pod: Object, old: Object | None) -> None:
        """What its status says of a node; what we decided but did not write yet goes first."""
        named = _nominated(pod)
        if named != (_nominated(old) if old is not None else ""):
            self._world.cluster.nominate(pod, named)


def _nominated(pod: Object) -> str:
    return (pod.get("status") or {}).get("nominatedNodeName") or ""


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
