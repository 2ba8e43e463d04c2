"""A full disk under the SQLite store: what fails is undone, what was acknowledged stays."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin.kit import errors
from muntin.seams.store import sqlite_backup
from muntin.seams.store.sqlite import SqliteStore

VALUE = b"v" * 20_000


WRITER_THAT_FILLS = """
import asyncio, os, signal, sys
from pathlib import Path
from muntin.seams.store import sqlite_backup
from muntin.seams.store.sqlite import SqliteStore

async def main():
    folder = Path(sys.argv[1])
    store = await SqliteStore.open(folder / "db")
    for number in range(20):
        await store.create(f"/k/{number}", b"v" * 2000)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_a_killed_store_is_opened_on_a_full_disk_and_recovers(
    small_disk: Path, use_up: Callable[[Path], Path]
) -> None:
    subprocess.run([sys.executable, "-c", WRITER_THAT_FILLS, str(small_disk)], check=False)
    database = small_disk / "db"
    # SQLite shrinks this file before it writes it again: another program may take the room.
    Path(f"{database}-shm").unlink()
    ballast = use_up(small_disk)

    async def run() -> None:
        store = await SqliteStore.open(database)
        assert await store.count("/k/") == 20
        assert (await store.list("/k/", limit=5)).more
        message = f"the disk of the cluster's state is full: no room in {small_disk}"
        for _ in range(2):
            with pytest.raises(errors.Unavailable, match=message):
                await store.create("/k/refused", b"x")
        with pytest.raises(errors.Unavailable, match="full disk"):
            sqlite_backup.copy(database, small_disk / "copy")
        ballast.unlink()
        await store.create("/k/after", b"room again")
        assert copied_elsewhere(small_disk).startswith(
            f"{database} is locked, because the control plane"
        )
        await store.close()
        again = await SqliteStore.open(database)
        assert await again.count("/k/") == 21
        await again.close()

    asyncio.run(run())


COPIER = """
import sys
from pathlib import Path
from muntin.kit.errors import Unavailable
from muntin.seams.store import sqlite_backup
sqlite_backup._BUSY_S = 0.1
try:
    sqlite_backup.copy(Path(sys.argv[1], "db"), Path(sys.argv[1], "copy"))
except Unavailable as err:
    print(err)
"""


def copied_elsewhere(folder: Path) -> str:
    """What another process says that copies the store."""
    command = [sys.executable, "-c", COPIER, str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


def test_a_new_store_on_a_full_disk_says_so(
    small_disk: Path, use_up: Callable[[Path], Path]
) -> None:
    use_up(small_disk)

    async def run() -> None:
        with pytest.raises(errors.Unavailable, match=f"is full: no room in {small_disk}"):
            await SqliteStore.open(small_disk / "db")

    asyncio.run(run())


async def fill(store: SqliteStore, kept: list[str]) -> None:
    for number in range(200):
        await store.create(f"/k/{number}", VALUE)
        kept.append(f"/k/{number}")


def test_a_full_disk_refuses_writes_until_there_is_room(small_disk: Path) -> None:
    async def run() -> None:
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(200_000))
        store = await SqliteStore.open(small_disk / "db")
        kept: list[str] = []
        with pytest.raises(errors.Unavailable, match="full"):
            await fill(store, kept)
        assert kept
        assert (await store.get(kept[-1])).value == VALUE
        with pytest.raises(errors.NotFound):
            await store.get(f"/k/{len(kept)}")
        ballast.unlink()
        revision = await store.create("/k/after", b"room again")
        await store.close()
        again = await SqliteStore.open(small_disk / "db")
        for key in kept:
            assert (await again.get(key)).value == VALUE
        assert (await again.get("/k/after")).mod_revision == revision
        await again.close()

    asyncio.run(run())
