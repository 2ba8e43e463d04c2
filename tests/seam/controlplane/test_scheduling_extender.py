"""Profiles and an extender: a small HTTP server of the test, asked by the scheduler at work."""

import asyncio
import json

from control_plane import control_plane
from test_scheduling import NS, condition, event, pod, running

from muntin.model import pods
from muntin.model.resources import PODS, PRIORITY_CLASSES
from muntin.scheduler.configuration import read


class Extender:
    """Answers with what ``answers`` has for the verb; ``asked`` is what came."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []
        self.status = 200

    async def serve(self):
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/x"

    def close(self):
        self._server.close()

    async def _talk(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        verb = head.split(" ")[1].removeprefix("/x/")
        self.asked.append((verb, body))
        answer = self.answers[verb]
        found = answer(body) if callable(answer) else answer
        if asyncio.iscoroutine(found):
            found = await found
        data = json.dumps(found).encode()
        lines = f"HTTP/1.1 {self.status} X\r\nContent-Length: {len(data)}\r\nConnection: close\r\n"
        writer.write(f"{lines}\r\n".encode() + data)
        await writer.drain()
        writer.close()


def run(scenario, extender, *, nodes=("n1", "n2"), **row):
    async def main():
        url = await extender.serve()
        config = read({"extenders": [{"urlPrefix": url, **row}]})
        try:
            async with control_plane(nodes=nodes, scheduling=config) as plane:
                await scenario(plane)
        finally:
            extender.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def names(body):
    return [item["metadata"]["name"] for item in body["Nodes"]["items"]]


def test_it_filters_and_scores():
    def only_second_and_third(body):
        items = [i for i in body["Nodes"]["items"] if i["metadata"]["name"] != "n1"]
        return {"nodes": {"items": items}, "failedNodes": {"n1": "not this one"}}

    extender = Extender(
        filter=only_second_and_third,
        prioritize=[{"Host": "n2", "Score": 1}, {"Host": "n3", "Score": 10}],
    )

    async def scenario(plane):
        await plane.admin.create(PODS, pod("p", "1"))
        assert pods.node_name(await running(plane, "p")) == "n3"

    run(
        scenario,
        extender,
        nodes=("n1", "n2", "n3"),
        filterVerb="filter",
        prioritizeVerb="prioritize",
        weight=10,
    )
    verb, body = extender.asked[0]
    assert verb == "filter"
    assert sorted(names(body)) == ["n1", "n2", "n3"]
    assert body["Pod"]["spec"]["containers"][0]["name"] == "c"
    assert sorted(names(extender.asked[1][1])) == ["n2", "n3"]


def test_what_it_refuses_is_told_in_its_words():
    extender = Extender(
        filter={"NodeNames": [], "FailedNodes": {"n1": "full moon", "n2": "full moon"}}
    )

    async def scenario(plane):
        await plane.admin.create(PODS, pod("p", "1"))
        row = await condition(plane, "p", "Unschedulable")
        assert row["message"].startswith("0/2 nodes are available: 2 full moon.")
        told = await event(plane, "p", "FailedScheduling")
        assert told["message"] == row["message"]

    run(scenario, extender, filterVerb="filter", nodeCacheCapable=True)
    assert extender.asked[0][1]["Nodes"] is None
    assert sorted(extender.asked[0][1]["NodeNames"]) == ["n1", "n2"]


def test_one_that_fails_stops_the_pod_unless_it_may_be_ignored():
    extender = Extender(filter={})
    extender.status = 500

    async def stopped(plane):
        await plane.admin.create(PODS, pod("p", "1"))
        row = await condition(plane, "p", "SchedulerError")
        assert "failed filter with extender at URL" in row["message"]

    run(stopped, extender, filterVerb="filter")

    async def ignored(plane):
        await plane.admin.create(PODS, pod("p", "1"))
        await running(plane, "p")

    run(ignored, extender, filterVerb="filter", ignorable=True)


def test_it_is_asked_for_its_resources_only_and_binds():
    bound = []

    async def bind(body):
        target = {"apiVersion": "v1", "kind": "Node", "name": body["Node"]}
        meta = {"name": body["PodName"], "namespace": body["PodNamespace"]}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}
        await bound[0].admin.create(PODS, binding, NS, subresource="binding")
        return {}

    extender = Extender(bind=bind)

    async def scenario(plane):
        bound.append(plane)
        await plane.admin.create(PODS, pod("plain", "1"))
        await running(plane, "plain")
        assert not extender.asked
        special = pod("special", "1")
        requests = special["spec"]["containers"][0]["resources"]
        requests["requests"]["example.com/foo"] = "1"
        requests["limits"] = {"example.com/foo": "1"}
        await plane.admin.create(PODS, special)
        await running(plane, "special")
        verb, body = extender.asked[0]
        assert (verb, body["PodName"], body["PodNamespace"]) == ("bind", "special", NS)

    managed = [{"name": "example.com/foo", "ignoredByScheduler": True}]
    run(scenario, extender, bindVerb="bind", managedResources=managed)


def test_it_has_a_word_on_victims():
    def not_on_first(body):
        rows = body["NodeNameToVictims"]
        uids = [{"UID": pod["metadata"]["uid"]} for pod in rows["n2"]["Pods"]]
        return {"NodeNameToMetaVictims": {"n2": {"Pods": uids}}}

    extender = Extender(preempt=not_on_first)

    async def scenario(plane):
        high = {"metadata": {"name": "high"}, "value": 1000}
        high |= {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        await plane.admin.create(PRIORITY_CLASSES, high)
        for name in ("a", "b"):
            await plane.admin.create(PODS, pod(name, "3"))
            await running(plane, name)
        await plane.admin.create(PODS, pod("top", "3", priorityClassName="high"))
        assert pods.node_name(await running(plane, "top")) == "n2"

    run(scenario, extender, preemptVerb="preempt")


def test_two_profiles_decide_each_for_its_own():
    most = {"scoringStrategy": {"type": "MostAllocated"}}
    rows = [
        {},
        {
            "schedulerName": "packer",
            "pluginConfig": [{"name": "NodeResourcesFit", "args": most}],
            "plugins": {
                "score": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "NodeResourcesFit"}],
                }
            },
        },
    ]

    async def main():
        config = read({"profiles": rows})
        async with control_plane(nodes=("n1", "n2"), scheduling=config) as plane:
            await plane.admin.create(PODS, pod("first", "500m"))
            first = await running(plane, "first")
            await plane.admin.create(PODS, pod("packed", "500m", schedulerName="packer"))
            packed = await running(plane, "packed")
            assert pods.node_name(packed) == pods.node_name(first)
            told = await event(plane, "packed", "Scheduled")
            assert told["reportingComponent"] == "packer"
            await plane.admin.create(PODS, pod("spread", "500m"))
            assert pods.node_name(await running(plane, "spread")) != pods.node_name(first)

    asyncio.run(asyncio.wait_for(main(), 60))
