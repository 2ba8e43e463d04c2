"""What the runtime knows, on disk: one folder per sandbox and per container, one JSON file each.

A record is written atomically before the call that made it returns, so that a killed node process
loses nothing. The file of a container is written last when it is created and removed first when
it goes: a folder without a record is a leftover.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from muntin.kit import files, mounts
from muntin.kit.errors import NotFound

_RECORD = "record.json"


@dataclass(slots=True, kw_only=True)
class SandboxRecord:
    """``config`` is the PodSandboxConfig as it was given; ``pause_started`` detects a reused pid.

    ``first_id`` is the host's id of the containers' root; 0 without user namespaces.
    """

    id: str
    config: dict[str, Any]
    runtime_handler: str = ""
    created_at: int
    namespace_id: str = ""
    netns: str = ""
    ips: list[str] = field(default_factory=list)
    pause_pid: int = 0
    pause_started: str = ""
    stopped: bool = False
    network_attached: bool = False
    first_id: int = 0

    @property
    def metadata(self) -> Mapping[str, Any]:
        """PodSandboxMetadata."""
        return self.config.get("metadata") or {}


@dataclass(slots=True, kw_only=True)
class ContainerRecord:
    """``config`` is the ContainerConfig as it was given; times are nanoseconds, 0 for not yet.

    ``wine_bytes`` is the memory that Wine used when the container's program was about to run; it
    does not count towards the container's limit and usage.
    """

    id: str
    sandbox_id: str
    config: dict[str, Any]
    image_ref: str
    image_id: str
    user: str
    uid: int
    log_path: str
    created_at: int
    started_at: int = 0
    finished_at: int = 0
    pid: int = 0
    wine_bytes: int = 0
    inside: bool = False
    starting: bool = False
    exit_code: int = 0
    reason: str = ""
    message: str = ""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """ContainerMetadata."""
        return self.config.get("metadata") or {}


Record = TypeVar("Record", SandboxRecord, ContainerRecord)


class Store(Generic[Record]):
    """The records of one kind below ``root``."""

    def __init__(self, root: Path, kind: type[Record], noun: str) -> None:
        self._root = root
        self._kind: Callable[..., Record] = kind
        self._noun = noun
        self._records: dict[str, Record] = {}

    def load(self) -> list[str]:
        """Read what is on disk; gives the names of folders that are leftovers of a crash."""
        self._root.mkdir(parents=True, exist_ok=True)
        leftovers = []
        for folder in self._root.iterdir():
            try:
                document = orjson.loads((folder / _RECORD).read_bytes())
                self._records[folder.name] = self._kind(**document)
            except (OSError, ValueError, TypeError):
                leftovers.append(folder.name)
        return leftovers

    def folder(self, record_id: str) -> Path:
        """Where the files of one are."""
        return self._root / record_id

    def save(self, record: Record) -> None:
        """Write a record; new or changed."""
        folder = self.folder(record.id)
        folder.mkdir(parents=True, exist_ok=True)
        files.put(folder / _RECORD, orjson.dumps(asdict(record), default=_text))
        self._records[record.id] = record

    def remove(self, record_id: str) -> None:
        """Forget a record and remove its folder; absent is fine."""
        self._records.pop(record_id, None)
        folder = self.folder(record_id)
        (folder / _RECORD).unlink(missing_ok=True)
        remove_folder(folder)

    def find(self, record_id: str) -> Record | None:
        """The record with that id, or with the only id that begins so."""
        if record := self._records.get(record_id):
            return record
        found = [r for key, r in self._records.items() if record_id and key.startswith(record_id)]
        return found[0] if len(found) == 1 else None

    def get(self, record_id: str) -> Record:
        """The same.

        Raises:
            NotFound: there is none.
        """
        if record := self.find(record_id):
            return record
        raise NotFound(f'an error occurred when try to find {self._noun} "{record_id}": not found')

    def __iter__(self) -> Iterator[Record]:
        return iter(sorted(self._records.values(), key=lambda r: (r.created_at, r.id)))


def new_id() -> str:
    """64 hex digits, as containerd's."""
    return secrets.token_hex(32)


def _text(value: object) -> str:
    """Values of environment variables are bytes on the wire."""
    if isinstance(value, bytes):
        return os.fsdecode(value)
    raise TypeError(f"cannot write {type(value).__name__}")


def has_labels(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Whether all of ``selector`` is in ``labels``."""
    return all(labels.get(key) == value for key, value in selector.items())


def remove_folder(folder: Path) -> None:
    """Remove the files of a record, with what is mounted among them; absent is fine."""
    if not folder.exists():
        return
    for row in reversed(mounts.below([folder])):
        mounts.detach(row.target)
    mounts.remove_tree(folder)
