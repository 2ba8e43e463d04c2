"""A node with 110 pods of one Deployment falls silent: how long until all run elsewhere.

The node is one more simulated kubelet, in this process: it stops with its task, as if its cable was
cut. Nobody but it has the label that the pods ask for until they are there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import load
import memory
import page
import uvloop
from measure import seconds, table

from muntin.cluster.config import ClusterConfig
from muntin.kubelet.simulated import loop as simulated
from muntin.kubelet.simulated.objects import SimulatedNode
from muntin.model import pods, taints, times
from muntin.model.resources import DEPLOYMENTS, LEASES, NODES, PODS
from muntin.model.simulated import MARK
from muntin.model.windows_releases import git_version
from muntin.seams.kube import Object
from muntin.seams.kube.client import Client

COUNT = 110
TOLERATED_S = 5
OTHERS = 20
REST_S = 20.0
_NAME, _PLACE = "lost", "bench.muntin.dev/place"


def measure(config: ClusterConfig) -> None:
    rows = uvloop.run(_measured(config))
    page.write("lost node", table(("110 pods on a node that falls silent", "after"), rows))


async def _measured(config: ClusterConfig) -> list[tuple[str, str]]:
    async with load.ready(config, config.simulated_nodes) as client:
        node = SimulatedNode(config.simulated_nodes, git_version(config.kubernetes))
        async with _kubelet(client, node):
            await _fill(client, node)
            await _place(client, [f"sim-{number:04}" for number in range(1, OTHERS + 1)])
            rest = await _share_at_rest()
        heard = await client.get(LEASES, *_lease(node))
        story = _Story(node.name, times.seconds_of(heard["spec"]["renewTime"]) or 0.0)
        try:
            await asyncio.wait_for(story.follow(client), load.LIMIT_S)
        finally:
            await _clean(client, node)
    return story.rows(rest)


def _lease(node: SimulatedNode) -> tuple[str, str]:
    return node.name, "kube-node-lease"


# -- the node and its pods -----------------------------------------------------------------------


@asynccontextmanager
async def _kubelet(client: Client, node: SimulatedNode) -> AsyncIterator[None]:
    """The node is there and answers for its pods; after the block nothing is heard of it."""
    config = simulated.SimulatedConfig(count=1, version=node.version, first=node.number)
    task = asyncio.create_task(simulated.run(config, client))
    try:
        await load.nodes_ready(client, node.number + 1)
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _fill(client: Client, node: SimulatedNode) -> None:
    await _place(client, [node.name])
    ready: set[str] = set()

    def look(pod: Object) -> bool:
        if pods.is_ready(pod):
            ready.add(pod["metadata"]["name"])
        return len(ready) == COUNT

    done = await load.watching(client, PODS, look)
    await client.create(DEPLOYMENTS, _deployment(), "default")
    await asyncio.wait_for(done, load.LIMIT_S)


def _deployment() -> Object:
    found = load.deployment(_NAME)
    spec = found["spec"]["template"]["spec"]
    found["spec"]["replicas"] = COUNT
    spec["nodeSelector"] = {_PLACE: _NAME}
    spec["tolerations"] += [
        {
            "key": key,
            "operator": "Exists",
            "effect": taints.NO_EXECUTE,
            "tolerationSeconds": TOLERATED_S,
        }
        for key in (taints.NOT_READY, taints.UNREACHABLE)
    ]
    return found


async def _place(client: Client, names: list[str], label: str | None = _NAME) -> None:
    patch = {"metadata": {"labels": {_PLACE: label}}}
    await load.all_of(names, lambda name: client.patch(NODES, name, patch))


async def _clean(client: Client, node: SimulatedNode) -> None:
    """No kubelet will let the pods of the lost node go."""
    await client.delete(DEPLOYMENTS, _NAME, "default")
    await client.delete(NODES, node.name)
    await client.delete(LEASES, *_lease(node))
    found = (await client.list(PODS, "default", field_selector=f"spec.nodeName={node.name}")).items

    async def end(name: str) -> None:
        await client.delete(PODS, name, "default", grace_period_s=0)

    await load.all_of([pod["metadata"]["name"] for pod in found], end)
    await load.gone(client, PODS)
    rows = (await client.list(NODES, label_selector=f"{MARK},{_PLACE}")).items
    await _place(client, [row["metadata"]["name"] for row in rows], label=None)


# -- what happens --------------------------------------------------------------------------------


async def _share_at_rest() -> float:
    """What the control plane takes of a processor while nothing happens."""
    await asyncio.sleep(REST_S / 2)
    before = memory.processor_s("control-plane")
    await asyncio.sleep(REST_S)
    return (memory.processor_s("control-plane") - before) / REST_S


class _Story:
    """When what was first seen after the last sign of life, and what the control plane took."""

    def __init__(self, node: str, heard_s: float) -> None:
        self._node = node
        self._heard_s = heard_s
        self._after: dict[str, float] = {}
        self._taken: dict[str, float] = {}
        self._evicted: set[str] = set()
        self._elsewhere: set[str] = set()

    async def follow(self, client: Client) -> None:
        """Watch until all pods run elsewhere."""
        node = asyncio.create_task(self._follow_node(client))
        try:
            revision = (await client.list(PODS, "default")).resource_version
            async for event in client.watch(PODS, "default", resource_version=revision):
                if event.type in load.SHOWING and self._is_over(event.object):
                    return
        finally:
            node.cancel()

    async def _follow_node(self, client: Client) -> None:
        only = f"metadata.name={self._node}"
        revision = (await client.list(NODES, field_selector=only)).resource_version
        watch = client.watch(NODES, resource_version=revision, field_selector=only)
        async for event in watch:
            found = event.object
            if event.type not in load.SHOWING:
                continue
            if not pods.is_condition_true(found, "Ready"):
                self._note("NotReady")
            rows = found["spec"].get("taints") or ()
            if any(
                (t["key"], t["effect"]) == (taints.UNREACHABLE, taints.NO_EXECUTE) for t in rows
            ):
                self._note("tainted")

    def _is_over(self, pod: Object) -> bool:
        name = pod["metadata"]["name"]
        if pods.node_name(pod) == self._node:
            if pods.is_deleting(pod):
                self._evicted.add(name)
                self._note("evicted")
        elif pods.is_ready(pod):
            self._elsewhere.add(name)
        if len(self._evicted) == COUNT:
            self._note("all evicted")
        if len(self._elsewhere) == COUNT:
            self._note("elsewhere")
        return len(self._elsewhere) == COUNT

    def _note(self, what: str) -> None:
        if what not in self._after:
            self._after[what] = time.time() - self._heard_s
            self._taken[what] = memory.processor_s("control-plane")

    def rows(self, rest: float) -> list[tuple[str, str]]:
        """For the page; ``rest`` is the share of a processor that is taken in any case."""
        told = {
            "NotReady": "found NotReady",
            "tainted": "tainted `node.kubernetes.io/unreachable:NoExecute`",
            "evicted": f"the first evicted, tolerating the taint for {TOLERATED_S} s",
            "all evicted": "all evicted",
            "elsewhere": "all Ready on other nodes",
        }
        rows = [(text, seconds(self._after[what])) for what, text in told.items()]
        took_s = self._after["elsewhere"] - self._after["NotReady"]
        taken_s = self._taken["elsewhere"] - self._taken["NotReady"] - rest * took_s
        return [*rows, ("processor time of the control plane for it", seconds(taken_s))]
