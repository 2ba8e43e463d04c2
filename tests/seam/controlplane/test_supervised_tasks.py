"""An exception in each task in turn: it is restarted, its siblings go on, all works after."""

import asyncio
import contextlib

from control_plane import control_plane
from readers import readers
from test_strange_objects import add_namespace, start_healthy, unhealthy

from muntin.kit import supervised
from supervision import Bombs, names

ELSEWHERE = {
    "apiserver-audit": "of a server with an audit policy",
    "apiserver-peers": "of several servers over one store",
    "cluster-objects": "ends when it has made them",
    "fabric": "needs namespaces; holds the tasks that follow",
    "hns": "needs namespaces",
    "image-import": "ends when it has imported them",
    "kubelet": "a whole kubelet of a node process",
    "load-balancer": "needs namespaces",
    "metrics-server": "a whole metrics server",
    "pod-network": "needs namespaces",
    "pod-network-configure": "needs namespaces",
    "pod-network-node": "needs namespaces",
    "pod-routes": "needs namespaces",
    "pod-routes-apply": "needs namespaces",
    "pod-routes-nodes": "needs namespaces",
    "publisher": "needs namespaces",
    "publisher-nodes": "needs namespaces",
    "publisher-services": "needs namespaces",
    "publisher-sync": "needs namespaces",
    "simulated-register": "ends when the nodes are registered",
    "winruntime": "needs namespaces",
}
"""Tasks without an end that no test injects into, and why; those of kubelets are in
``test_kubelet_windows``. What needs namespaces restarts by the same helper."""


def test_a_failure_of_each_task_ends_nothing_else(monkeypatch):
    bombs, real = Bombs(), supervised.run
    monkeypatch.setattr(supervised, "run", lambda name, work: real(name, bombs.wrapped(name, work)))
    monkeypatch.setattr(supervised, "FIRST_DELAY_S", 0.001)

    async def healthy_in(plane, namespace):
        await add_namespace(plane, namespace)
        await start_healthy(plane, namespace)

        async def is_well():
            return not await unhealthy(plane, namespace)

        await plane.until(is_well, f"all of {namespace}", 60)

    async def scenario(plane):
        beside = asyncio.ensure_future(readers(plane.admin))
        await healthy_in(plane, "before")
        usual = {name: bombs.alive(name) for name in bombs.running() if name != "workqueue-timer"}
        ones = {name for name in names("start") if not name.startswith("kubelet-")}
        assert ones - usual.keys() == ELSEWHERE.keys()
        for name, count in usual.items():

            async def is_complete(name=name, count=count):
                return bombs.alive(name) >= count

            await plane.until(is_complete, f"{name} runs", 60)
            before, alive = bombs.starts[name], bombs.alive(name)
            failed = supervised.FAILURES.values.get((name,), 0)
            bombs.fire(name)

            async def is_restarted(name=name, wanted=before + alive):
                return bombs.starts[name] >= wanted

            await plane.until(is_restarted, f"{name} is restarted", 60)
            assert supervised.FAILURES.values[(name,)] == failed + alive
            assert not beside.done()
        await healthy_in(plane, "after")
        beside.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await beside

    async def main():
        async with control_plane(version=(1, 36), node_grace_s=1000.0) as plane:
            await scenario(plane)

    asyncio.run(asyncio.wait_for(main(), 400))
