"""The control plane under load, on simulated nodes: kubelets without containers.

Pods are created by 20 clients at once and followed by a watch: the rate is from the first creation
to the last binding, so that creating them is a part of it. Then Deployments are created, rolled and
deleted, a node with 110 pods is lost, and at last nothing happens on many nodes with many pods.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

import clusters
import load
import lost_node
import memory
import page
import uvloop
from measure import seconds, table

from muntin.cluster.config import ClusterConfig
from muntin.model import pods
from muntin.model.resources import DEPLOYMENTS, PODS, Resource
from muntin.seams.kube import MERGE_PATCH, Object
from muntin.seams.kube.client import Client

SIZES = (100, 1000)
PODS_SCHEDULED = 3000
DEPLOYMENTS_COUNT = 1000
REST_PODS = 10_000
_ONE_NODE = ("--linux-nodes", "1", "--windows-nodes", "0")


def measure() -> None:
    rows, deployments = [], []
    for count in SIZES:
        with clusters.running(*_ONE_NODE, "--simulated-nodes", str(count)) as config:
            rows.append(uvloop.run(_pods(config, count)))
            if count == SIZES[-1]:
                deployments = uvloop.run(_deployments(config))
                lost_node.measure(config)
                uvloop.run(_fill(config))
                memory.measure(config, passage="memory of many nodes")
    head = ("simulated nodes", "pods", "created", "scheduled", "Ready")
    page.write("scheduling", table(head, rows))
    page.write("deployments", table(("1,000 Deployments of one pod", "took"), deployments))


# -- pods ----------------------------------------------------------------------------------------


async def _pods(config: ClusterConfig, nodes: int) -> tuple[str, ...]:
    """Rates of one burst of pods."""
    async with load.ready(config, nodes) as client:
        wanted = {f"load-{number}" for number in range(PODS_SCHEDULED)}
        bound: dict[str, float] = {}
        ready: dict[str, float] = {}

        def look(pod: Object) -> bool:
            name, now = pod["metadata"]["name"], time.perf_counter()
            if pods.node_name(pod):
                bound.setdefault(name, now)
            if pods.is_ready(pod):
                ready.setdefault(name, now)
            return wanted <= ready.keys()

        seen = await load.watching(client, PODS, look)
        began = time.perf_counter()
        await load.all_of(sorted(wanted), lambda name: client.create(PODS, _pod(name), "default"))
        created = time.perf_counter()
        await asyncio.wait_for(seen, load.LIMIT_S)
        ends = (created, max(bound.values()), max(ready.values()))
        rates = (f"{PODS_SCHEDULED / (end - began):,.0f}/s" for end in ends)
        await _delete_all(client, PODS)
    return (f"{nodes:,}", f"{PODS_SCHEDULED:,}", *rates)


def _pod(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "load"}},
        "spec": load.spec("load:1"),
    }


# -- Deployments ---------------------------------------------------------------------------------


async def _deployments(config: ClusterConfig) -> list[tuple[str, str]]:
    """How long a thousand of them take to be there, rolled, and gone."""
    rows = []
    async with load.ready(config, config.simulated_nodes) as client:
        names = [f"web-{number}" for number in range(DEPLOYMENTS_COUNT)]
        done = await load.watching(client, DEPLOYMENTS, _Rolled(names, 1))
        began = time.perf_counter()
        await load.all_of(
            names, lambda name: client.create(DEPLOYMENTS, load.deployment(name), "default")
        )
        await asyncio.wait_for(done, load.LIMIT_S)
        rows.append(("created, all available", seconds(time.perf_counter() - began)))
        done = await load.watching(client, DEPLOYMENTS, _Rolled(names, 2))
        began = time.perf_counter()
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "load:2"}]}}}}
        await load.all_of(
            names,
            lambda name: client.patch(DEPLOYMENTS, name, patch, "default", patch_type=MERGE_PATCH),
        )
        await asyncio.wait_for(done, load.LIMIT_S)
        rows.append(("rolled to another image", seconds(time.perf_counter() - began)))
        began = time.perf_counter()
        await load.all_of(names, lambda name: client.delete(DEPLOYMENTS, name, "default"))
        await load.gone(client, PODS)
        rows.append(("deleted, all pods gone", seconds(time.perf_counter() - began)))
    return rows


class _Rolled:
    """True when all of ``names`` are complete in their generation, or a later one."""

    def __init__(self, names: Iterable[str], generation: int) -> None:
        self._left = set(names)
        self._generation = generation

    def __call__(self, deployment: Object) -> bool:
        status = deployment.get("status") or {}
        complete = status.get("updatedReplicas") == status.get("availableReplicas") == 1
        alone = complete and status.get("replicas") == 1
        if alone and (status.get("observedGeneration") or 0) >= self._generation:
            self._left.discard(deployment["metadata"]["name"])
        return not self._left


# -- rest ----------------------------------------------------------------------------------------


async def _fill(config: ClusterConfig) -> None:
    """As many pods as are to be there at rest."""
    async with load.ready(config, config.simulated_nodes) as client:
        wanted = {f"rest-{number}" for number in range(REST_PODS)}
        ready: set[str] = set()

        def look(pod: Object) -> bool:
            if pods.is_ready(pod):
                ready.add(pod["metadata"]["name"])
            return wanted <= ready

        done = await load.watching(client, PODS, look)
        await load.all_of(sorted(wanted), lambda name: client.create(PODS, _pod(name), "default"))
        await asyncio.wait_for(done, load.LIMIT_S)


async def _delete_all(client: Client, resource: Resource) -> None:
    rows = (await client.list(resource, "default")).items
    await load.all_of(
        [row["metadata"]["name"] for row in rows],
        lambda name: client.delete(resource, name, "default"),
    )
    await load.gone(client, resource)
