"""The informer: cache, handlers, indexes, resuming, listing anew, reading our own writes."""

import asyncio
import contextlib

import orjson
import pytest
from scripted_transport import ScriptedTransport, reset, status

from muntin.kit.clock import FakeClock
from muntin.model.resources import PODS
from muntin.seams.kube import informer as informer_module
from muntin.seams.kube.client import Client
from muntin.seams.kube.informer import FAILURES, Informer


def pod(name, version, uid="", **labels):
    meta = {"name": name, "namespace": "ns", "uid": uid or name, "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "labels": labels}}


def listing(version, *pods):
    return 200, {"metadata": {"resourceVersion": str(version)}, "items": list(pods)}


def event(kind, obj):
    return orjson.dumps({"type": kind, "object": obj}) + b"\n"


def bookmark(version):
    return event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(version)}})


class Recorder:
    def __init__(self):
        self.seen = []

    def on_add(self, obj):
        self.seen.append(f"+{obj['metadata']['name']}{obj['metadata']['resourceVersion']}")

    def on_update(self, old, new):
        self.seen.append(f"~{new['metadata']['name']}{new['metadata']['resourceVersion']}")

    def on_delete(self, obj):
        self.seen.append(f"-{obj['metadata']['name']}")


async def settle():
    for _ in range(50):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def running(transport, **kwargs):
    clock = FakeClock()
    informer = Informer(Client(transport), PODS, clock=clock, **kwargs)
    recorder = Recorder()
    informer.add_handler(recorder)
    task = asyncio.ensure_future(informer.run())
    try:
        await settle()
        yield informer, recorder, clock
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def test_list_then_watch_fill_the_cache_and_tell_the_handlers():
    transport = ScriptedTransport(
        answers=[listing(5, pod("a", 3))],
        streams=[
            [
                event("ADDED", pod("b", 6)),
                event("MODIFIED", pod("a", 7)),
                event("DELETED", pod("b", 8)),
                None,
            ]
        ],
    )

    async def main():
        async with running(transport) as (informer, recorder, _):
            assert informer.synced.is_set()
            assert recorder.seen == ["+a3", "+b6", "~a7", "-b"]
            assert [obj["metadata"]["name"] for obj in informer] == ["a"]
            assert informer.resource_version == "8"

    asyncio.run(main())


def test_a_broken_watch_goes_on_from_the_last_revision_a_bookmark_included():
    transport = ScriptedTransport(
        answers=[listing(5)],
        streams=[[event("ADDED", pod("a", 6)), bookmark(9)], reset(), [None]],
    )

    async def main():
        async with running(transport) as (_, recorder, clock):
            await clock.advance(60)
            assert recorder.seen == ["+a6"]
        versions = [path.rsplit("=", 1)[1] for _, path, _ in transport.asked[1:]]
        assert versions == ["5", "9", "9"]

    asyncio.run(main())


def test_gone_means_a_new_list_whose_differences_are_told():
    gone = {"type": "ERROR", "object": status(410, "Expired", "too old")}
    transport = ScriptedTransport(
        answers=[
            listing(5, pod("a", 3), pod("b", 4), pod("c", 5)),
            listing(20, pod("a", 3), pod("b", 15), pod("d", 16)),
        ],
        streams=[[orjson.dumps(gone) + b"\n"], [None]],
    )

    async def main():
        async with running(transport) as (_, recorder, clock):
            await clock.advance(1)
            assert recorder.seen[:3] == ["+a3", "+b4", "+c5"]
            assert sorted(recorder.seen[3:]) == ["+d16", "-c", "~b15"]

    asyncio.run(main())


def test_a_server_that_is_away_is_asked_later_and_later():
    transport = ScriptedTransport(answers=[reset()] * 12 + [listing(5)])

    async def main():
        # Each list is three attempts a few hundredths of a second apart, on the real clock.
        async with running(transport) as (informer, _, clock):
            for _ in range(40):
                await asyncio.sleep(0.05)
                await clock.advance(1)
                if informer.synced.is_set():
                    break
            assert informer.synced.is_set()

    asyncio.run(main())


def test_indexes_follow_changes():
    transport = ScriptedTransport(
        answers=[listing(5, pod("a", 3, app="x"), pod("b", 4, app="x"))],
        streams=[[event("MODIFIED", pod("a", 6, app="y")), event("DELETED", pod("b", 7)), None]],
    )

    async def main():
        by_app = {"app": lambda obj: [obj["metadata"]["labels"].get("app", "")]}
        async with running(transport, indexers=by_app) as (informer, _, _):
            assert informer.by_index("app", "x") == []
            assert [o["metadata"]["name"] for o in informer.by_index("app", "y")] == ["a"]
            informer.add_indexer("name", lambda obj: [obj["metadata"]["name"]])
            assert len(informer.by_index("name", "a")) == 1

    asyncio.run(main())


def test_our_own_writes_are_read_before_the_watch_brings_them_and_told_once():
    go = asyncio.Event()
    transport = ScriptedTransport(answers=[listing(5)])

    async def watched():
        await go.wait()
        yield event("ADDED", pod("a", 6))

    async def main():
        @contextlib.asynccontextmanager
        async def stream(*args, **kwargs):
            yield type("S", (), {"status": 200, "chunks": watched()})()

        transport.stream = stream
        async with running(transport) as (informer, recorder, _):
            informer.observe(pod("a", 6))
            assert informer.get("ns/a") is not None
            go.set()
            await settle()
            assert recorder.seen == ["+a6"]

    asyncio.run(main())


def test_an_old_answer_does_not_bring_back_a_deleted_object():
    transport = ScriptedTransport(
        answers=[listing(5)],
        streams=[[event("ADDED", pod("a", 6)), event("DELETED", pod("a", 7)), None]],
    )

    async def main():
        async with running(transport) as (informer, recorder, _):
            informer.observe(pod("a", 6))
            assert informer.get("ns/a") is None
            assert recorder.seen == ["+a6", "-a"]

    asyncio.run(main())


def test_a_deletion_we_asked_for_shows_at_once():
    transport = ScriptedTransport(answers=[listing(5, pod("a", 3, uid="u"))], streams=[[None]])

    async def main():
        async with running(transport) as (informer, _, _):
            informer.observe_deletion("ns/a", "other", "2026-01-01T00:00:00Z")
            assert "deletionTimestamp" not in informer.get("ns/a")["metadata"]
            informer.observe_deletion("ns/a", "u", "2026-01-01T00:00:00Z")
            assert "deletionTimestamp" in informer.get("ns/a")["metadata"]

    asyncio.run(main())


def test_another_object_of_the_same_name_is_a_deletion_and_an_addition():
    transport = ScriptedTransport(
        answers=[listing(5, pod("a", 3, uid="one"))],
        streams=[[event("MODIFIED", pod("a", 6, uid="two")), None]],
    )

    async def main():
        async with running(transport) as (_, recorder, _):
            assert recorder.seen == ["+a3", "-a", "+a6"]

    asyncio.run(main())


class Failing(Recorder):
    """Fails on every object called ``bad``."""

    def on_add(self, obj):
        super().on_add(obj)
        if obj["metadata"]["name"] == "bad":
            raise KeyError("labels")

    def on_update(self, old, new):
        self.on_add(new)

    def on_delete(self, obj):
        self.on_add({**obj, "metadata": {**obj["metadata"], "resourceVersion": ""}})


def test_a_handler_that_fails_on_an_object_stops_nothing(caplog):
    transport = ScriptedTransport(
        answers=[listing(5, pod("bad", 3), pod("a", 4))],
        streams=[
            [
                event("MODIFIED", pod("bad", 6)),
                event("ADDED", pod("b", 7)),
                event("DELETED", pod("bad", 8)),
                event("ADDED", pod("c", 9)),
                None,
            ]
        ],
    )

    async def main():
        clock = FakeClock()
        informer = Informer(Client(transport), PODS, clock=clock)
        recorders = [Recorder(), Failing(), Recorder()]
        for recorder in recorders:
            informer.add_handler(recorder)
        task = asyncio.ensure_future(informer.run())
        await settle()
        assert not task.done()
        for recorder in (recorders[0], recorders[2]):
            assert recorder.seen == ["+bad3", "+a4", "~bad6", "+b7", "-bad", "+c9"]
        assert sorted(obj["metadata"]["name"] for obj in informer) == ["a", "b", "c"]
        late = Failing()
        informer.add_handler(late)
        assert len(late.seen) == 3
        task.cancel()

    before = FAILURES.values.get(("pods",), 0)
    asyncio.run(main())
    assert FAILURES.values[("pods",)] == before + 3
    logged = [row for row in caplog.records if row.message == "handler failed"]
    assert len(logged) == 1  # the same object is reported once
    assert logged[0].exc_info


def test_an_indexer_and_a_transform_that_fail_concern_their_object_only():
    def labels(obj):
        return [obj["metadata"]["labels"]["app"]]

    def slim(obj):
        if obj["metadata"]["name"] == "bad":
            raise TypeError("nothing to slim")
        obj["metadata"].pop("managedFields", None)
        return obj

    transport = ScriptedTransport(
        answers=[listing(5, pod("bad", 3), pod("a", 4, app="x"))],
        streams=[[event("DELETED", pod("bad", 6)), event("ADDED", pod("b", 7, app="x")), None]],
    )

    async def main():
        async with running(transport, indexers={"app": labels}, transform=slim) as (informer, *_):
            assert sorted(obj["metadata"]["name"] for obj in informer) == ["a", "b"]
            assert len(informer.by_index("app", "x")) == 2

    asyncio.run(main())


MALFORMED = [
    {},
    {"metadata": None},
    {"metadata": []},
    {"metadata": {}},
    {"metadata": {"name": 1}},
    {"metadata": {"name": "x", "namespace": 1, "resourceVersion": "6"}},
    {"metadata": {"name": "x", "resourceVersion": 6}},
    {"metadata": {"name": "x", "uid": [1], "resourceVersion": "6"}},
]


@pytest.mark.parametrize("strange", MALFORMED, ids=str)
def test_malformed_objects_of_an_aggregated_api_are_ignored(strange):
    transport = ScriptedTransport(
        answers=[listing(5, strange, pod("a", 4)), listing(5, pod("a", 4))],
        streams=[
            [
                *(event(kind, strange) for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK")),
                event("ADDED", pod("b", 7)),
                None,
            ]
        ],
    )

    async def main():
        async with running(transport) as (informer, recorder, _):
            assert recorder.seen == ["+a4", "+b7"]
            assert informer.synced.is_set()

    asyncio.run(main())


@pytest.mark.parametrize("strange", [None, 1, "x", []], ids=str)
def test_items_that_are_no_objects_are_left_out(strange):
    transport = ScriptedTransport(answers=[listing(5, strange, pod("a", 4))], streams=[[None]])

    async def main():
        async with running(transport) as (_, recorder, _):
            assert recorder.seen == ["+a4"]

    asyncio.run(main())


@pytest.mark.parametrize("version", ["²", "9" * 5000, "-1", "x", ""], ids=lambda text: text[:5])
def test_versions_that_are_no_numbers_are_as_old_as_can_be(version):
    assert informer_module._number(version) == 0
