"""Copies of a store's file, made while the store is in use and checked before they are used."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from muntin.kit import disk, user_files
from muntin.kit.errors import AlreadyExists, Invalid, MuntinError, NotFound, Unavailable

_TABLES = {"log", "meta"}
_BUSY_S = 10.0


def copy(source: Path, target: Path) -> int:
    """Copy the store in ``source`` to the new file ``target``; returns its newest revision.

    The copy is a consistent snapshot in one file, mode 0600, synced to disk and checked. Writers
    continue meanwhile. ``target`` appears only when the copy is complete; until then, the copy is
    in the folder of ``source``, where no other user may write.

    Raises:
        NotFound: there is no store in ``source``.
        AlreadyExists: ``target`` is there.
        Invalid: ``source`` is damaged, or not a store.
        Unavailable: it cannot be read or written now.
    """
    if not source.is_file():
        raise NotFound(f"{source}: no store exists there")
    try:
        with (
            user_files.opened(target, follow=False) as file,
            TemporaryDirectory(dir=source.parent, prefix=".copy-") as work,
        ):
            if file.exists():
                raise FileExistsError
            made = Path(work) / "copy"
            _back_up(source, made)
            newest = check(made)
            with made.open("rb") as content:
                file.create(content)
    except OSError as err:
        raise _refused(target, err) from err
    return newest


def put_back(source: Path, target: Path) -> int:
    """Check the copy ``source`` and write it to the new file ``target``; returns its revision.

    Raises:
        NotFound, Invalid: ``source`` cannot be used.
        AlreadyExists: ``target`` is there.
        Unavailable: it cannot be written now.
    """
    try:
        with (
            user_files.opened(source) as file,
            TemporaryDirectory(dir=target.parent, prefix=".copy-") as work,
        ):
            made = Path(work) / "copy"
            with file.reader() as reading, made.open("xb") as writing:
                shutil.copyfileobj(reading, writing)
            newest = check(made)
            with made.open("rb") as content, user_files.opened(target, follow=False) as own:
                own.create(content)
    except FileNotFoundError as err:
        raise NotFound(f"{source}: no such file") from err
    except OSError as err:
        raise _refused(target, err) from err
    return newest


def _refused(target: Path, err: OSError) -> MuntinError:
    if isinstance(err, FileExistsError):
        return AlreadyExists(f"{target} exists already\nchoose another file, or remove it")
    return Unavailable(f"{target} cannot be written: {err.strerror}")


def check(path: Path) -> int:
    """Check every page of the store in ``path``; returns its newest revision.

    Raises:
        NotFound: there is no such file.
        Invalid: it is damaged, or not a store.
    """
    if not path.is_file():
        raise NotFound(f"{path}: no such file")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            verdict = opened.execute("PRAGMA integrity_check(1)").fetchone()[0]
            rows = opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            is_store = {row[0] for row in rows} >= _TABLES
            newest = opened.execute(_NEWEST).fetchone()[0] if verdict == "ok" and is_store else 0
    except sqlite3.DatabaseError as err:
        raise Invalid(f"{path} is not a snapshot of a cluster: {err}") from err
    if verdict != "ok":
        raise Invalid(f"{path} is damaged: {verdict}")
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
            # The copy has its source's journal mode, WAL, which uses three files.
            writing.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.DatabaseError as err:
        raise _translated(source, target, err) from err


def _translated(source: Path, target: Path, err: sqlite3.DatabaseError) -> MuntinError:
    code = err.sqlite_errorcode & 0xFF  # without what extends it
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unavailable(
            f"{source} is locked, because the control plane opened it on a full disk\n"
            "free some space, then kill the control plane's process (see `muntin status`): "
            "it restarts at once"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Invalid(f"{source} is damaged, or not a store: {err}")
    if disk.is_full(target.parent):
        return Unavailable(f"{source} cannot be copied: {target.parent} is on a full disk")
    return Unavailable(f"{source} cannot be copied to {target}: {err}")
