"""A full disk under HNS' journal and a component's log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin.hns.store import Record, Store
from muntin.kit import disk, files
from muntin.kit.errors import Unavailable
from muntin.seams.hns import Kind


def record(number: int) -> Record:
    return Record(f"id{number}", {"Name": "n" * 1000}, {})


def ids(store: Store) -> list[str]:
    return [item.id for item in store.all(Kind.ENDPOINT)]


def test_the_journal_takes_room_before_a_change_and_is_read_on_a_full_disk(
    small_disk: Path, use_up: Callable[[Path], Path]
) -> None:
    path = small_disk / "hns.journal"
    store = Store(path)
    store.make_room()
    store.put(Kind.ENDPOINT, record(0))
    ballast = use_up(small_disk)
    made = ["id0"]

    def put_more() -> None:
        for number in range(1, 1000):
            store.make_room()
            store.put(Kind.ENDPOINT, record(number))
            made.append(f"id{number}")

    with pytest.raises(Unavailable, match=r"hns\.journal: no room for the change: No space left"):
        put_more()
    assert len(made) > 100, "there was room for 256 KiB"
    again = Store(path)
    assert ids(again) == made
    with pytest.raises(Unavailable):
        again.make_room()
    again.remove(Kind.ENDPOINT, "id0")
    ballast.unlink()
    again.make_room()
    again.put(Kind.ENDPOINT, record(5000))
    assert ids(Store(path)) == [*made[1:], "id5000"]
    for opened in (store, again):
        opened.close()
    assert sorted(item.name for item in small_disk.iterdir()) == ["hns.journal"]


def test_a_padded_file_is_written_over_on_a_full_disk(
    small_disk: Path, use_up: Callable[[Path], Path]
) -> None:
    path = small_disk / "supervisor.json"
    files.put_padded(path, b"{}")
    use_up(small_disk)
    files.put_padded(path, b'{"name": "' + b"x" * 2000 + b'"}')
    files.put_padded(path, b'{"name": "y"}')
    assert json.loads(path.read_text()) == {"name": "y"}
    with pytest.raises(OSError, match="No space left"):
        files.put_padded(path, b" " * 100_000)


def test_a_file_that_is_as_it_should_be_needs_no_room(
    small_disk: Path, use_up: Callable[[Path], Path]
) -> None:
    kept = small_disk / "hosts"
    files.keep(kept, b"text")
    assert not disk.is_full(small_disk)
    use_up(small_disk)
    assert disk.is_full(small_disk)
    files.keep(kept, b"text")
    with pytest.raises(OSError, match="No space left"):
        files.keep(kept, b"other")
    assert kept.read_bytes() == b"text"
    assert sorted(item.name for item in small_disk.iterdir()) == ["ballast", "hosts"]
