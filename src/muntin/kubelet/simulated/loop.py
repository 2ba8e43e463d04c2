"""All simulated nodes of a cluster: registered, kept alive, their pods answered for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address

from muntin.kit import errors, supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.log import fields, object_ref
from muntin.kubelet.simulated.objects import (
    SimulatedNode,
    conditions,
    lease,
    node_object,
    node_status,
    pod_status,
)
from muntin.model import pods
from muntin.model.resources import LEASES, NODES, PODS
from muntin.seams.kube import STRATEGIC_MERGE_PATCH, KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange, key_of
from muntin.seams.kube.shared_parts import POOL

log = logging.getLogger(__name__)

WORKERS = 16
RENEW_S, REPORT_S = 10.0, 300.0
"""How often a kubelet renews its lease, and reports its status when nothing changed."""
RETRY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedConfig:
    """``count`` nodes whose kubelets say that they are of ``version`` (v1.34.0).

    ``first`` is the number of the first one; those before it are somebody else's.
    """

    count: int
    version: str
    first: int = 0


async def run(config: SimulatedConfig, client: KubeClient, *, clock: Clock | None = None) -> None:
    """Be the kubelets until cancelled; ``client`` may speak for all of their nodes."""
    clock = clock or SystemClock()
    nodes = {node.name: node for node in _nodes(config)}
    hearts = _Hearts(client, clock, list(nodes.values()))
    keeper = _PodKeeper(client, clock, nodes)
    async with supervised.Group() as group:
        group.start("simulated-hearts", hearts.run)
        group.start("simulated-pods", keeper.run)


def _nodes(config: SimulatedConfig) -> list[SimulatedNode]:
    numbers = range(config.first, config.first + config.count)
    return [SimulatedNode(number, config.version) for number in numbers]


class _Hearts:
    """Registers the nodes, then renews leases and statuses, evenly over time."""

    def __init__(self, client: KubeClient, clock: Clock, nodes: list[SimulatedNode]) -> None:
        self._client, self._clock, self._nodes = client, clock, nodes
        self._leases: dict[str, Object] = {}

    async def run(self) -> None:
        waiting = asyncio.Queue[SimulatedNode]()
        for node in self._nodes:
            waiting.put_nowait(node)
        async with supervised.Group() as group:
            for _ in range(WORKERS):
                group.start("simulated-register", partial(self._register_all, waiting))
        log.info("simulated nodes registered", **fields(count=len(self._nodes)))
        async with supervised.Group() as group:
            group.start("simulated-leases", partial(self._beat, RENEW_S, self._renew))
            group.start("simulated-statuses", partial(self._beat, REPORT_S, self._report))

    async def _register_all(self, waiting: asyncio.Queue[SimulatedNode]) -> None:
        while not waiting.empty():
            node = waiting.get_nowait()
            while not await self._register(node):
                await self._clock.sleep(RETRY_S)

    async def _register(self, node: SimulatedNode) -> bool:
        """Whether the node is there, with its lease."""
        try:
            try:
                await self._client.create(NODES, node_object(node, self._clock.now()))
            except errors.AlreadyExists:
                await self._patch_status(node, node_status(node, self._clock.now()))
        except errors.MuntinError as err:
            log.warning("simulated node not registered", **fields(node=node.name, error=err))
            return False
        await self._renew(node)
        return True

    async def _beat(self, period_s: float, act: Callable[[SimulatedNode], Awaitable[None]]) -> None:
        """Do ``act`` for each node once in ``period_s``, spread evenly, several side by side.

        A server that answers slowly delays all of them, and nobody's turn is left out.
        """
        async with supervised.Group() as group:
            for worker in range(min(WORKERS, len(self._nodes))):
                mine = self._nodes[worker::WORKERS]
                beats = partial(self._beat_for, mine, worker / WORKERS, period_s, act)
                group.start("simulated-beat", beats)

    async def _beat_for(
        self,
        nodes: list[SimulatedNode],
        offset: float,
        period_s: float,
        act: Callable[[SimulatedNode], Awaitable[None]],
    ) -> None:
        """The beats of one worker's ``nodes``, ``offset`` of a beat after those of the first."""
        share = period_s / len(nodes)
        due = self._clock.monotonic() + offset * share
        while True:
            for node in nodes:
                await self._clock.sleep(max(0.0, due - self._clock.monotonic()))
                await act(node)
                due = max(due + share, self._clock.monotonic() - period_s)

    async def _renew(self, node: SimulatedNode) -> None:
        wanted = lease(node, self._clock.now())
        have = self._leases.get(node.name)
        try:
            if have is None:
                found = await self._first_lease(node, wanted)
            else:
                meta = {
                    **wanted["metadata"],
                    "resourceVersion": have["metadata"]["resourceVersion"],
                }
                found = await self._client.update(LEASES, {**wanted, "metadata": meta})
            self._leases[node.name] = found
        except errors.MuntinError as err:
            self._leases.pop(node.name, None)
            log.warning("lease not renewed", **fields(node=node.name, error=err))

    async def _first_lease(self, node: SimulatedNode, wanted: Object) -> Object:
        try:
            return await self._client.create(LEASES, wanted, "kube-node-lease")
        except errors.AlreadyExists:
            return await self._client.patch(
                LEASES, node.name, {"spec": wanted["spec"]}, "kube-node-lease"
            )

    async def _report(self, node: SimulatedNode) -> None:
        now = self._clock.now()
        rows = conditions(now, now)
        for row in rows:
            del row["lastTransitionTime"]  # since when it holds is there already
        try:
            await self._patch_status(node, {"conditions": rows})
        except errors.MuntinError as err:
            log.warning("status of a simulated node not sent", **fields(node=node.name, error=err))

    async def _patch_status(self, node: SimulatedNode, status: Object) -> None:
        await self._client.patch(
            NODES,
            node.name,
            {"status": status},
            patch_type=STRATEGIC_MERGE_PATCH,
            subresource="status",
        )


class _PodKeeper:
    """Says of pods on these nodes that they run, and lets them go when they are to end."""

    def __init__(
        self, client: KubeClient, clock: Clock, nodes: Mapping[str, SimulatedNode]
    ) -> None:
        self._client, self._clock, self._nodes = client, clock, nodes
        self._pods = Informer(
            client, PODS, field_selector="spec.nodeName!=", transform=_slim, clock=clock
        )
        self._pods.add_handler(OnChange(self._changed))
        self._due: asyncio.Queue[str] = asyncio.Queue()
        self._waiting: set[str] = set()
        self._addresses = {name: _Addresses(node) for name, node in nodes.items()}

    async def run(self) -> None:
        async with supervised.Group() as group:
            group.start("informer", self._pods.run)
            for _ in range(WORKERS):
                group.start("simulated-pod-worker", self._work)

    def _changed(self, pod: Object, old: Object | None) -> None:
        node = pods.node_name(pod)
        if node not in self._nodes:
            return
        key = key_of(pod)
        if self._pods.get(key) is None:
            self._addresses[node].give_back(pod["metadata"]["uid"])
        elif (pods.is_deleting(pod) or _is_new(pod)) and key not in self._waiting:
            self._waiting.add(key)
            self._due.put_nowait(key)

    async def _work(self) -> None:
        while True:
            key = await self._due.get()
            self._waiting.discard(key)
            pod = self._pods.get(key)
            if pod is None:
                continue
            try:
                await self._act(pod)
            except (errors.NotFound, errors.Conflict):
                continue
            except errors.MuntinError as err:
                log.warning(
                    "simulated pod not answered for", **fields(pod=object_ref(pod), error=err)
                )
                await self._clock.sleep(RETRY_S)
                self._changed(pod, None)

    async def _act(self, pod: Object) -> None:
        meta, name = pod["metadata"], pods.node_name(pod)
        if pods.is_deleting(pod):
            await self._client.delete(
                PODS, meta["name"], meta["namespace"], grace_period_s=0, uid=meta["uid"]
            )
        elif _is_new(pod):
            address = self._addresses[name].take(meta["uid"])
            status = pod_status(pod, self._nodes[name], address, self._clock.now())
            patch = {"metadata": {"uid": meta["uid"]}, "status": status}
            await self._client.patch(
                PODS, meta["name"], patch, meta["namespace"], subresource="status"
            )


def _slim(pod: Object) -> Object:
    """What is needed to answer for a pod."""
    spec, status, meta = pod["spec"], pod.get("status") or {}, pod["metadata"]
    for name in ("managedFields", "annotations", "labels", "ownerReferences"):
        meta.pop(name, None)
    pod["spec"] = {
        name: spec[name] for name in ("nodeName", "hostNetwork", "readinessGates") if name in spec
    }
    for field in ("containers", "initContainers"):
        if field in spec:
            pod["spec"][field] = [
                {name: row[name] for name in ("name", "image", "restartPolicy") if name in row}
                for row in spec[field]
            ]
    pod["status"] = {name: status[name] for name in ("phase", "conditions") if name in status}
    return POOL.compact(pod)


def _is_new(pod: Object) -> bool:
    """Whether nothing was said of it yet, or its readiness gates have changed since."""
    if pods.phase(pod) == "Pending":
        return True
    gates = [row["conditionType"] for row in pod["spec"].get("readinessGates") or ()]
    if not gates or pods.is_terminal(pod):
        return False
    return pods.is_ready(pod) != all(pods.is_condition_true(pod, gate) for gate in gates)


class _Addresses:
    """The addresses of one node's pods."""

    def __init__(self, node: SimulatedNode) -> None:
        self._first = int(node.pod_cidr.network_address) + 1
        self._taken: dict[str, int] = {}
        self._next = 0

    def take(self, uid: str) -> IPv4Address:
        """An address that no other pod of the node has."""
        if uid not in self._taken:
            used = set(self._taken.values())
            while self._next % 254 in used and len(used) < 254:
                self._next += 1
            self._taken[uid] = self._next % 254
            self._next += 1
        return IPv4Address(self._first + self._taken[uid])

    def give_back(self, uid: str) -> None:
        """The pod is gone."""
        self._taken.pop(uid, None)
