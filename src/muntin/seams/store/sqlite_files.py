"""The threads that touch the SQLite file: one commits, one checkpoints."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from muntin.kit import disk
from muntin.kit.log import fields
from muntin.seams.store import Change, Durability

log = logging.getLogger(__name__)

LARGEST_BATCH = 512
LARGEST_STATEMENT = 64  # changes that are written, and made durable, by one statement
COMPACT_PIECE = 2000  # revisions looked at in one transaction, so that writes wait little
CHECKPOINT_INTERVAL_S = 0.25
# A sync is two or three times as fast where the file does not grow, so the log of the next changes
# is given its size while nobody writes, and begun anew when it is long.
LOG_BYTES = 16 * 1024 * 1024
LOG_FRAMES = 4000  # of 4 KiB each
LOG_PIECE = 256 * 1024  # grown at a time, so that a change waits little
IDLE_S = 0.5
DURABILITY_S = 1.0  # how old what is said of it may be, where there are writes
# A lone change waits longer for the other thread than for the disk, where that is quick.
QUICK_S, QUICK_IN_A_ROW = 0.001, 8
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
  rev INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL, value BLOB
);
CREATE INDEX IF NOT EXISTS log_key ON log (key, rev);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID;
"""
_COMPACT = """
DELETE FROM log WHERE rev > ? AND rev <= ? AND (value IS NULL OR EXISTS
  (SELECT 1 FROM log AS newer WHERE newer.key = log.key AND newer.rev > log.rev AND newer.rev <= ?))
"""


@dataclass(frozen=True, slots=True)
class Pending:
    """A queued change; it dies with its ``epoch`` when a commit fails."""

    change: Change
    epoch: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """Forget what was superseded by ``revision``, looked at up to ``done_to``."""

    revision: int
    newest: int
    finished: Callable[[], None]
    done_to: int = 0


@dataclass(frozen=True, slots=True)
class _Stop:
    pass


@dataclass(frozen=True, slots=True)
class StoreFile:
    """The store's file. ``exclusive``: opened without the shared memory file, for which a full disk
    has no room. Other processes cannot open the store then, not even for reading.

    Source: https://www.sqlite.org/vfs.html, "unix-excl".
    """

    path: Path
    exclusive: bool = False

    def connect(self) -> sqlite3.Connection:
        """A connection, with the schema made."""
        where = f"{self.path.absolute().as_uri()}{'?vfs=unix-excl' if self.exclusive else ''}"
        connection = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()  # what it holds would keep the next one from opening the file
            raise
        return connection

    def explained(self, failure: Exception) -> str:
        """The message of ``failure``; on a full disk, one that says so and where."""
        if isinstance(failure, sqlite3.Error) and disk.is_full(self.path.parent):
            return f"the disk of the cluster's state is full: no room in {self.path.parent}"
        return str(failure)


def opened(path: Path) -> tuple[StoreFile, sqlite3.Connection]:
    """Open the file at ``path``, mode 0600; on a full disk, exclusively.

    Raises:
        sqlite3.Error, OSError: it cannot be opened.
    """
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with contextlib.suppress(FileNotFoundError):
            name.chmod(0o600)
    file = StoreFile(path)
    try:
        return file, file.connect()
    except sqlite3.OperationalError:
        if not disk.is_full(path.parent):
            raise
    file = StoreFile(path, exclusive=True)
    log.warning("store opened on a full disk", **fields(path=path))
    return file, file.connect()


def _durability(connection: sqlite3.Connection) -> Durability:
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    level = connection.execute("PRAGMA synchronous").fetchone()[0]
    return Durability("sqlite", mode, _SYNCHRONOUS[level])


@cache
def _insertion(rows: int) -> str:
    return f"INSERT INTO log VALUES {', '.join(['(?, ?, ?, ?)'] * rows)}"


class Writer:
    """Commits queued changes in groups and tells ``on_commit`` of each group, in order."""

    def __init__(
        self, file: StoreFile, on_commit: Callable[[list[Change], Exception | None], None]
    ) -> None:
        self._file = file
        self._on_commit = on_commit
        self._queue: queue.SimpleQueue[list[Pending] | Compaction | _Stop] = queue.SimpleQueue()
        self._dirty = threading.Event()
        self._stopped = threading.Event()
        self._failed_epoch = -1
        self._grown = False
        self._frames = 0  # in the log, at the last checkpoint
        self._quick = 0  # commits in a row
        self._working = threading.Lock()  # held by who uses the connection
        self._connection = file.connect()
        self.durability = _durability(self._connection)
        self._told_s = time.monotonic()
        self._threads = [
            threading.Thread(target=self._write_all, name="store-writer", daemon=True),
            threading.Thread(target=self._checkpoint_all, name="store-checkpoint", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def put(self, item: list[Pending] | Compaction) -> None:
        """Queue changes, which are committed together, or a compaction."""
        self._queue.put(item)

    def commit_now(self, lone: Pending) -> bool:
        """Commit on the calling thread a change that nothing is queued before; whether it did.

        Not when the disk was slow lately, or the thread that commits is at work: who calls waits.
        """
        if self._quick < QUICK_IN_A_ROW or self._frames > LOG_FRAMES or not self._grown:
            return False
        if not self._working.acquire(blocking=False):
            return False
        self._commit_and_tell([lone])
        return True

    def stop(self) -> None:
        """Commit what is queued, checkpoint, and end both threads."""
        self._queue.put(_Stop())
        self._threads[0].join()
        self._stopped.set()
        self._dirty.set()
        self._threads[1].join()
        self._connection.close()

    def _write_all(self) -> None:
        stopping = False
        while not stopping:
            batch, other = self._take()
            if batch:
                self._working.acquire()
                self._commit_and_tell(batch)
            if isinstance(other, Compaction):
                with self._working:
                    self._compact(other)
            stopping = isinstance(other, _Stop)

    def _take(self) -> tuple[list[Pending], Compaction | _Stop | None]:
        """Wait for work; take the changes queued by now, and what else follows them."""
        batch: list[Pending] = []
        item = self._next()
        while isinstance(item, list):
            batch += [pending for pending in item if pending.epoch > self._failed_epoch]
            if len(batch) >= LARGEST_BATCH or self._queue.empty():
                return batch, None
            item = self._queue.get()
        return batch, item

    def _next(self) -> list[Pending] | Compaction | _Stop:
        while not self._grown:
            try:
                return self._queue.get(timeout=IDLE_S)
            except queue.Empty:
                with self._working:
                    self._grow_log()
        return self._queue.get()

    def _grow_log(self) -> None:
        """Fill the log up with zeros, which SQLite takes for its end, while nothing is queued.

        Only the thread that commits may do so. Source: SQLite file format, section 4.1.
        """
        try:
            with Path(f"{self._file.path}-wal").open("r+b", buffering=0) as log_file:
                size = log_file.seek(0, os.SEEK_END)
                while size < LOG_BYTES and self._queue.empty():
                    size += log_file.write(bytes(LOG_PIECE))
                    os.fsync(log_file.fileno())
        except OSError:  # a full disk, or no log: it grows by itself, then
            size = LOG_BYTES
        self._grown = size >= LOG_BYTES

    def _commit_and_tell(self, batch: list[Pending]) -> None:
        """Commit ``batch``; the connection, which the caller has taken, is free before that is
        told."""
        changes = [pending.change for pending in batch]
        try:
            failure = self._commit(changes)
            if failure is not None:
                self._failed_epoch = batch[0].epoch
        finally:
            self._working.release()
        self._on_commit(changes if failure is None else [], failure)

    def _commit(self, changes: list[Change]) -> Exception | None:
        if self._frames > LOG_FRAMES:  # the next change begins it anew if all of it is in the file
            self._frames = 0
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        began = time.monotonic()
        try:
            self._insert([(c.revision, c.key, c.create_revision, c.value) for c in changes])
        except Exception as failure:
            self._quick = 0
            self._roll_back()
            return failure
        now = time.monotonic()
        self._quick = self._quick + 1 if now - began < QUICK_S else 0
        self._dirty.set()
        if now - self._told_s > DURABILITY_S:
            self.durability = _durability(self._connection)
            self._told_s = now
        return None

    def _insert(self, rows: list[tuple[int, str, int, bytes | None]]) -> None:
        """All of ``rows`` or none of them.

        Each call of SQLite gives Python's lock away, and waits until the loop lets go of it again:
        what is few goes in one, which is a transaction by itself.
        """
        execute = self._connection.execute
        if len(rows) <= LARGEST_STATEMENT:
            execute(_insertion(len(rows)), [value for row in rows for value in row])
            return
        execute("BEGIN IMMEDIATE")
        self._connection.executemany(_insertion(1), rows)
        execute("COMMIT")

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _compact(self, item: Compaction) -> None:
        execute = self._connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            for name, revision in (("compacted", item.revision), ("newest", item.newest)):
                execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, revision))
            last = execute(
                "SELECT max(rev) FROM (SELECT rev FROM log WHERE rev > ? AND rev <= ?"
                " ORDER BY rev LIMIT ?)",
                (item.done_to, item.revision, COMPACT_PIECE),
            ).fetchone()[0]
            if last is not None:
                execute(_COMPACT, (item.done_to, last, item.revision))
            execute("COMMIT")
        except sqlite3.Error:
            self._roll_back()  # nothing is lost by keeping more history; the next one tries again
            last = None
        self._dirty.set()
        if last is None:
            item.finished()
        else:
            self._queue.put(Compaction(item.revision, item.newest, item.finished, last))

    def _checkpoint_all(self) -> None:
        connection = self._file.connect()
        while not self._stopped.is_set():
            self._dirty.wait()
            self._dirty.clear()
            self._stopped.wait(CHECKPOINT_INTERVAL_S)
            mode = "TRUNCATE" if self._stopped.is_set() else "PASSIVE"
            try:
                _, self._frames, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            except sqlite3.Error as err:  # a full disk; the log has it all, and grows meanwhile
                log.warning("store not checkpointed, will retry", **fields(error=err))
                self._dirty.set()
        connection.close()
