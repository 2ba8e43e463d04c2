"""The mount table of this process: what is mounted below a folder, how to detach and remove it.

A mount point cannot be unlinked or renamed (EBUSY) in a mount namespace that has this mount, even
if another mount hides it. Unlinking it in a mount namespace without the mount works, and takes the
mount away in all others. ``remove`` uses this.
Source: Linux fs/namei.c (vfs_unlink, vfs_rmdir), fs/namespace.c (__detach_mounts).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from muntin.kit import trees

_MNT_DETACH, _MS_RDONLY, _MS_REC, _MS_PRIVATE = 2, 1, 16384, 1 << 18
_CLONE_NEWNS = 0x20000
_libc = ctypes.CDLL(None, use_errno=True)
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One row of mountinfo; ``kind`` is the file system's type."""

    target: str
    kind: str


def parse(mountinfo: str) -> list[Mount]:
    """The rows of /proc/PID/mountinfo, in the order they were mounted. Source: proc(5)."""
    rows = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        target = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), left.split(" ")[4])
        rows.append(Mount(target.removesuffix("//deleted"), right.split(" ")[0]))
    return rows


def below(roots: Iterable[Path]) -> list[Mount]:
    """What is mounted on or below ``roots``, in the order it was mounted."""
    folders = tuple(str(root) for root in roots)
    table = parse(Path("/proc/self/mountinfo").read_text())
    return [
        row
        for row in table
        if any(row.target == folder or row.target.startswith(f"{folder}/") for folder in folders)
    ]


def detach_fd(fd: int) -> bool:
    """Unmount what is mounted at the folder or file ``fd``; False if nothing is.

    ``fd`` must have been opened after the mount was made, so that it is the mount's root.
    """
    if _libc.umount2(f"/proc/self/fd/{fd}".encode(), _MNT_DETACH):
        number = ctypes.get_errno()
        if number != errno.EINVAL:
            raise OSError(number, f"unmount: {os.strerror(number)}")
        return False
    return True


def mount_tmpfs(target: int, options: str) -> None:
    """Mount a file system in memory over the folder ``target`` (a descriptor)."""
    arguments = (b"tmpfs", f"/proc/self/fd/{target}".encode(), b"tmpfs", 0, options.encode())
    if _libc.mount(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"mount tmpfs with {options}: {os.strerror(number)}")


def mount_overlay(target: Path, lowers: Sequence[Path]) -> None:
    """Mount ``lowers``, the highest first, over each other at ``target``, to be read.

    They are named by descriptors: all options must fit into a page of memory (mount(2)), and the
    paths of many layers do not.
    """
    with ExitStack() as stack:
        names = []
        for lower in lowers:
            fd = os.open(lower, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            names.append(f"/proc/self/fd/{fd}")
        options = f"lowerdir={':'.join(names)}"
        arguments = (b"overlay", os.fsencode(target), b"overlay", _MS_RDONLY, options.encode())
        _checked(_libc.mount(*arguments), f"mount an overlay at {target}")


def detach(target: str) -> None:
    """Unmount ``target`` now and free it with its last user; not mounted is fine."""
    if _libc.umount2(os.fsencode(target), _MNT_DETACH):
        number = ctypes.get_errno()
        if number not in (errno.ENOENT, errno.EINVAL):  # gone already
            raise OSError(number, f"unmount {target}: {os.strerror(number)}")


def remove(path: Path) -> None:
    """Remove the file ``path``, whatever is mounted on it in any mount namespace; absent is fine.

    Raises:
        OSError: the kernel refused for another reason.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as err:
        if err.errno != errno.EBUSY:
            raise
        _without_mounts(path.parent, lambda folder: os.unlink(path.name, dir_fd=folder))


def remove_tree(path: Path) -> None:
    """Remove the folder ``path`` and all in it but what is mounted there; absent is fine.

    What is mounted in it is to be detached before (``below``, ``detach``). Mounts that another
    mount hides, or that only other mount namespaces have, end here. What cannot be removed stays.
    """
    with suppress(OSError):
        trees.remove_tree(path.parent, path.name)
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            _without_mounts(path, _empty)
        with suppress(OSError):
            path.rmdir()
    if path.is_dir() and not path.is_symlink():
        with suppress(OSError):
            _without_mounts(path.parent, lambda folder: os.rmdir(path.name, dir_fd=folder))


def _empty(folder: int) -> None:
    for name in os.listdir(folder):
        with suppress(OSError):
            trees.remove_tree(folder, name)


def _without_mounts(folder: Path, action: Callable[[int], None]) -> None:
    """Call ``action`` with a descriptor of ``folder`` where nothing at all is mounted in it.

    The calls run on a thread with a mount namespace of its own, which ends with it.
    """
    failures: list[OSError] = []

    def act() -> None:
        try:
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                _leave_mounts()
                action(opened)
            finally:
                os.close(opened)
        except OSError as err:
            failures.append(err)

    thread = threading.Thread(target=act, name="unmount")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def _leave_mounts() -> None:
    """Give the calling thread its own mount namespace, in which only the root is mounted."""
    _checked(_libc.unshare(_CLONE_NEWNS), "unshare the mount namespace")
    _checked(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "make / private")
    for row in reversed(parse(Path("/proc/thread-self/mountinfo").read_text())):
        if row.target != "/":
            _libc.umount2(os.fsencode(row.target), _MNT_DETACH)


def _checked(result: int, action: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")
