"""Copies of a store's file: made while the store is in use, and checked before they are used."""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import closing, suppress
from pathlib import Path

from muntin.kit import disk
from muntin.kit.errors import AlreadyExists, Invalid, MuntinError, NotFound, Unavailable

_TABLES = {"log", "meta"}
_BUSY_S = 10.0


def copy(source: Path, target: Path) -> int:
    """Copy the store in ``source`` to the new file ``target``; gives the newest revision in it.

    The copy is the state of one moment, for its owner alone (0600), one file, synced to disk, and
    checked. ``target`` appears when all of this is done. Writers go on meanwhile.

    Raises:
        NotFound: there is no store in ``source``.
        AlreadyExists: ``target`` is there.
        Invalid: ``source`` is damaged, or not a store.
        Unavailable: it cannot be read or written now.
    """
    if not source.is_file():
        raise NotFound(f"{source}: there is no store")
    if os.path.lexists(target):
        raise AlreadyExists(f"{target} is there already\nchoose another file, or remove it")
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        _back_up(source, partial)
        newest = check(partial)
        _sync(partial)
        os.link(partial, target)  # unlike a rename, this never replaces a file
        _sync(target.parent)
    except FileExistsError as err:
        raise AlreadyExists(f"{target} is there already\nchoose another file") from err
    except OSError as err:
        raise Unavailable(f"{target} cannot be written: {err.strerror}") from err
    finally:
        for path in (partial, partial.with_name(f"{partial.name}-journal")):
            with suppress(OSError):
                path.unlink(missing_ok=True)
    return newest


def check(path: Path) -> int:
    """The newest revision of the store in ``path``, whose every page has been looked at.

    Raises:
        NotFound: there is no such file.
        Invalid: it is damaged, or not a store.
    """
    if not path.is_file():
        raise NotFound(f"{path}: no such file")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            found = opened.execute("PRAGMA integrity_check(1)").fetchone()[0]
            rows = opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            is_store = {row[0] for row in rows} >= _TABLES
            newest = opened.execute(_NEWEST).fetchone()[0] if found == "ok" and is_store else 0
    except sqlite3.DatabaseError as err:
        raise Invalid(f"{path} is not a snapshot of a cluster: {err}") from err
    if found != "ok":
        raise Invalid(f"{path} is damaged: {found}")
    if not is_store:
        raise Invalid(f"{path} is not a snapshot of a cluster: it has no table {min(_TABLES)}")
    return int(newest)


_NEWEST = (
    "SELECT max(1, ifnull((SELECT max(rev) FROM log), 0), ifnull((SELECT max(revision) FROM meta),"
    " 0))"
)


def _back_up(source: Path, target: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(source, timeout=_BUSY_S)) as reading,
            closing(sqlite3.connect(target, isolation_level=None)) as writing,
        ):
            reading.execute("BEGIN")
            reading.execute(_NEWEST).fetchone()  # raises where it is locked; backup() waits
            reading.backup(writing)
            # The copy names the mode of its source, in which it would be three files.
            writing.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.DatabaseError as err:
        raise _translated(source, target, err) from err


def _translated(source: Path, target: Path, err: sqlite3.DatabaseError) -> MuntinError:
    if disk.is_full(target.parent):
        return Unavailable(f"{target} cannot be written: {target.parent} is on a full disk")
    if err.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unavailable(
            f"{source} is locked: the control plane opened it while its disk was full\n"
            "end the control plane's process (muntin status has its id) when there is room: "
            "it is started again at once"
        )
    if err.sqlite_errorcode in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Invalid(f"{source} is damaged, or not a store: {err}")
    return Unavailable(f"{source} cannot be copied to {target}: {err}")


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
