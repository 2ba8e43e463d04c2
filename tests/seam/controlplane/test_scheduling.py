"""The scheduler on the real API server, with its default role: preemption, gates, nominations."""

import asyncio

import pytest
from control_plane import control_plane

from muntin.model import pods
from muntin.model.resources import EVENTS, PODS, PRIORITY_CLASSES

NS = "default"


def run(scenario, **kwargs):
    async def main():
        async with control_plane(**kwargs) as plane:
            await scenario(plane)

    asyncio.run(asyncio.wait_for(main(), 60))


def pod(name, cpu, **spec):
    requests = {"requests": {"cpu": cpu}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NS},
        "spec": {"containers": [{"name": "c", "image": "one", "resources": requests}], **spec},
    }


async def running(plane, name):
    async def check():
        found = await plane.admin.get(PODS, name, NS)
        return found if pods.phase(found) == "Running" else None

    return await plane.until(check, f"{name} running")


async def event(plane, name, reason):
    async def check():
        for row in (await plane.admin.list(EVENTS, NS)).items:
            if row["involvedObject"]["name"] == name and row["reason"] == reason:
                return row
        return None

    return await plane.until(check, f"{reason} of {name}")


async def condition(plane, name, reason):
    async def check():
        row = pods.condition(await plane.admin.get(PODS, name, NS), "PodScheduled") or {}
        return row if row.get("reason") == reason else None

    return await plane.until(check, f"{name} is {reason}")


@pytest.mark.parametrize("version", [(1, 20), (1, 34)], ids=["1.20", "1.34"])
def test_a_more_important_pod_takes_the_place_of_others(version):
    async def scenario(plane):
        high = {"metadata": {"name": "high"}, "value": 1000}
        high |= {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        await plane.admin.create(PRIORITY_CLASSES, high)
        await plane.admin.create(PODS, pod("low", "3"))
        low = await running(plane, "low")
        plane.ready = False  # so that the victim leaves when the test says so
        plane.hold.add("low")
        await plane.admin.create(PODS, pod("top", "2", priorityClassName="high"))
        top = await plane.admin.get(PODS, "top", NS)
        told = await event(plane, "low", "Preempted")
        uid = top["metadata"]["uid"]
        by = f"{NS}/top" if version < (1, 21) else f"pod {uid}"
        assert told["message"] == f"Preempted by {by} on node n1"
        failed = await event(plane, "top", "FailedScheduling")
        assert failed["message"] == "0/1 nodes are available: 1 Insufficient cpu."
        low = await plane.admin.get(PODS, "low", NS)
        assert low["metadata"]["deletionTimestamp"]
        target = pods.condition(low, "DisruptionTarget")
        if version < (1, 21):
            assert target is None
        else:
            assert target["reason"] == "PreemptionByScheduler"
            words = "default-scheduler: preempting to accommodate a higher priority pod"
            assert target["message"] == words
        await plane.until(lambda: nominated(plane, "top", "n1"), "top is nominated to n1")
        # Another pod, less important, does not take the room that was made.
        await plane.admin.create(PODS, pod("late", "3"))
        await event(plane, "late", "FailedScheduling")
        plane.ready = True
        plane.hold.clear()
        await plane.admin.delete(PODS, "low", NS, grace_period_s=0)
        top = await running(plane, "top")
        assert pods.node_name(top) == "n1"
        assert pods.node_name(await plane.admin.get(PODS, "late", NS)) == ""

    run(scenario, nodes=("n1",), version=version)


async def nominated(plane, name, node):
    found = await plane.admin.get(PODS, name, NS)
    return found["status"].get("nominatedNodeName") == node


def test_a_pod_waits_for_its_gates():
    async def scenario(plane):
        gates = [{"name": "example.com/a"}, {"name": "example.com/b"}]
        await plane.admin.create(PODS, pod("gated", "1", schedulingGates=gates))
        row = await condition(plane, "gated", "SchedulingGated")
        assert row["message"] == "Scheduling is blocked due to non-empty scheduling gates"
        await plane.admin.patch(PODS, "gated", {"spec": {"schedulingGates": gates[:1]}}, NS)
        await plane.admin.create(PODS, pod("other", "1"))
        await running(plane, "other")
        assert pods.node_name(await plane.admin.get(PODS, "gated", NS)) == ""
        await plane.admin.patch(PODS, "gated", {"spec": {"schedulingGates": None}}, NS)
        await running(plane, "gated")

    run(scenario, nodes=("n1",))


def test_a_pod_of_another_scheduler_is_left_alone():
    async def scenario(plane):
        await plane.admin.create(PODS, pod("theirs", "1", schedulerName="another"))
        await plane.admin.create(PODS, pod("ours", "1"))
        await running(plane, "ours")
        theirs = await plane.admin.get(PODS, "theirs", NS)
        assert pods.node_name(theirs) == ""
        assert not theirs["status"].get("conditions")

    run(scenario, nodes=("n1",))


def test_room_that_comes_free_is_taken():
    async def scenario(plane):
        await plane.admin.create(PODS, pod("first", "3"))
        await running(plane, "first")
        await plane.admin.create(PODS, pod("second", "3"))
        await condition(plane, "second", "Unschedulable")
        await plane.admin.delete(PODS, "first", NS)
        await running(plane, "second")

    run(scenario, nodes=("n1",))
