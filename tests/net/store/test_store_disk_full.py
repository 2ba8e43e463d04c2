"""A full disk under the SQLite store: what fails is undone, what was acknowledged stays."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin.kit import errors
from muntin.seams.store.sqlite import SqliteStore

SIZE = "1m"
VALUE = b"v" * 20_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "muntin-test-disk", str(tmp_path)],
        check=True,
    )
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


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
