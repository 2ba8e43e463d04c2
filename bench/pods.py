"""One pod at a time, from the request that creates it to Ready by an HTTP probe.

The Windows pod is the web server of the Kubernetes documentation (examples/win-webserver), the
Linux pod is busybox httpd. The times are those at which a watching client learns of each step.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import clusters
import page
import uvloop
import yaml
from measure import Samples, milliseconds, table

from muntin.cluster.config import ClusterConfig
from muntin.kit.errors import NotFound
from muntin.model.resources import PODS
from muntin.seams.kube import Object
from muntin.seams.kube.client import Client

RUNS = 40
_LIMIT_S = 60.0
_WATCH_STANDS_S = 0.05
_SAMPLE = Path(__file__).parent.parent / "examples" / "win-webserver" / "win-webserver.yaml"


def _condition(name: str) -> Callable[[Object], bool]:
    def holds(pod: Object) -> bool:
        rows = (pod.get("status") or {}).get("conditions") or ()
        return any(row["type"] == name and row["status"] == "True" for row in rows)

    return holds


def _started(pod: Object) -> bool:
    rows = (pod.get("status") or {}).get("containerStatuses") or ()
    return bool(rows) and all("running" in row.get("state", {}) for row in rows)


STEPS: Mapping[str, Callable[[Object], bool]] = {
    "scheduled": _condition("PodScheduled"),
    "container started": _started,
    "Ready": _condition("Ready"),
}


def measure(config: ClusterConfig) -> None:
    uvloop.run(_measure(config))


async def _measure(config: ClusterConfig) -> None:
    client = clusters.client(config)
    await clusters.service_account(client)
    rows, steps = [], []
    for os, pod in (("Windows", windows_pod()), ("Linux", linux_pod())):
        taken = {name: Samples() for name in ("answered", *STEPS)}
        await _one(client, pod, {name: Samples() for name in taken})  # the first loads caches
        for _ in range(RUNS):
            await _one(client, pod, taken)
        ready = taken["Ready"]
        rows.append((os, str(RUNS), *_figures(ready), milliseconds(ready.worst)))
        steps.append((os, *(milliseconds(samples.median) for samples in taken.values())))
    page.write("pods", table(("pod", "runs", "p50", "p99", "worst"), rows))
    head = ("pod, median", "create answered", "scheduled", "container started", "Ready")
    page.write("pod steps", table(head, steps))
    await client.close()


def _figures(samples: Samples) -> tuple[str, str]:
    return milliseconds(samples.quantile(0.5)), milliseconds(samples.quantile(0.99))


async def _one(client: Client, pod: Object, taken: Mapping[str, Samples]) -> None:
    """Make ``pod``, note when each step is seen, remove it and wait until it is gone."""
    try:
        await _watched(client, pod, taken)
    except TimeoutError as err:
        found = await client.get(PODS, pod["metadata"]["name"], clusters.NAMESPACE)
        raise TimeoutError(f"pod not Ready within {_LIMIT_S:.0f} s: {found['status']}") from err
    await _remove(client, pod["metadata"]["name"])


async def _watched(client: Client, pod: Object, taken: Mapping[str, Samples]) -> None:
    revision = (await client.list(PODS, clusters.NAMESPACE)).resource_version
    open_steps = dict(STEPS)
    async with asyncio.timeout(_LIMIT_S), aclosing(_events(client, revision)) as events:
        first = asyncio.ensure_future(anext(events))
        await asyncio.sleep(_WATCH_STANDS_S)
        began = time.perf_counter()
        await client.create(PODS, pod, clusters.NAMESPACE)
        taken["answered"].add(time.perf_counter() - began)
        seen = await first
        while open_steps:
            now = time.perf_counter()
            for name in [name for name, holds in open_steps.items() if holds(seen)]:
                taken[name].add(now - began)
                del open_steps[name]
            if open_steps:
                seen = await anext(events)


async def _events(client: Client, revision: str) -> AsyncGenerator[Object, None]:
    async for event in client.watch(PODS, clusters.NAMESPACE, resource_version=revision):
        yield event.object


async def _remove(client: Client, name: str) -> None:
    await client.delete(PODS, name, clusters.NAMESPACE, grace_period_s=0)
    async with asyncio.timeout(_LIMIT_S):
        while True:
            try:
                await client.get(PODS, name, clusters.NAMESPACE)
            except NotFound:
                break
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)  # what the node still cleans up is not the next pod's affair


def windows_pod() -> Object:
    """The document's pod, with a readiness probe."""
    documents = list(yaml.safe_load_all(_SAMPLE.read_text()))
    spec: dict[str, Any] = documents[1]["spec"]["template"]["spec"]
    return _pod("windows", spec, 80)


def linux_pod() -> Object:
    container = {
        "name": "web",
        "image": "busybox",
        "imagePullPolicy": "IfNotPresent",
        "command": ["httpd", "-f", "-p", "80", "-h", "/bin"],
    }
    selector = {"kubernetes.io/os": "linux"}
    return _pod("linux", {"containers": [container], "nodeSelector": selector}, 80, "/busybox")


def _pod(name: str, spec: dict[str, Any], port: int, path: str = "/") -> Object:
    probe = {"httpGet": {"path": path, "port": port}, "periodSeconds": 1}
    for container in spec["containers"]:
        container["readinessProbe"] = probe
    metadata = {"name": f"bench-{name}", "namespace": clusters.NAMESPACE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
