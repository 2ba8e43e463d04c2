"""The cluster as the scheduler sees it: each node with its pods and what they take.

All that a decision asks of all pods is kept up as they come and go (:mod:`plan_index`), so that no
decision counts them anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model import pods
from muntin.scheduler.plan_index import PodIndex
from muntin.scheduler.plan_storage import Storage

Object = dict[str, Any]

DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024
"""What a container that asks for nothing counts as in scores (upstream's non-zero requests)."""
JOURNAL = 4096
"""Changes of nodes that are known one by one; whoever fell behind looks at all nodes."""


def scored_requests(pod: Mapping[str, Any]) -> tuple[int, int]:
    """CPU (milli) and memory (bytes) of a pod for scoring: never nothing."""
    cpu = memory = 0
    for container in pod["spec"].get("containers") or ():
        asked = pods.amounts((container.get("resources") or {}).get("requests"))
        cpu += asked.get("cpu", DEFAULT_CPU_MILLI)
        memory += asked.get("memory", DEFAULT_MEMORY_BYTES)
    return cpu, memory


class PodInfo:
    """A pod and what it takes of a node."""

    __slots__ = ("has_affinity", "pod", "ports", "requests", "scored_cpu", "scored_memory")

    def __init__(self, pod: Object) -> None:
        self.pod = pod
        held = pods.as_held(pod)
        self.requests = pods.requests(held)
        self.scored_cpu, self.scored_memory = scored_requests(held)
        self.ports = pods.host_ports(pod)
        affinity = pod["spec"].get("affinity") or {}
        self.has_affinity = bool(affinity.get("podAffinity") or affinity.get("podAntiAffinity"))

    def renewed(self, pod: Object) -> PodInfo | None:
        """The same for a newer state of the pod, if it takes the same as before."""
        old, new = self.pod["spec"], pod["spec"]
        if any(
            old.get(name) != new.get(name)
            for name in ("containers", "initContainers", "resources", "overhead")
        ):
            return None
        if pods.as_held(pod) is not pod or pods.as_held(self.pod) is not self.pod:
            return None
        self.pod = pod
        return self


class NodeInfo:
    """A node and the sums over its pods; ``node`` is None while only its pods are known.

    ``number`` is its place in :attr:`ClusterState.nodes`.
    """

    __slots__ = (
        "allocatable",
        "images",
        "labels",
        "name",
        "node",
        "number",
        "pods",
        "ports",
        "requested",
        "scored_cpu",
        "scored_memory",
        "taints",
        "unschedulable",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: Object | None = None
        self.labels: dict[str, str] = {}
        self.taints: list[Object] = []
        self.unschedulable = False
        self.allocatable: dict[str, int] = {}
        self.images: dict[str, int] = {}
        self.pods: dict[str, PodInfo] = {}
        self.requested: dict[str, int] = {}
        self.scored_cpu = 0
        self.scored_memory = 0
        self.ports: dict[str, set[tuple[str, str, int]]] = {}
        self.number = -1

    def set_node(self, node: Object) -> None:
        """Take the node in, new or changed."""
        self.node = node
        status = node.get("status") or {}
        self.labels = node["metadata"].get("labels") or {}
        self.taints = node["spec"].get("taints") or []
        self.unschedulable = bool(node["spec"].get("unschedulable"))
        self.allocatable = pods.amounts(status.get("allocatable"))
        self.images = {
            name: int(image.get("sizeBytes") or 0)
            for image in status.get("images") or ()
            for name in image.get("names") or ()
        }

    def add(self, found: PodInfo) -> None:
        """Count a pod; one with the same uid is replaced."""
        uid = found.pod["metadata"]["uid"]
        if uid in self.pods:
            self.remove(uid)
        self.pods[uid] = found
        self._count(found, 1)
        if found.ports:
            self.ports[uid] = found.ports

    def remove(self, uid: str) -> None:
        """Stop counting the pod."""
        found = self.pods.pop(uid, None)
        if found is not None:
            self._count(found, -1)
            self.ports.pop(uid, None)

    def copy(self) -> NodeInfo:
        """One to try things on."""
        other = NodeInfo(self.name)
        for name in ("node", "labels", "taints", "unschedulable", "allocatable", "images"):
            setattr(other, name, getattr(self, name))
        other.pods, other.requested = dict(self.pods), dict(self.requested)
        other.scored_cpu, other.scored_memory = self.scored_cpu, self.scored_memory
        other.ports, other.number = dict(self.ports), self.number
        return other

    def _count(self, found: PodInfo, sign: int) -> None:
        requested = self.requested
        for name, amount in found.requests.items():
            requested[name] = requested.get(name, 0) + sign * amount
        self.scored_cpu += sign * found.scored_cpu
        self.scored_memory += sign * found.scored_memory


def _shape(node: Object) -> tuple[object, ...]:
    """What decisions look at in a node; a heartbeat changes none of it."""
    status = node.get("status") or {}
    return (
        node["metadata"].get("labels"),
        node["spec"].get("taints"),
        node["spec"].get("unschedulable"),
        status.get("allocatable"),
        status.get("images"),
    )


class ClusterState:
    """All nodes by name. Pods that ended take nothing and are not counted.

    ``shape`` grows when nodes come, go or change in themselves, ``roster`` when they come or go, or
    have other images (each matters to the others' scores then); ``index`` counts pods by what
    spreading and affinity ask for; ``storage`` is what volumes are looked up in; ``nominated``
    has, by node, the pods that wait for room there.
    """

    def __init__(self) -> None:
        self.shape = 0
        self.roster = 0
        self.position = 0
        self.index = PodIndex()
        self.storage = Storage()
        self.nominated: dict[str, dict[str, Object]] = {}
        self._nodes: dict[str, NodeInfo] = {}
        self._where: dict[str, str] = {}
        self._nominated_to: dict[str, str] = {}
        self._there: list[NodeInfo] | None = None
        self._images: tuple[int, dict[str, int]] = (-1, {})
        self._journal: list[NodeInfo] = []
        self._values: tuple[int, dict[str, list[str | None]]] = (-1, {})

    @property
    def nodes(self) -> list[NodeInfo]:
        """The nodes that are there."""
        if self._there is None:
            self._there = [info for info in self._nodes.values() if info.node is not None]
            for number, info in enumerate(self._there):
                info.number = number
        return self._there

    def values_of(self, label: str) -> list[str | None]:
        """What each of the nodes has for a label, in their order."""
        if self._values[0] != self.shape:
            self._values = (self.shape, {})
        found = self._values[1].get(label)
        if found is None:
            found = self._values[1][label] = [info.labels.get(label) for info in self.nodes]
        return found

    def changed_since(self, position: int) -> set[NodeInfo] | None:
        """The nodes that changed since ``position``; None when that is too long ago."""
        kept_from = self.position - len(self._journal)
        return set(self._journal[position - kept_from :]) if position >= kept_from else None

    def _touched(self, info: NodeInfo) -> None:
        self._journal.append(info)
        self.position += 1
        if len(self._journal) > JOURNAL:
            del self._journal[: JOURNAL // 2]

    def __iter__(self) -> Iterator[NodeInfo]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def get(self, name: str) -> NodeInfo | None:
        """The node of that name, if it is known."""
        info = self._nodes.get(name)
        return info if info is not None and info.node is not None else None

    def nodes_with_image(self, name: str) -> int:
        """How many nodes have the image of that name."""
        if self._images[0] != self.shape:
            counts = Counter(image for info in self.nodes for image in info.images)
            self._images = (self.shape, counts)
        return self._images[1].get(name, 0)

    def set_node(self, node: Object) -> None:
        """Add or replace a node."""
        info = self._info(node["metadata"]["name"])
        if info.node is not None and _shape(info.node) == _shape(node):
            info.node = node
            return
        if info.node is None:
            self._there = None
            self.roster += 1
        images = info.images
        info.set_node(node)
        if images != info.images:
            self.roster += 1
        self.shape += 1
        self._touched(info)

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods are still known should it come back."""
        info = self._nodes.get(name)
        if info is not None:
            info.node = None
            self._there = None
            self.shape += 1
            self.roster += 1
            if not info.pods:
                del self._nodes[name]

    # -- pods ------------------------------------------------------------------------------------

    def set_pod(self, pod: Object, node_name: str = "") -> None:
        """Count ``pod`` on its node, or, assumed to be bound there, on ``node_name``."""
        uid, node = pod["metadata"]["uid"], node_name or pods.node_name(pod)
        before = self._where.get(uid)
        if before is not None and before != node:
            self.remove_pod(uid)
        if not node or pods.is_terminal(pod):
            self.remove_pod(uid)
            return
        self.nominate(pod, "")
        info = self._info(node)
        old = info.pods.get(uid)
        if old is not None:
            self.index.change(old.pod, pod, node)
            if old.renewed(pod) is not None:
                return
        else:
            self.index.add(pod, node)
        self._where[uid] = node
        info.add(PodInfo(pod))
        self._touched(info)

    def remove_pod(self, uid: str) -> None:
        """Stop counting a pod, wherever it is."""
        node = self._where.pop(uid, None)
        info = self._nodes.get(node) if node else None
        if info is not None and uid in info.pods:
            self.index.remove(info.pods[uid].pod, info.name)
            info.remove(uid)
            self._touched(info)
            if info.node is None and not info.pods:
                del self._nodes[info.name]

    def holds(self, uid: str) -> bool:
        """Whether the pod is counted anywhere."""
        return uid in self._where

    def nominate(self, pod: Object, node: str) -> None:
        """``pod`` waits for room on ``node``; on none, when it is empty."""
        uid = pod["metadata"]["uid"]
        before = self._nominated_to.pop(uid, None)
        if before is not None:
            self.nominated[before].pop(uid, None)
            if not self.nominated[before]:
                del self.nominated[before]
        if node:
            self._nominated_to[uid] = node
            self.nominated.setdefault(node, {})[uid] = pod

    def nominated_node(self, uid: str) -> str:
        """The node where room is being made for the pod, or the empty text."""
        return self._nominated_to.get(uid, "")

    def _info(self, name: str) -> NodeInfo:
        info = self._nodes.get(name)
        if info is None:
            info = self._nodes[name] = NodeInfo(name)
        return info
