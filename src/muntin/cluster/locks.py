"""Who runs a cluster, and who is at work on it: locks that end with their process.

The supervisor's lock is a POSIX record lock: its children do not inherit it, and the kernel says
which process holds it. The lock of ``up`` and ``down`` is a file that only root can open, so that
no other user of the machine can hold it; it is removed with the lock.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from muntin.cluster import paths
from muntin.cluster.paths import ClusterPaths
from muntin.kit import files
from muntin.kit.errors import Conflict

# struct flock of x86-64 Linux: type, whence, start, length, pid.
_FLOCK = struct.Struct("hhqqi4x")


def hold(path: Path) -> int:
    """Take the lock at ``path`` until this process ends; the descriptor must stay open.

    Raises:
        Conflict: another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as err:
        os.close(fd)
        raise Conflict(f"{path} is held by another process") from err
    return fd


def holder(path: Path) -> int:
    """The process that holds the lock at ``path``, 0 when nobody does."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
    finally:
        os.close(fd)
    return 0 if kind == fcntl.F_UNLCK else int(pid)


@contextmanager
def at_work(cluster: str) -> Iterator[None]:
    """Keep other ``up`` and ``down`` of ``cluster`` out for the time of the block.

    Raises:
        Conflict: one of them is running.
    """
    path = paths.RUN_ROOT / f".{ClusterPaths(cluster).identity}.lock"
    fd = _lock_file(path)
    if fd is None:
        message = f"another muntin up or down of cluster {cluster} is running\nwait for its end"
        raise Conflict(message)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(fd)
        with suppress(OSError):
            path.parent.rmdir()  # only if nothing else is in it


def _lock_file(path: Path) -> int | None:
    """A descriptor of ``path`` that is locked until it is closed; None if another has it locked.

    The previous holder removes the file, so a lock counts only if ``path`` still is the file that
    was locked.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            continue  # the folder was removed in between
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), path.stat()):
                    return fd
        except BlockingIOError:
            os.close(fd)
            return None
        os.close(fd)


def own(place: ClusterPaths) -> None:
    """Write down which state folder the run folder of ``place`` belongs to."""
    place.run.mkdir(parents=True, exist_ok=True, mode=0o755)
    files.put(place.owner, os.fsencode(place.state.absolute()))


def check_owner(place: ClusterPaths) -> None:
    """Raise unless the run folder of ``place`` is free or belongs to its state folder.

    Raises:
        Conflict: it belongs to a cluster of the same name with another state folder.
    """
    try:
        owner = Path(os.fsdecode(place.owner.read_bytes()))
    except FileNotFoundError:
        return
    if owner != place.state.absolute():
        raise Conflict(
            f"{place.run} belongs to the cluster {place.name} with its state in {owner}\n"
            f"set MUNTIN_STATE_DIR={owner.parent}, or another MUNTIN_RUN_DIR"
        )
