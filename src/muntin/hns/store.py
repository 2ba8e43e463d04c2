"""The emulator's objects on disk: a journal of whole records, one JSON line a change.

A line that a crash cut short is ignored; opening compacts. The file is longer than its lines: room
for the next changes is taken before they begin, so that none fails half way on a full disk; what is
behind the last line is zeros. A record's ``document`` is the version
2 form as the client gave it (unknown members included), ``meta`` what only the emulator knows.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from muntin.kit.errors import Unavailable
from muntin.kit.log import fields
from muntin.seams.hns import Kind, Object

log = logging.getLogger(__name__)

_COMPACT_LINES = 20_000
_ROOM_BYTES = 256 * 1024  # taken at a time
_CHANGE_BYTES = 64 * 1024  # at least there before a change begins


@dataclass(slots=True)
class Record:
    """One object. ``id`` is echoed in the case it was first written in."""

    id: str
    document: Object
    meta: dict[str, Any] = field(default_factory=dict)


class Store:
    """All collections, in the order of creation. Ids are found in any case."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._records: dict[Kind, dict[str, Record]] = {kind: {} for kind in Kind}
        self._file = -1
        self._end = self._size = self._lines = 0
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._read(path)
            try:
                self._compact()
            except OSError as err:  # a full disk; the journal stays as long as it is
                log.warning("journal not shortened", **fields(path=path, error=err))
                self._continue(path)

    def all(self, kind: Kind) -> list[Record]:
        return list(self._records[kind].values())

    def __iter__(self) -> Iterator[tuple[Kind, Record]]:
        for kind, records in self._records.items():
            for record in records.values():
                yield kind, record

    def get(self, kind: Kind, object_id: str) -> Record | None:
        return self._records[kind].get(object_id.upper())

    def put(self, kind: Kind, record: Record) -> None:
        """Add or replace ``record``; when this returns a crash of the process cannot lose it."""
        self._records[kind][record.id.upper()] = record
        self._append(_line(kind, record))

    def remove(self, kind: Kind, object_id: str) -> None:
        if self._records[kind].pop(object_id.upper(), None) is not None:
            self._append(orjson.dumps({"kind": kind, "id": object_id}) + b"\n")

    def make_room(self, change_bytes: int = 0) -> None:
        """Take room for one change, whose description has ``change_bytes``, before it begins.

        Raises:
            Unavailable: the disk is full.
        """
        wanted = self._end + _CHANGE_BYTES + 4 * change_bytes
        if self._file < 0 or self._size >= wanted:
            return
        size = wanted + _ROOM_BYTES
        try:
            os.posix_fallocate(self._file, 0, size)
        except OSError as err:
            raise Unavailable(f"{self._path}: no room for the change: {err.strerror}") from err
        self._size = size

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _read(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            for line in path.read_bytes().splitlines():
                with contextlib.suppress(orjson.JSONDecodeError):
                    self._replay(orjson.loads(line))

    def _replay(self, row: dict[str, Any]) -> None:
        records = self._records[Kind(row["kind"])]
        if "document" in row:
            records[row["id"].upper()] = Record(row["id"], row["document"], row["meta"])
        else:
            records.pop(row["id"].upper(), None)

    def _append(self, line: bytes) -> None:
        if self._file < 0:
            return
        # One write: it reaches the kernel before the client is answered.
        if os.pwrite(self._file, line, self._end) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._end += len(line)
        self._size = max(self._size, self._end)
        self._lines += 1
        if self._lines > _COMPACT_LINES + 2 * sum(map(len, self._records.values())):
            self._lines = 0  # what fails is tried again as many lines later
            with contextlib.suppress(OSError):
                self._compact()

    def _compact(self) -> None:
        assert self._path is not None
        part = self._path.with_name(self._path.name + ".part")
        try:
            part.write_bytes(b"".join(_line(kind, record) for kind, record in self))
            part.chmod(0o600)
            part.replace(self._path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        self._continue(self._path)

    def _continue(self, path: Path) -> None:
        """Write behind the last whole line of the journal from now on."""
        self.close()
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        data = path.read_bytes()
        self._end, self._size, self._lines = data.rfind(b"\n") + 1, len(data), 0


def _line(kind: Kind, record: Record) -> bytes:
    row = {"kind": kind, "id": record.id, "document": record.document, "meta": record.meta}
    return orjson.dumps(row) + b"\n"
