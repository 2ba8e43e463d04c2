"""Copies of the SQLite store that is in use: whole, private, never over another file."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
from pathlib import Path

import pytest

from muntin.cluster import paths, snapshot
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit.errors import AlreadyExists, Conflict, Invalid, NotFound
from muntin.seams.store import sqlite_backup
from muntin.seams.store.sqlite import SqliteStore


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_copies_under_load_are_prefixes_of_what_was_written(tmp_path):
    """Each copy holds the changes up to its revision, all of them, and nothing later."""
    copies: dict[Path, int] = {}

    def copy_often() -> None:
        for number in range(10):
            target = tmp_path / f"copy{number}"
            copies[target] = sqlite_backup.copy(tmp_path / "db", target)

    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "db")
        copier = threading.Thread(target=copy_often)
        copier.start()
        for number in itertools.count():
            await store.create(f"/k/{number:06}", b"v" * 500)
            if not copier.is_alive():
                break
        await store.close()
        for target, newest in copies.items():
            assert mode(target) == 0o600
            again = await SqliteStore.open(target)
            assert await again.current_revision() == newest
            kept = [record.mod_revision for record in (await again.list("/k/")).records]
            assert kept == list(range(2, newest + 1))
            await again.close()

    asyncio.run(run())
    assert len(copies) == 10
    assert len(set(copies.values())) > 1, "nothing was written between the copies"


def test_only_the_owner_can_read_a_stores_files(tmp_path):
    (tmp_path / "db").touch(0o644)

    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "db")
        await store.create("/k/a", b"secret")
        assert {path.name: mode(path) for path in tmp_path.iterdir()} == {
            "db": 0o600,
            "db-wal": 0o600,
            "db-shm": 0o600,
        }
        await store.close()

    asyncio.run(run())


def test_nothing_is_replaced_and_nothing_is_left(tmp_path):
    asyncio.run(empty_store(tmp_path / "db"))
    target = tmp_path / "copy"
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(AlreadyExists, match="exists already"):
        sqlite_backup.copy(tmp_path / "db", target)
    for source in ("absent", "copy"):
        with pytest.raises(NotFound, match="no such file"):
            sqlite_backup.put_back(tmp_path / source, tmp_path / "other")
    with pytest.raises(NotFound, match="no store exists there"):
        sqlite_backup.copy(tmp_path / "absent", tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "db"]


async def empty_store(path: Path) -> None:
    await (await SqliteStore.open(path)).close()


def test_damaged_and_foreign_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database" * 100)
    with sqlite3.connect(tmp_path / "foreign") as other:
        other.execute("CREATE TABLE x (y)")
    asyncio.run(empty_store(tmp_path / "db"))
    whole = (tmp_path / "db").read_bytes()
    (tmp_path / "damaged").write_bytes(whole[:4096] + b"\x55" * (len(whole) - 4096))
    for name in ("text", "foreign", "damaged"):
        with pytest.raises(Invalid, match=name):
            sqlite_backup.check(tmp_path / name)


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "STATE_ROOT", tmp_path / "state")
    return resolve(apply(Draft(), Overrides(name="snap")))


def test_a_new_cluster_begins_with_the_snapshot_of_another(config, tmp_path):
    async def write() -> None:
        store = await SqliteStore.open(tmp_path / "db")
        await store.create("/registry/x", b"1")
        await store.close()

    async def read() -> bytes:
        store = await SqliteStore.open(database)
        value = (await store.get("/registry/x")).value
        await store.close()
        return value

    asyncio.run(write())
    file, database = tmp_path / "file", paths.ClusterPaths("snap").database
    sqlite_backup.copy(tmp_path / "db", file)
    snapshot.check(config, file)
    snapshot.put_back(config, file)
    assert asyncio.run(read()) == b"1"
    assert (mode(database), mode(database.parent)) == (0o600, 0o700)
    with pytest.raises(Conflict, match="muntin down --name snap"):
        snapshot.check(config, file)
    again = tmp_path / "again"
    assert snapshot.take(config, again) == 2
    assert mode(again) == 0o600


def test_an_etcd_is_not_copied(tmp_path):
    config = resolve(apply(Draft(), Overrides(name="snap", store="etcd")))
    for refused in (snapshot.check, snapshot.take):
        with pytest.raises(Invalid, match="etcdctl snapshot save"):
            refused(config, tmp_path / "file")
