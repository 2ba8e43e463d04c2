"""Nodes: their networks, their silence, and what happens to pods on tainted ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import NODE, Caches
from muntin.controllers.config import ControllersConfig
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import node_ipam, node_lifecycle, taint_eviction
from muntin.controllers.rules.actions import Action
from muntin.controllers.rules.node_ipam import Network
from muntin.kit.clock import Clock
from muntin.model import pods
from muntin.model.resources import LEASES, NODES, PODS
from muntin.seams.kube import Object
from muntin.seams.kube.informer import key_of

LEASE_NAMESPACE = "kube-node-lease"


class NodeIpam:
    """One key for all nodes: what one gets, no other may have."""

    name = "cidrAllocator"
    account = "node-controller"

    def __init__(self, caches: Caches, cluster_cidr: Network, node_mask: int) -> None:
        self._nodes = caches.use(NODES)
        self._cluster_cidr = cluster_cidr
        self._node_mask = node_mask
        self.sources = (Source(NODES, self._needs_network),)

    def _needs_network(self, node: Object) -> Iterable[str]:
        return [] if node["spec"].get("podCIDR") else ["nodes"]

    async def plan(self, round: Round) -> Sequence[Action]:
        return node_ipam.reconcile(self._nodes.all(), self._cluster_cidr, self._node_mask)


class NodeLifecycle:
    name = "node-controller"
    account = "node-controller"

    def __init__(self, caches: Caches, config: ControllersConfig, clock: Clock) -> None:
        self._nodes = caches.use(NODES)
        self._leases = caches.use(LEASES)
        self._pods = caches.use(PODS, NODE)
        self._grace_s = config.node_grace_s
        self._clock = clock
        self._beats: dict[str, tuple[object, float]] = {}
        self.sources = (Source(NODES, self._of_node), Source(LEASES, self._of_lease))

    def _of_node(self, node: Object) -> Iterable[str]:
        name = node["metadata"]["name"]
        if self._nodes.get(name) is None:
            self._beats.pop(name, None)
            return []
        ready = pods.condition(node, "Ready") or {}
        self._hear(name, "status", ready.get("lastHeartbeatTime"))
        return [name]

    def _of_lease(self, lease: Object) -> Iterable[str]:
        """A renewal is noted; a node is looked at when it might be silent, and when it was."""
        meta = lease["metadata"]
        if meta["namespace"] != LEASE_NAMESPACE:
            return []
        self._hear(meta["name"], "lease", lease["spec"].get("renewTime"))
        node = self._nodes.get(meta["name"])
        return [] if node is None or node_lifecycle.is_ready(node) else [meta["name"]]

    def _hear(self, name: str, what: str, sign: object) -> None:
        """Note when a sign of life changed: by our clock, whatever the node's clock says."""
        key = f"{name} {what}"
        known = self._beats.get(key)
        if known is None or known[0] != sign:
            now = self._clock.now()
            self._beats[key] = (sign, now)
            self._beats[name] = (None, now)

    async def plan(self, round: Round) -> Sequence[Action]:
        node = self._nodes.get(round.key)
        if node is None:
            return ()
        snapshot = node_lifecycle.Snapshot(
            node=node,
            last_seen=self._beats.get(round.key, (None, round.now))[1],
            pods=self._pods.by_index(NODE, round.key),
            all_silent=all(map(node_lifecycle.is_silent, self._nodes)),
            grace_s=self._grace_s,
        )
        return node_lifecycle.reconcile(snapshot, round.now)


class TaintEviction:
    name = "taint-eviction-controller"
    account = "node-controller"

    def __init__(self, caches: Caches) -> None:
        self._nodes = caches.use(NODES)
        self._pods = caches.use(PODS, NODE)
        self._taints: dict[str, object] = {}
        self.sources = (Source(NODES, self._of_node), Source(PODS, self._of_pod))

    def _of_node(self, node: Object) -> Iterable[str]:
        name = node["metadata"]["name"]
        taints = node["spec"].get("taints")
        if self._taints.get(name) == taints:
            return []
        self._taints[name] = taints
        return [key_of(pod) for pod in self._pods.by_index(NODE, name)]

    def _of_pod(self, pod: Object) -> Iterable[str]:
        node = self._nodes.get(pods.node_name(pod))
        return [key_of(pod)] if node and node["spec"].get("taints") else []

    async def plan(self, round: Round) -> Sequence[Action]:
        pod = self._pods.get(round.key)
        if pod is None:
            return ()
        return taint_eviction.reconcile(pod, self._nodes.get(pods.node_name(pod)), round.now)
