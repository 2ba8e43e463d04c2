"""What only the SQLite store promises: durability, restarts, and undoing a failed commit."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from muntin.kit import errors
from muntin.seams.store import sqlite, sqlite_files
from muntin.seams.store.sqlite import SqliteStore

WRITER = """
import asyncio, sys
from pathlib import Path
from muntin.seams.store.sqlite import SqliteStore

async def write(store, name):
    revision = await store.create(f"/k/{name}", b"0")
    for n in range(1, 10**9):
        revision = await store.update(f"/k/{name}", b"%d" % n, revision)
        print(name, n, revision, flush=True)

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    await asyncio.gather(*(write(store, name) for name in "abcd"))

asyncio.run(main())
"""


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_acknowledged_writes_survive_kill_9(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "db")], stdout=subprocess.PIPE, text=True
    ) as process:
        lines = [process.stdout.readline() for _ in range(100)]
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    acknowledged = {}
    newest = 0
    for line in lines:
        if line.count(" ") == 2 and line.endswith("\n"):
            name, value, revision = line.split()
            acknowledged[name] = int(value)
            newest = max(newest, int(revision))

    async def check():
        store = await SqliteStore.open(tmp_path / "db")
        assert len(acknowledged) == 4
        for name, value in acknowledged.items():
            assert int((await store.get(f"/k/{name}")).value) >= value
        assert await store.current_revision() >= newest
        await store.close()

    run(check)


def test_revision_and_history_survive_a_restart(tmp_path):
    async def scenario():
        store = await SqliteStore.open(tmp_path / "db")
        first = await store.create("/k/a", b"1")
        second = await store.update("/k/a", b"2", first)
        last = await store.delete("/k/a", second)
        await store.close()
        store = await SqliteStore.open(tmp_path / "db")
        assert await store.current_revision() == last
        watch = store.watch("/k/", first)
        batch = await anext(watch)
        assert [(c.value, c.revision) for c in batch.changes] == [(b"2", second), (None, last)]
        await watch.aclose()
        await store.compact(last)
        await store.close()
        store = await SqliteStore.open(tmp_path / "db")
        assert await store.current_revision() == last
        assert await store.create("/k/b", b"x") == last + 1
        with pytest.raises(errors.Gone):
            await store.get("/k/a", first)
        await store.close()

    run(scenario)


def test_a_failed_commit_undoes_what_was_queued(tmp_path):
    async def scenario():
        store = await SqliteStore.open(tmp_path / "db")
        first = await store.create("/k/a", b"1")
        with sqlite3.connect(tmp_path / "db") as other:
            other.execute(
                "CREATE TRIGGER poison BEFORE INSERT ON log WHEN NEW.value = x'00'"
                " BEGIN SELECT RAISE(ABORT, 'no space left'); END"
            )
        other.close()
        watch = store.watch("/k/", first)
        outcomes = await asyncio.gather(
            store.update("/k/a", b"\0", first),
            store.create("/k/b", b"b"),
            store.update("/k/a", b"3", first + 1),
            return_exceptions=True,
        )
        assert all(isinstance(o, errors.Unavailable) for o in outcomes)
        assert "no space left" in str(outcomes[0])
        assert await store.current_revision() == first
        assert (await store.get("/k/a")).value == b"1"
        with pytest.raises(errors.NotFound):
            await store.get("/k/b")
        second = await store.update("/k/a", b"2", first)
        assert second == first + 1
        batch = await anext(watch)
        assert [c.value for c in batch.changes] == [b"2"]
        await watch.aclose()
        await store.close()

    run(scenario)


def test_what_was_durable_before_a_failed_commit_can_be_asked_for_after_it(tmp_path):
    async def scenario():
        store = await SqliteStore.open(tmp_path / "db")
        first = await store.create("/k/a", b"1")
        with sqlite3.connect(tmp_path / "db") as other:
            other.execute(
                "CREATE TRIGGER poison BEFORE INSERT ON log WHEN NEW.value = x'00'"
                " BEGIN SELECT RAISE(ABORT, 'no space left'); END"
            )
        going = asyncio.ensure_future(store.delete("/k/a", first))
        await asyncio.sleep(0)
        store._send()
        while other.execute("SELECT max(rev) FROM log").fetchone()[0] == first:
            time.sleep(0.001)  # noqa: ASYNC251 - the loop shall not be told before it is used again
        other.close()
        coming = store._write("/k/a", b"\0", created=0)
        assert await going == first + 1
        with pytest.raises(errors.Unavailable, match="no space left"):
            await coming
        for wrong in (store.update("/k/a", b"2", first), store.delete("/k/a", first)):
            with pytest.raises(errors.NotFound):
                await wrong
        assert await store.create("/k/a", b"3") == first + 2
        await store.close()

    run(scenario)


def test_a_writer_that_gives_up_takes_nothing_back(tmp_path):
    async def scenario():
        store = await SqliteStore.open(tmp_path / "db")
        writing = asyncio.ensure_future(store.create("/k/a", b"1"))
        await asyncio.sleep(0)
        assert store._unsent
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        with pytest.raises(errors.AlreadyExists):  # once it is known that it is there
            await store.create("/k/a", b"2")
        assert await store.count("/k/") == 1
        assert (await store.get("/k/a")).value == b"1"
        await store.close()

    run(scenario)


def test_reading_waits_for_a_queued_write(tmp_path):
    async def scenario():
        store = await SqliteStore.open(tmp_path / "db")
        writing = asyncio.ensure_future(store.create("/k/a", b"1"))
        await asyncio.sleep(0)
        assert (await store.get("/k/a")).value == b"1"
        assert await writing
        await store.close()

    run(scenario)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "db").write_bytes(b"not a database, but long enough to be read as one" * 100)

    async def scenario():
        with pytest.raises(errors.Unavailable, match="cannot be opened"):
            await SqliteStore.open(tmp_path / "db")

    run(scenario)


GROWN = """
import asyncio, sys
from pathlib import Path
from muntin.seams.store import sqlite_files
sqlite_files.IDLE_S, sqlite_files.LOG_BYTES, sqlite_files.LOG_FRAMES = 0.01, 1024 * 1024, 100
sqlite_files.CHECKPOINT_INTERVAL_S = 0.01
from muntin.seams.store.sqlite import SqliteStore

async def main():
    path = Path(sys.argv[1])
    store = await SqliteStore.open(path)
    log = Path(f"{path}-wal")
    revision = await store.create("/k/a", b"0")
    while log.stat().st_size < 1024 * 1024:
        await asyncio.sleep(0.01)
    for n in range(1, 10**9):
        revision = await store.update("/k/a", b"%08d" % n * 1000, revision)
        print(n, log.stat().st_size, flush=True)
        if n % 50 == 0:  # the thread that makes checkpoints gets its turn
            store._writer._frames = 0
            store._writer._dirty.set()
            while not store._writer._frames:
                await asyncio.sleep(0.001)

asyncio.run(main())
"""


def test_a_log_that_was_given_its_size_keeps_what_was_acknowledged(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", GROWN, str(tmp_path / "db")], stdout=subprocess.PIPE, text=True
    ) as process:
        lines = [process.stdout.readline() for _ in range(600)]
        os.kill(process.pid, signal.SIGKILL)
    number, size = map(int, lines[-1].split())

    async def check():
        store = await SqliteStore.open(tmp_path / "db")
        assert int((await store.get("/k/a")).value[:8]) >= number
        await store.close()

    run(check)
    # 600 changes of two pages and more are five megabytes: it was begun anew meanwhile.
    assert size < 4 * 1024 * 1024


async def settled(path):
    """A store whose commits were quick of late, whatever this disk is, and its newest revision."""
    store = await SqliteStore.open(path)
    revision = await store.create("/k/a", b"0")
    while not store._writer._grown:  # noqa: ASYNC110 - a thread grows it, and tells nobody
        await asyncio.sleep(0.01)
    for number in range(1, sqlite_files.QUICK_IN_A_ROW):
        revision = await store.update("/k/a", b"%d" % number, revision)
    return store, revision


@pytest.fixture
def threads(monkeypatch):
    """Which threads commit; every commit counts as quick, and the log is small."""
    found = []

    class Watched(sqlite_files.Writer):
        def _insert(self, rows):
            found.append(threading.current_thread().name)
            super()._insert(rows)

    monkeypatch.setattr(sqlite_files, "QUICK_S", 10.0)
    monkeypatch.setattr(sqlite_files, "IDLE_S", 0.01)
    monkeypatch.setattr(sqlite_files, "LOG_BYTES", 64 * 1024)
    monkeypatch.setattr("muntin.seams.store.sqlite.Writer", Watched)
    return found


def test_a_lone_change_is_committed_without_another_thread_while_the_disk_is_quick(
    tmp_path, threads, monkeypatch
):
    async def check():
        store, revision = await settled(tmp_path / "db")
        assert set(threads) == {"store-writer"}
        threads.clear()
        watch = store.watch("/k/", revision)
        revision = await store.update("/k/a", b"alone", revision)
        assert threads == ["MainThread"]
        assert [change.value for change in (await anext(watch)).changes] == [b"alone"]
        await watch.aclose()
        await asyncio.gather(*(store.create(f"/k/{name}", b"x") for name in "bcd"))
        assert threads[1:] == ["MainThread", "store-writer"]  # of the second another was known
        monkeypatch.setattr(sqlite_files, "QUICK_S", 0.0)
        for number in range(3):  # the first of them shows how slow the disk is now
            revision = await store.update("/k/a", b"slow %d" % number, revision)
        assert threads[3:] == ["MainThread", "store-writer", "store-writer"]
        await store.close()
        store = await SqliteStore.open(tmp_path / "db")
        assert (await store.get("/k/a")).value == b"slow 2"
        await store.close()

    run(check)


def test_who_writes_alone_is_answered_before_the_turn_ends_and_so_is_who_watches(tmp_path, threads):
    async def check():
        store, revision = await settled(tmp_path / "db")
        for number in range(sqlite.LONE_IN_A_ROW):
            revision = await store.update("/k/a", b"alone %d" % number, revision)
            await asyncio.sleep(0)
        watch = store.watch("/k/", revision)
        reading = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        with pytest.raises(StopIteration) as answered:
            store.update("/k/a", b"now", revision).send(None)  # it waits for nothing
        handed = []
        watch.hand_to(handed.append)
        (change,) = handed[0].changes
        assert (change.value, change.revision) == (b"now", answered.value.value)
        assert set(threads[-sqlite.LONE_IN_A_ROW :]) == {"MainThread"}
        second = store.update("/k/a", b"no longer alone", change.revision)
        assert asyncio.isfuture(second.send(None))  # so that nobody has the loop for themselves
        second.close()
        reading.cancel()
        await asyncio.wait([reading])
        await watch.aclose()
        await store.close()

    run(check)


def test_a_lone_change_that_fails_is_undone(tmp_path, threads):
    async def check():
        store, revision = await settled(tmp_path / "db")
        with sqlite3.connect(tmp_path / "db") as other:
            other.execute(
                "CREATE TRIGGER poison BEFORE INSERT ON log WHEN NEW.value = x'00'"
                " BEGIN SELECT RAISE(ABORT, 'no space left'); END"
            )
        other.close()
        with pytest.raises(errors.Unavailable, match="no space left"):
            await store.update("/k/a", b"\0", revision)
        assert threads[-1] == "MainThread"
        assert await store.current_revision() == revision
        assert await store.update("/k/a", b"after", revision) == revision + 1
        assert threads[-1] == "store-writer"  # which is asked until the disk has shown itself well
        await store.close()

    run(check)


def test_durability_is_what_the_connection_that_commits_says(tmp_path):
    async def check():
        store = await SqliteStore.open(tmp_path / "db")
        await store.create("/k/a", b"0")
        assert store.durability == ("sqlite", "wal", "FULL")
        await store.close()

    run(check)


@pytest.mark.parametrize("count", [1, 2, 64, 65, 600])
def test_changes_made_at_once_are_all_there_in_order_after_a_restart(tmp_path, count):
    keys = [f"/k/{number:03d}" for number in range(count)]

    async def check():
        store = await SqliteStore.open(tmp_path / "db")
        revisions = await asyncio.gather(*(store.create(key, key.encode()) for key in keys))
        assert revisions == sorted(revisions)
        await store.close()
        store = await SqliteStore.open(tmp_path / "db")
        page = await store.list("/k/")
        assert [(r.key, r.value, r.mod_revision) for r in page.records] == [
            (key, key.encode(), revision) for key, revision in zip(keys, revisions, strict=True)
        ]
        await store.close()

    run(check)
