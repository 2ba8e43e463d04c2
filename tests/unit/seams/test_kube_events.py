"""The event recorder: what it writes, counting repeats, the limit per object."""

import asyncio

from scripted_transport import ScriptedTransport, status

from muntin.kit.clock import FakeClock
from muntin.model.event_correlation import BURST
from muntin.seams.kube.client import Client
from muntin.seams.kube.events import EventRecorder, SeriesRecorder

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "4"},
}


def recorder(transport):
    return EventRecorder(Client(transport), "kubelet", host="win01", clock=FakeClock())


def test_an_event_names_its_object_and_its_source():
    transport = ScriptedTransport(answers=[(201, {})])

    async def main():
        events = recorder(transport)
        events.event(POD, "Normal", "Pulled", "done", field_path="spec.containers{web}")
        await events.flush()

    asyncio.run(main())
    ((method, path, body),) = transport.asked
    assert (method, path) == ("POST", "/api/v1/namespaces/ns/events")
    assert body["metadata"]["name"].startswith("a.")
    assert body["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "a",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "4",
        "fieldPath": "spec.containers{web}",
    }
    assert body["source"] == {"component": "kubelet", "host": "win01"}
    assert (body["count"], body["type"], body["reason"]) == (1, "Normal", "Pulled")
    assert body["firstTimestamp"] == "2023-11-14T22:13:20Z"


def test_events_about_a_node_go_to_the_default_namespace():
    transport = ScriptedTransport(answers=[(201, {})])

    async def main():
        events = recorder(transport)
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        events.event(node, "Normal", "Ready", "ok")
        await events.flush()

    asyncio.run(main())
    assert transport.asked[0][1] == "/api/v1/namespaces/default/events"


def test_names_sort_as_the_events_happened():
    transport = ScriptedTransport(answers=[(201, {})] * 3)

    async def main():
        events = recorder(transport)
        for reason in ("Scheduled", "Pulled", "Created"):
            events.event(POD, "Normal", reason, "done")
        await events.flush()

    asyncio.run(main())
    written = sorted((body for _, _, body in transport.asked), key=lambda b: b["metadata"]["name"])
    assert [body["reason"] for body in written] == ["Scheduled", "Pulled", "Created"]


def test_a_name_that_is_taken_is_changed():
    taken = (409, status(409, "AlreadyExists", "taken"))
    transport = ScriptedTransport(answers=[taken, (201, {})])

    async def main():
        events = recorder(transport)
        events.event(POD, "Normal", "Pulled", "done")
        await events.flush()

    asyncio.run(main())
    first, second = (body["metadata"]["name"] for _, _, body in transport.asked)
    assert first != second


def test_a_repeat_is_counted_on_the_first_one():
    transport = ScriptedTransport(answers=[(201, {}), (200, {}), (200, {})])

    async def main():
        events = recorder(transport)
        for _ in range(3):
            events.event(POD, "Warning", "BackOff", "again")
        await events.flush()

    asyncio.run(main())
    name = transport.asked[0][2]["metadata"]["name"]
    assert [(m, p) for m, p, _ in transport.asked[1:]] == [
        ("PATCH", f"/api/v1/namespaces/ns/events/{name}")
    ] * 2
    assert [body["count"] for _, _, body in transport.asked] == [1, 2, 3]


def test_a_repeat_of_one_that_expired_is_written_anew_with_its_count():
    gone = (404, status(404, "NotFound", "gone"))
    transport = ScriptedTransport(answers=[(201, {}), gone, (201, {})])

    async def main():
        events = recorder(transport)
        events.event(POD, "Warning", "BackOff", "again")
        events.event(POD, "Warning", "BackOff", "again")
        await events.flush()

    asyncio.run(main())
    assert transport.asked[2][0] == "POST"
    assert transport.asked[2][2]["count"] == 2
    assert transport.asked[2][2]["metadata"] == transport.asked[0][2]["metadata"]


def test_a_refused_event_is_dropped_and_the_next_one_written():
    forbidden = (403, status(403, "Forbidden", "no"))
    transport = ScriptedTransport(answers=[forbidden, (201, {})])

    async def main():
        events = recorder(transport)
        events.event(POD, "Normal", "One", "1")
        events.event(POD, "Normal", "Two", "2")
        await events.flush()

    asyncio.run(main())
    assert transport.asked[1][2]["reason"] == "Two"


def test_a_flood_about_one_object_is_cut_and_others_still_pass():
    transport = ScriptedTransport(answers=[(201, {})] * (BURST + 1))
    other = {**POD, "metadata": {**POD["metadata"], "name": "b", "uid": "v"}}

    async def main():
        events = recorder(transport)
        for number in range(BURST * 2):
            events.event(POD, "Normal", "N", str(number))
        events.event(other, "Normal", "N", "other")
        await events.flush()

    asyncio.run(main())
    assert len(transport.asked) == BURST + 1
    assert transport.asked[-1][2]["message"] == "other"


SERVED = (200, {"resources": [{"name": "events"}]})


def series(transport, clock):
    transport.answers.insert(0, SERVED)
    return SeriesRecorder(Client(transport), "default-scheduler", clock=clock)


def test_the_scheduler_writes_events_of_the_newer_group():
    transport = ScriptedTransport(answers=[(201, {})])

    async def main():
        events = series(transport, FakeClock())
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        events.event(POD, "Normal", "Preempted", "x" * 2000, action="Preempting", related=node)
        await events.flush()

    asyncio.run(main())
    _, (method, path, body) = transport.asked
    assert (method, path) == ("POST", "/apis/events.k8s.io/v1/namespaces/ns/events")
    assert (body["regarding"]["name"], body["related"]["name"]) == ("a", "n")
    assert (body["action"], body["reportingController"]) == ("Preempting", "default-scheduler")
    assert body["reportingInstance"].startswith("default-scheduler-")
    assert body["eventTime"] == "2023-11-14T22:13:20.000000Z"
    assert (len(body["note"]), body["note"][-5:]) == (1024, "x ...")


def test_the_second_of_its_kind_begins_a_series_and_its_end_tells_the_count():
    gone = (404, status(404, "NotFound", "gone"))
    transport = ScriptedTransport(answers=[(201, {}), (200, {}), gone, (201, {})])

    async def main():
        clock = FakeClock()
        events = series(transport, clock)
        running = asyncio.ensure_future(events.run())
        for _ in range(5):
            events.event(POD, "Warning", "FailedScheduling", "no", action="Scheduling")
        await clock.advance(1)
        assert [method for method, _, _ in transport.asked] == ["GET", "POST", "PATCH"]
        for _ in range(3):
            await clock.advance(400)
        running.cancel()

    asyncio.run(main())
    assert transport.asked[2][2]["series"]["count"] == 2
    (_, _, patch), (method, _, anew) = transport.asked[3:]
    assert (patch["series"]["count"], method, anew["series"]["count"]) == (5, "POST", 5)
