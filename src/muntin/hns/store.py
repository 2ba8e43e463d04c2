"""The emulator's objects on disk: a journal of whole records, one JSON line a change.

A line that a crash cut short is ignored; opening compacts. A record's ``document`` is the version
2 form as the client gave it (unknown members included), ``meta`` what only the emulator knows.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from muntin.seams.hns import Kind, Object

_COMPACT_LINES = 20_000


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
        self._file: Any = None
        self._lines = 0
        if path is not None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._read(path)
            self._compact()

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

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

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
        if self._file is None:
            return
        self._file.write(line)
        self._lines += 1
        if self._lines > _COMPACT_LINES + 2 * sum(map(len, self._records.values())):
            self._compact()

    def _compact(self) -> None:
        assert self._path is not None
        part = self._path.with_name(self._path.name + ".part")
        part.write_bytes(b"".join(_line(kind, record) for kind, record in self))
        part.chmod(0o600)
        part.replace(self._path)
        self.close()
        # Unbuffered: each line reaches the kernel in one write before the client is answered.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._lines = 0


def _line(kind: Kind, record: Record) -> bytes:
    row = {"kind": kind, "id": record.id, "document": record.document, "meta": record.meta}
    return orjson.dumps(row) + b"\n"
