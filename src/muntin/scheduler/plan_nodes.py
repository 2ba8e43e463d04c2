"""The cluster as the scheduler sees it: each node with its pods and what they take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from muntin.model import pods

Object = dict[str, Any]

DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024
"""What a container that asks for nothing counts as in scores (upstream's non-zero requests)."""


def scored_requests(pod: Object) -> tuple[int, int]:
    """CPU (milli) and memory (bytes) of a pod for scoring: never nothing."""
    cpu = memory = 0
    for container in pod["spec"].get("containers") or ():
        asked = pods.amounts((container.get("resources") or {}).get("requests"))
        cpu += asked.get("cpu", DEFAULT_CPU_MILLI)
        memory += asked.get("memory", DEFAULT_MEMORY_BYTES)
    return cpu, memory


class NodeInfo:
    """A node and the sums over its pods; ``node`` is None while only its pods are known."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.node: Object | None = None
        self.allocatable: dict[str, int] = {}
        self.pods: dict[str, Object] = {}
        self.requested: dict[str, int] = {}
        self.scored_cpu = 0
        self.scored_memory = 0
        self.ports: dict[str, set[tuple[str, str, int]]] = {}
        self.with_affinity: dict[str, Object] = {}

    def set_node(self, node: Object) -> None:
        """Take the node in, new or changed."""
        self.node = node
        self.allocatable = pods.amounts((node.get("status") or {}).get("allocatable"))

    @property
    def labels(self) -> dict[str, str]:
        """The node's labels."""
        return (self.node["metadata"].get("labels") or {}) if self.node else {}

    def add(self, pod: Object) -> None:
        """Count ``pod``; one with the same uid is replaced."""
        uid = pod["metadata"]["uid"]
        if uid in self.pods:
            self.remove(uid)
        self.pods[uid] = pod
        self._count(pod, 1)
        if taken := pods.host_ports(pod):
            self.ports[uid] = taken
        affinity = pod["spec"].get("affinity") or {}
        if affinity.get("podAffinity") or affinity.get("podAntiAffinity"):
            self.with_affinity[uid] = pod

    def remove(self, uid: str) -> None:
        """Stop counting the pod."""
        pod = self.pods.pop(uid, None)
        if pod is not None:
            self._count(pod, -1)
            self.ports.pop(uid, None)
            self.with_affinity.pop(uid, None)

    def _count(self, pod: Object, sign: int) -> None:
        for name, amount in pods.requests(pod).items():
            self.requested[name] = self.requested.get(name, 0) + sign * amount
        cpu, memory = scored_requests(pod)
        self.scored_cpu += sign * cpu
        self.scored_memory += sign * memory


class ClusterState:
    """All nodes by name. Pods that ended take nothing and are not counted."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeInfo] = {}
        self._where: dict[str, str] = {}

    def __iter__(self) -> Iterator[NodeInfo]:
        return (info for info in self._nodes.values() if info.node is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def get(self, name: str) -> NodeInfo | None:
        """The node of that name, if it is known."""
        info = self._nodes.get(name)
        return info if info is not None and info.node is not None else None

    def set_node(self, node: Object) -> None:
        """Add or replace a node."""
        self._info(node["metadata"]["name"]).set_node(node)

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods are still known should it come back."""
        info = self._nodes.get(name)
        if info is not None:
            info.node = None
            if not info.pods:
                del self._nodes[name]

    def set_pod(self, pod: Object, node_name: str = "") -> None:
        """Count ``pod`` on its node, or, assumed to be bound there, on ``node_name``."""
        uid, node = pod["metadata"]["uid"], node_name or pods.node_name(pod)
        before = self._where.get(uid)
        if before is not None and before != node:
            self.remove_pod(uid)
        if not node or pods.is_terminal(pod):
            self.remove_pod(uid)
            return
        self._where[uid] = node
        self._info(node).add(pod)

    def remove_pod(self, uid: str) -> None:
        """Stop counting a pod, wherever it is."""
        node = self._where.pop(uid, None)
        info = self._nodes.get(node) if node else None
        if info is not None:
            info.remove(uid)
            if info.node is None and not info.pods:
                del self._nodes[info.name]

    def holds(self, uid: str) -> bool:
        """Whether the pod is counted anywhere."""
        return uid in self._where

    def _info(self, name: str) -> NodeInfo:
        return self._nodes.setdefault(name, NodeInfo(name))
