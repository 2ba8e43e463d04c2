"""The store seam: what the API server needs of its database, with etcd's meaning.

Every write takes the next revision of one counter for the whole store, and a revision is never
used twice, not even after a restart. A record knows the revision that created it and the one
that last changed it; a write may demand the latter. History is kept from the compacted revision
on: it can be read at any of its revisions and watched from there.
Implementations: ``memory``, ``sqlite`` (the default, durable), ``etcd`` (a real one, over gRPC).
Source: etcd v3.4 API, api/etcdserverpb/rpc.proto.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from muntin.kit import errors


class RevisionConflict(errors.Conflict):
    """The record is not at the revision that the writer expected."""


@dataclass(frozen=True, slots=True)
class Record:
    """One key at one revision."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int


@dataclass(frozen=True, slots=True)
class Change:
    """What one write did: ``value`` is None for a deletion."""

    key: str
    value: bytes | None
    create_revision: int
    revision: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes in order of their revisions, complete up to ``revision`` (there may be none)."""

    revision: int
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Records in order of their keys as of ``revision``; ``more`` says that a limit cut it."""

    revision: int
    records: list[Record]
    more: bool = False


class Durability(NamedTuple):
    """How writes are made durable: by what, and SQLite's settings of the same names, or ""."""

    engine: str
    journal_mode: str = ""
    synchronous: str = ""


class Watch(Protocol):
    """An iterator of changes, which a generator would do for but for `hand_to`."""

    def __aiter__(self) -> Watch: ...

    def __anext__(self) -> Awaitable[Changes]: ...

    def hand_to(self, take: Callable[[Changes], None]) -> None:
        """Give ``take`` at once what has come and waits to be iterated over, if that is known.

        It is not iterated over any more, unless ``take`` raises something.
        """

    async def aclose(self) -> None:
        """End it."""


class Store(Protocol):
    """The verbs. A write returns once it is durable; ``revision`` 0 stands for the newest.

    Any method raises ``Unavailable`` when the database cannot be reached or cannot write; such a
    write may or may not have happened on etcd, and has not happened on the others.
    """

    async def get(self, key: str, revision: int = 0) -> Record:
        """The record of ``key``, including every write acknowledged before this call.

        Raises:
            NotFound: there is none at that revision.
            Gone: the revision was compacted.
        """

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 0, revision: int = 0
    ) -> Page:
        """The records whose keys begin with ``prefix`` and come after the key ``after``.

        Raises:
            Gone: the revision was compacted.
        """

    async def count(self, prefix: str) -> int:
        """How many records have keys that begin with ``prefix``."""

    async def create(self, key: str, value: bytes) -> int:
        """Store a new key and return the revision of this write.

        Raises:
            AlreadyExists: the key has a record.
        """

    async def update(self, key: str, value: bytes, expected: int) -> int:
        """Replace the record that was last changed at revision ``expected``.

        Raises:
            NotFound: the key has no record.
            RevisionConflict: it was changed since.
        """

    async def delete(self, key: str, expected: int) -> int:
        """Delete the record that was last changed at ``expected``; the deletion has a revision.

        Raises:
            NotFound: the key has no record.
            RevisionConflict: it was changed since.
        """

    def watch(self, prefix: str, after: int) -> Watch:
        """All changes of keys that begin with ``prefix`` and are newer than revision ``after``.

        Ends only when closed. Raises (from the first step on):
            Gone: a revision after ``after`` was compacted.
            Unavailable: the connection to the database was lost; watch again from the last one.
        """

    async def current_revision(self) -> int:
        """The revision of the newest durable write; every watch comes to report it soon."""

    async def compact(self, revision: int) -> None:
        """Forget what was superseded or deleted at ``revision`` or before.

        Raises:
            Gone: it was compacted already.
        """

    @property
    def durability(self) -> Durability:
        """What makes a write durable, as the connection that writes said a moment ago."""

    async def close(self) -> None:
        """Let go of files and connections; watches end with ``Unavailable``."""


def prefix_end(prefix: str) -> str:
    """The first key after all those that begin with ``prefix``."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def not_found(key: str) -> errors.NotFound:
    """The key has no record."""
    return errors.NotFound(f"store: key {key!r} has no record")


def exists(key: str) -> errors.AlreadyExists:
    """The key has a record."""
    return errors.AlreadyExists(f"store: key {key!r} has a record already")


def conflict(key: str, expected: int, actual: int) -> RevisionConflict:
    """The record was changed since the writer read it."""
    return RevisionConflict(
        f"store: key {key!r} is at revision {actual}, the writer expected {expected}"
    )


def compacted(revision: int, first: int) -> errors.Gone:
    """History before ``first`` is no longer kept."""
    return errors.Gone(f"store: revision {revision} was compacted, the oldest kept is {first}")
