"""One suite for every store; a real etcd is the oracle of what each verb means."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from muntin.kit import errors
from muntin.seams.store import RevisionConflict
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd import EtcdStore
from muntin.seams.store.memory import MemoryStore
from muntin.seams.store.sqlite import SqliteStore


@pytest.fixture(params=["memory", "sqlite", "etcd", "etcd members"])
def opened(request, tmp_path):
    """A function that opens a store; each test uses a prefix of its own."""

    @asynccontextmanager
    async def open_store():
        if request.param == "memory":
            store = MemoryStore()
        elif request.param == "sqlite":
            store = await SqliteStore.open(tmp_path / "db")
        elif request.param == "etcd members":
            lab = request.getfixturevalue("etcd_members")
            store = await lab.store(prefix="/muntin/test")
        else:
            store = EtcdStore([Endpoint(path=request.getfixturevalue("etcd"))])
        try:
            yield store
        finally:
            await store.close()

    return open_store


@pytest.fixture
def prefix(request):
    return f"/{request.node.name}/"


def run(opened, scenario):
    async def main():
        async with opened() as store:
            await asyncio.wait_for(scenario(store), 20)

    asyncio.run(main())


def test_a_record_is_created_once(opened, prefix):
    async def scenario(store):
        first = await store.create(prefix + "a", b"one")
        record = await store.get(prefix + "a")
        assert (record.value, record.create_revision, record.mod_revision) == (b"one", first, first)
        with pytest.raises(errors.AlreadyExists):
            await store.create(prefix + "a", b"two")
        assert (await store.get(prefix + "a")).value == b"one"

    run(opened, scenario)


def test_update_and_delete_demand_the_current_revision(opened, prefix):
    async def scenario(store):
        key = prefix + "a"
        first = await store.create(key, b"one")
        second = await store.update(key, b"two", first)
        assert second > first
        with pytest.raises(RevisionConflict):
            await store.update(key, b"three", first)
        with pytest.raises(RevisionConflict):
            await store.delete(key, first)
        record = await store.get(key)
        assert (record.value, record.create_revision, record.mod_revision) == (
            b"two",
            first,
            second,
        )
        for verb in (store.update(key, b"x", 0), store.delete(key, 0)):
            with pytest.raises(RevisionConflict):
                await verb
        gone = await store.delete(key, second)
        assert gone > second
        for verb in (
            store.get(key),
            store.update(key, b"x", second),
            store.delete(key, second),
            store.update(key, b"x", 0),
            store.delete(key, 0),
        ):
            with pytest.raises(errors.NotFound):
                await verb
        again = await store.create(key, b"anew")
        assert (await store.get(key)).create_revision == again

    run(opened, scenario)


def test_of_two_writers_at_once_one_wins(opened, prefix):
    async def scenario(store):
        first = await store.create(prefix + "a", b"0")
        outcomes = await asyncio.gather(
            *(store.update(prefix + "a", b"%d" % n, first) for n in range(10)),
            return_exceptions=True,
        )
        won = [outcome for outcome in outcomes if isinstance(outcome, int)]
        assert len(won) == 1
        assert all(isinstance(o, RevisionConflict) for o in outcomes if o not in won)
        assert (await store.get(prefix + "a")).mod_revision == won[0]
        outcomes = await asyncio.gather(
            *(store.create(prefix + "b", b"%d" % n) for n in range(10)), return_exceptions=True
        )
        assert sum(isinstance(outcome, int) for outcome in outcomes) == 1

    run(opened, scenario)


def test_list_pages_count_and_order(opened, prefix):
    async def scenario(store):
        for name in ("c", "a", "b/x", "b", "é"):
            await store.create(prefix + name, name.encode())
        await store.create(prefix[:-1] + "0", b"outside")
        page = await store.list(prefix)
        names = [record.key.removeprefix(prefix) for record in page.records]
        assert names == ["a", "b", "b/x", "c", "é"]
        assert not page.more
        assert page.revision >= page.records[0].mod_revision
        assert await store.count(prefix) == 5
        first = await store.list(prefix, limit=2)
        assert first.more
        rest = await store.list(prefix, after=first.records[-1].key, revision=first.revision)
        assert [r.key.removeprefix(prefix) for r in rest.records] == ["b/x", "c", "é"]
        assert not rest.more
        exact = await store.list(prefix, limit=5)
        assert len(exact.records) == 5
        assert not exact.more

    run(opened, scenario)


def test_the_past_can_be_read_until_it_is_compacted(opened, prefix):
    async def scenario(store):
        first = await store.create(prefix + "a", b"old")
        await store.create(prefix + "b", b"b")
        second = await store.update(prefix + "a", b"new", first)
        third = await store.delete(prefix + "b", second - 1)
        assert (await store.get(prefix + "a", first)).value == b"old"
        assert [r.value for r in (await store.list(prefix, revision=second)).records] == [
            b"new",
            b"b",
        ]
        assert len((await store.list(prefix, revision=first)).records) == 1
        assert len((await store.list(prefix, revision=third)).records) == 1
        await store.compact(third)
        for read in (store.get(prefix + "a", first), store.list(prefix, revision=second)):
            with pytest.raises(errors.Gone):
                await read
        assert (await store.get(prefix + "a", third)).value == b"new"
        assert [r.value for r in (await store.list(prefix)).records] == [b"new"]
        with pytest.raises(errors.Gone):
            await store.compact(third)

    run(opened, scenario)


async def take(watch, wanted):
    """The next ``wanted`` changes, and whether progress ever ran back."""
    changes, progress = [], 0
    while len(changes) < wanted:
        batch = await anext(watch)
        assert batch.revision >= progress
        progress = batch.revision
        changes += batch.changes
    assert len(changes) == wanted
    return changes


def test_watch_gives_the_past_then_the_present(opened, prefix):
    async def scenario(store):
        start = await store.current_revision()
        first = await store.create(prefix + "a", b"1")
        await store.create(prefix[:-1] + "0", b"outside")
        second = await store.update(prefix + "a", b"2", first)
        watch = store.watch(prefix, start)
        past = await take(watch, 2)
        assert [(c.value, c.revision) for c in past] == [(b"1", first), (b"2", second)]
        assert {c.create_revision for c in past} == {first}
        third = await store.delete(prefix + "a", second)
        fourth = await store.create(prefix + "a", b"3")
        now = await take(watch, 2)
        assert [(c.key, c.value, c.revision) for c in now] == [
            (prefix + "a", None, third),
            (prefix + "a", b"3", fourth),
        ]
        await watch.aclose()
        later = store.watch(prefix, second)
        assert [c.revision for c in await take(later, 2)] == [third, fourth]
        await later.aclose()

    run(opened, scenario)


def test_what_a_watch_hands_over_is_not_iterated_over(opened, prefix):
    def refuse(batch):
        raise ValueError

    async def scenario(store):
        seen = []
        watch = store.watch(prefix, await store.current_revision())

        async def read():
            async for batch in watch:
                seen.extend(batch.changes)

        revision = await store.create(prefix + "a", b"0")
        watch.hand_to(lambda batch: seen.append("the past, which is read first"))
        reading = asyncio.ensure_future(read())
        for number in range(1, 40):
            revision = await store.update(prefix + "a", b"%d" % number, revision)
            if number % 3 == 0:
                with suppress(ValueError):
                    watch.hand_to(refuse)
            if number % 2:
                watch.hand_to(lambda batch: seen.extend(batch.changes))
            if number % 5 == 0:
                await asyncio.sleep(0)
        while len(seen) < 40:  # noqa: ASYNC110 - the watch tells, and is what is looked at
            await asyncio.sleep(0.01)
        assert [change.value for change in seen] == [b"%d" % number for number in range(40)]
        reading.cancel()
        await asyncio.wait([reading])

    run(opened, scenario)


def test_a_watch_comes_to_report_the_current_revision(opened, prefix):
    async def scenario(store):
        start = await store.current_revision()
        watch = store.watch(prefix, start)
        reading = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0.1)
        await store.create(prefix[:-1] + "0", b"outside")
        current = await store.current_revision()
        reached = (await reading).revision
        while reached < current:
            reached = (await anext(watch)).revision
        await watch.aclose()

    run(opened, scenario)


def test_a_watch_from_before_compaction_is_gone(opened, prefix):
    async def scenario(store):
        first = await store.create(prefix + "a", b"1")
        last = first
        for n in range(4):
            last = await store.update(prefix + "a", b"%d" % n, last)
        await store.compact(last)
        watch = store.watch(prefix, first)
        with pytest.raises(errors.Gone):
            await take(watch, 3)

    run(opened, scenario)


def test_a_closed_store_ends_its_watches(opened, prefix):
    async def main():
        async with opened() as store:
            watch = store.watch(prefix, await store.current_revision())
            reading = asyncio.ensure_future(take(watch, 1))
            await asyncio.sleep(0.05)
            await store.close()
            with pytest.raises(errors.Unavailable):
                await asyncio.wait_for(reading, 5)

    asyncio.run(main())


def test_many_writers_see_every_write_once_and_in_order(opened, prefix):
    async def scenario(store):
        watch = store.watch(prefix, await store.current_revision())

        async def writer(name):
            revision = await store.create(prefix + name, b"0")
            for n in range(1, 10):
                revision = await store.update(prefix + name, b"%d" % n, revision)

        await asyncio.gather(*(writer(f"k{n}") for n in range(20)))
        changes = await take(watch, 200)
        revisions = [c.revision for c in changes]
        assert revisions == sorted(set(revisions))
        for n in range(20):
            mine = [c.value for c in changes if c.key == f"{prefix}k{n}"]
            assert mine == [b"%d" % step for step in range(10)]
        await watch.aclose()

    run(opened, scenario)
