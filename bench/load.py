"""What measurements under load ask of a cluster: nodes that are ready, objects made and seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import clusters

from muntin.cluster.config import ClusterConfig
from muntin.model import pods
from muntin.model.resources import NODES, Resource
from muntin.model.simulated import MARK
from muntin.seams.kube import Object
from muntin.seams.kube.client import Client

CREATORS = 20
LIMIT_S = 900.0
SHOWING = ("ADDED", "MODIFIED")
"""Events of a watch that show an object as it is now."""


def spec(image: str) -> Object:
    """Of a pod that runs on simulated nodes only."""
    requests = {"requests": {"cpu": "100m", "memory": "100Mi"}}
    return {
        "containers": [{"name": "c", "image": image, "resources": requests}],
        "nodeSelector": {MARK: "true"},
        "tolerations": [{"key": MARK, "operator": "Exists"}],
    }


def deployment(name: str) -> Object:
    """Of one such pod."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec("load:1")}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


@asynccontextmanager
async def ready(config: ClusterConfig, nodes: int) -> AsyncIterator[Client]:
    """The administrator, once all simulated nodes are Ready and pods are taken."""
    client = clusters.client(config)
    await clusters.service_account(client)
    try:
        async with asyncio.timeout(LIMIT_S):
            await nodes_ready(client, nodes)
        yield client
    finally:
        await client.close()


async def nodes_ready(client: Client, count: int) -> None:
    """Return when that many are Ready and have no taint but their mark."""
    while True:
        rows = (await client.list(NODES, label_selector=MARK)).items
        ready = (
            pods.is_condition_true(row, "Ready") and len(row["spec"].get("taints") or ()) == 1
            for row in rows
        )
        if sum(ready) >= count:
            return
        await asyncio.sleep(1.0)


async def watching(
    client: Client, resource: Resource, look: Callable[[Object], bool]
) -> asyncio.Task[None]:
    """A task that ends when ``look``, given each new state, says so."""
    revision = (await client.list(resource, "default")).resource_version

    async def follow() -> None:
        async for event in client.watch(resource, "default", resource_version=revision):
            if event.type in SHOWING and look(event.object):
                return

    task = asyncio.create_task(follow())
    await asyncio.sleep(0.2)  # the watch stands
    return task


async def all_of(names: Iterable[str], act: Callable[[str], Awaitable[object]]) -> None:
    """Do ``act`` for all names, several at once."""
    left = iter(list(names))

    async def some() -> None:
        for name in left:
            await act(name)

    async with asyncio.TaskGroup() as group:
        for _ in range(CREATORS):
            group.create_task(some())


async def gone(client: Client, resource: Resource) -> None:
    """Return when the namespace has none of ``resource`` any more."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            if not (await client.list(resource, "default")).items:
                return
            await asyncio.sleep(0.5)
