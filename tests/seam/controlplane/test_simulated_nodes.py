"""Simulated nodes at a real API server, under the role that they have there."""

import asyncio

from control_plane import control_plane
from test_scheduling import NS, pod, running

from muntin.kubelet.simulated import loop as simulated
from muntin.model import pods
from muntin.model.resources import LEASES, NODES, PODS
from muntin.model.simulated import MARK, is_simulated
from muntin.seams.kube.client import Client

TOLERATES = {"tolerations": [{"key": MARK, "operator": "Exists"}]}


async def ready(plane, count):
    async def check():
        rows = (await plane.admin.list(NODES)).items
        return sum(pods.is_condition_true(row, "Ready") for row in rows) == count

    await plane.until(check, f"{count} nodes Ready")


def on_simulated_nodes(count, scenario, first=0):
    """Run ``scenario(plane)`` on a control plane whose nodes are simulated."""

    async def main():
        async with control_plane(nodes=()) as plane:
            client = Client(plane.server.user("muntin:simulated-nodes"))
            config = simulated.SimulatedConfig(count=count, version="v1.34.0", first=first)
            kubelets = asyncio.ensure_future(simulated.run(config, client))
            try:
                await scenario(plane)
            finally:
                kubelets.cancel()
                await asyncio.gather(kubelets, return_exceptions=True)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_pods_run_there_and_end_when_they_are_deleted():
    async def scenario(plane):
        await ready(plane, 3)
        node = await plane.admin.get(NODES, "sim-0002")
        assert is_simulated(node)
        assert node["metadata"]["labels"][MARK] == "true"
        assert node["spec"]["podCIDR"] == "100.64.1.0/24"
        assert {"key": MARK, "value": "true", "effect": "NoSchedule"} in node["spec"]["taints"]
        assert "no container runs here" in node["status"]["nodeInfo"]["osImage"]
        lease = await plane.until(
            lambda: plane.admin.get(LEASES, "sim-0002", "kube-node-lease"), "a lease"
        )
        assert lease["spec"]["holderIdentity"] == "sim-0002"
        await plane.admin.create(PODS, pod("stays", "1"))
        for number in range(6):
            await plane.admin.create(PODS, pod(f"p{number}", "1", **TOLERATES))
        found = [await running(plane, f"p{number}") for number in range(6)]
        assert {pods.node_name(row) for row in found} == {"sim-0001", "sim-0002", "sim-0003"}
        assert len({row["status"]["podIP"] for row in found}) == 6
        assert all(pods.is_ready(row) for row in found)
        assert pods.node_name(await plane.admin.get(PODS, "stays", NS)) == ""
        await plane.admin.delete(PODS, "p0", NS)
        await plane.gone(PODS, "p0", NS)

    on_simulated_nodes(3, scenario)


def test_some_may_stand_beside_those_of_another_process():
    async def scenario(plane):
        await ready(plane, 2)
        rows = (await plane.admin.list(NODES)).items
        networks = {row["metadata"]["name"]: row["spec"]["podCIDR"] for row in rows}
        assert networks == {"sim-1001": "100.67.232.0/24", "sim-1002": "100.67.233.0/24"}

    on_simulated_nodes(2, scenario, first=1000)


def test_init_containers_sidecars_and_readiness_gates():
    async def scenario(plane):
        await ready(plane, 1)
        inits = [
            {"name": "i", "image": "x"},
            {"name": "s", "image": "x", "restartPolicy": "Always"},
        ]
        gates = [{"conditionType": "example.com/fed"}]
        found = pod("p", "1", initContainers=inits, readinessGates=gates, **TOLERATES)
        await plane.admin.create(PODS, found)
        found = await running(plane, "p")
        states = found["status"]["initContainerStatuses"]
        assert [next(iter(row["state"])) for row in states] == ["terminated", "running"]
        assert not pods.is_ready(found)
        rows = [*found["status"]["conditions"], {"type": "example.com/fed", "status": "True"}]
        await plane.admin.patch(
            PODS, "p", {"status": {"conditions": rows}}, NS, subresource="status"
        )

        async def fed():
            return pods.is_ready(await plane.admin.get(PODS, "p", NS))

        await plane.until(fed, "p is Ready")

    on_simulated_nodes(1, scenario)
