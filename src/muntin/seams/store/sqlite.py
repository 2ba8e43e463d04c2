"""The durable store of one machine: SQLite as a log of changes, written by one thread.

A write is checked against the newest state, queued ones included, takes its revision, and is
queued; the writer thread commits whatever is queued in one transaction (group commit, WAL,
``synchronous=FULL``), and only then is it answered and shown to watches. A lone change is committed
at once, while the disk is quick. A failed commit undoes everything that is queued. Checkpoints run
in a thread of their own, so that no commit waits.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from muntin.kit import errors
from muntin.seams.store import (
    Change,
    Changes,
    Durability,
    Page,
    Record,
    compacted,
    conflict,
    exists,
    not_found,
    prefix_end,
)
from muntin.seams.store.feed import Feed, Watch
from muntin.seams.store.sqlite_files import Compaction, Pending, StoreFile, Writer, opened

READ_PIECE = 500  # rows a read takes before other coroutines may run
LONE_IN_A_ROW = 8  # turns with one change each, until it is committed before its turn ends

_COLUMNS = "key, value, created, rev"
_LIVE_AT = """
SELECT key, value, created, rev FROM log
WHERE key >= ? AND key < ? AND rev <= ? AND value IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM log AS newer
                  WHERE newer.key = log.key AND newer.rev > log.rev AND newer.rev <= ?)
ORDER BY key LIMIT ?
"""


@dataclass(slots=True)
class _Head:
    """The newest version of a key; ``write`` is what is to make it durable, or has."""

    created: int
    revision: int
    live: bool
    write: _Write | None = None

    @property
    def queued(self) -> _Write | None:
        """What is to make it durable, as long as it is not."""
        return self.write if self.write is not None and not self.write.done else None


@dataclass(slots=True)
class _Write:
    """A queued change. Its writer waits for ``answer``, and may give up; others for ``settled``."""

    pending: Pending
    answer: asyncio.Future[int]
    before: _Head | None
    done: bool = False
    _settled: asyncio.Future[None] | None = None

    async def settled(self) -> None:
        """Return when it is durable or undone."""
        if self.done:
            return
        if self._settled is None:
            self._settled = self.answer.get_loop().create_future()
        await asyncio.wait([self._settled])

    def settle(self, revision: int = 0, failure: Exception | None = None) -> None:
        """It is durable, or undone: tell all who wait."""
        self.done = True
        if not self.answer.done():
            if failure is None:
                self.answer.set_result(revision)
            else:
                self.answer.set_exception(failure)
        if self._settled is not None:
            self._settled.set_result(None)


class SqliteStore:
    """Open with ``await SqliteStore.open(path)``; ``path`` is a file that only we write."""

    def __init__(self, file: StoreFile, reader: sqlite3.Connection) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._feed = Feed()
        self._reader = reader
        self._heads = {
            key: _Head(created, revision, live=True)
            for key, created, revision in self._reader.execute(
                "SELECT key, created, rev FROM log WHERE value IS NOT NULL AND NOT EXISTS"
                " (SELECT 1 FROM log AS newer WHERE newer.key = log.key AND newer.rev > log.rev)"
            )
        }
        meta = dict(self._reader.execute("SELECT name, revision FROM meta"))
        newest = self._reader.execute("SELECT max(rev) FROM log").fetchone()[0] or 0
        self._compacted = meta.get("compacted", 0)
        self._durable: int = max(1, newest, meta.get("newest", 0))
        self._taken = self._durable
        self._queued: deque[_Write] = deque()
        self._unsent: list[Pending] = []
        self._written = 0  # in this turn of the loop
        self._lone_turns = 0  # with one change each, in a row
        self._epoch = 0
        self._closed = False
        self._writer = Writer(file, self._on_commit)

    @classmethod
    async def open(cls, path: Path) -> SqliteStore:
        """The store in ``path``, made if it is not there.

        Raises:
            Unavailable: the file cannot be opened or is not ours.
        """
        try:
            return cls(*opened(path))
        except (sqlite3.Error, OSError) as err:
            reason = StoreFile(path).explained(err)
            raise errors.Unavailable(f"store: {path} cannot be opened: {reason}") from err

    # -- writes ------------------------------------------------------------------------------

    async def create(self, key: str, value: bytes) -> int:
        head = await self._head(key, lambda head: head is None or not head.live)
        if head is not None and head.live:
            raise exists(key)
        return await self._write(key, value, created=0)

    async def update(self, key: str, value: bytes, expected: int) -> int:
        head = await self._expect(key, expected)
        return await self._write(key, value, head.created)

    async def delete(self, key: str, expected: int) -> int:
        head = await self._expect(key, expected)
        return await self._write(key, None, head.created)

    async def _expect(self, key: str, expected: int) -> _Head:
        def fits(head: _Head | None) -> bool:
            return head is not None and head.live and head.revision == expected

        head = await self._head(key, fits)
        if head is None or not head.live:
            raise not_found(key)
        if head.revision != expected:
            raise conflict(key, expected, head.revision)
        return head

    async def _head(self, key: str, fits: Callable[[_Head | None], bool]) -> _Head | None:
        """The newest version of ``key``; one that does not fit is durable: nobody is refused for a
        write that may never have been."""
        while True:
            head = self._heads.get(key)
            if fits(head) or head is None or (write := head.queued) is None:
                return head
            await write.settled()

    def _write(self, key: str, value: bytes | None, created: int) -> asyncio.Future[int]:
        if self._closed:
            raise errors.Unavailable("store: closed")
        self._taken += 1
        revision = self._taken
        change = Change(key, value, created or revision, revision)
        pending = Pending(change, self._epoch)
        write = _Write(pending, self._loop.create_future(), self._heads.get(key))
        self._heads[key] = _Head(change.create_revision, revision, value is not None, write)
        self._queued.append(write)
        if not self._written:
            self._loop.call_soon(self._send)
        self._written += 1
        # Of one who writes alone, as of late, no other change is to be expected in this turn.
        is_lone = self._written == 1 and self._lone_turns >= LONE_IN_A_ROW
        if not (is_lone and self._commits_now(pending)):
            self._unsent.append(pending)
        return write.answer

    def _send(self) -> None:
        """Hand over what was written in one turn of the loop at once: the thread that commits would
        else ask for Python's lock at each change."""
        is_lone, self._written = self._written == 1, 0
        self._lone_turns = self._lone_turns + 1 if is_lone else 0
        unsent, self._unsent = self._unsent, []
        if unsent and not (is_lone and self._commits_now(unsent[0])):
            self._writer.put(unsent)

    def _commits_now(self, pending: Pending) -> bool:
        return len(self._queued) == 1 and self._writer.commit_now(pending)

    def _on_commit(self, changes: list[Change], failure: Exception | None) -> None:
        """Called by the thread that has committed, or failed to."""
        tell = partial(self._publish, changes) if failure is None else partial(self._undo, failure)
        if threading.get_ident() == self._thread:
            tell()
        else:
            self._loop.call_soon_threadsafe(tell)

    def _publish(self, changes: list[Change]) -> None:
        """Show durable ``changes`` to watches, then answer their writers."""
        self._durable = changes[-1].revision
        self._feed.push(changes)
        for change in changes:
            write = self._queued.popleft()
            head = self._heads[change.key]
            if head.revision == change.revision:
                head.write = None
                if not head.live:
                    del self._heads[change.key]
            write.before = None
            write.settle(change.revision)

    def _undo(self, failure: Exception) -> None:
        """Forget all queued writes: those after the failed one may build on it."""
        reason = self._file.explained(failure)
        text = f"store: the write could not be made durable: {reason}"
        while self._queued:
            write = self._queued.pop()
            key, before = write.pending.change.key, write.before
            if before is None or (not before.live and before.queued is None):
                self._heads.pop(key, None)
            else:
                self._heads[key] = before
            write.settle(failure=errors.Unavailable(text))
        self._taken = self._durable
        self._epoch += 1

    # -- reads -------------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> Record:
        head = self._heads.get(key)
        if head is not None and (write := head.queued) is not None:
            await write.settled()
        self._check(revision)
        row = self._reader.execute(
            f"SELECT {_COLUMNS} FROM log WHERE key = ? AND rev <= ? ORDER BY rev DESC LIMIT 1",
            (key, revision or self._durable),
        ).fetchone()
        if row is None or row[1] is None:
            raise not_found(key)
        return Record(*row)

    def _check(self, revision: int) -> None:
        if self._closed:
            raise errors.Unavailable("store: closed")
        if revision and revision < self._compacted:
            raise compacted(revision, self._compacted)

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 0, revision: int = 0
    ) -> Page:
        self._check(revision)
        at = revision or self._durable
        records: list[Record] = []
        start, end = max(prefix, _next_key(after)), prefix_end(prefix)
        while True:
            wanted = READ_PIECE if not limit else min(READ_PIECE, limit + 1 - len(records))
            rows = self._reader.execute(_LIVE_AT, (start, end, at, at, wanted)).fetchall()
            records += [Record(*row) for row in rows]
            if limit and len(records) > limit:
                return Page(at, records[:limit], more=True)
            if len(rows) < wanted:
                return Page(at, records)
            start = _next_key(records[-1].key)
            await asyncio.sleep(0)
            self._check(at)

    async def count(self, prefix: str) -> int:
        heads = self._heads
        queued = [w for key, h in heads.items() if (w := h.queued) and key.startswith(prefix)]
        for write in queued:
            await write.settled()
        return sum(1 for key in heads if key.startswith(prefix) and heads[key].live)

    def watch(self, prefix: str, after: int) -> Watch:
        async def backlog() -> AsyncIterator[Changes]:
            start, end = after, self._durable
            if start < self._compacted:
                raise compacted(start, self._compacted)
            while start < end:
                rows = self._reader.execute(
                    f"SELECT {_COLUMNS} FROM log WHERE rev > ? AND rev <= ? ORDER BY rev LIMIT ?",
                    (start, end, READ_PIECE),
                ).fetchall()
                start = rows[-1][3] if len(rows) == READ_PIECE else end
                found = tuple(Change(*row) for row in rows if row[0].startswith(prefix))
                yield Changes(start, found)

        return self._feed.follow(prefix, backlog)

    async def current_revision(self) -> int:
        return self._durable

    # -- upkeep ------------------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        if revision <= self._compacted:
            raise compacted(revision, self._compacted)
        self._compacted = min(revision, self._durable)
        done = asyncio.Event()

        def finished() -> None:
            self._loop.call_soon_threadsafe(done.set)

        self._writer.put(Compaction(self._compacted, self._durable, finished))
        await done.wait()

    @property
    def durability(self) -> Durability:
        return self._writer.durability

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._send()
        await self._loop.run_in_executor(None, self._writer.stop)
        await asyncio.sleep(0)  # the last commits were handed to the loop: let them be answered
        self._feed.close()
        self._reader.close()


def _next_key(key: str) -> str:
    return key + "\0" if key else ""
