"""Removes a folder with all its contents, even if an untrusted user created them.

Symbolic links are not followed, mount points are not entered, and a tree of any depth needs few
descriptors and no recursion: a folder in the tree is moved to the top before it is emptied.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from pathlib import Path

from muntin.kit.safe_paths import open_on_same_mount

_BATCH = 4096
"""Entries that are held in memory at once."""


def remove_tree(parent: Path | int, name: str) -> None:
    """Remove ``name`` in the folder ``parent`` (a path, or a descriptor); absent is fine.

    Raises:
        OSError: something could not be removed; EBUSY and EXDEV if it is mounted over.
    """
    top = _folder(parent, name)
    if top is None:
        return
    try:
        _empty(top)
    finally:
        os.close(top)
    parent_fd = _opened(parent)
    try:
        os.rmdir(name, dir_fd=parent_fd)
    except FileNotFoundError:
        return
    finally:
        os.close(parent_fd)


def _folder(parent: Path | int, name: str) -> int | None:
    """A descriptor of the folder ``name``; anything else of that name is removed at once."""
    parent_fd = _opened(parent)
    try:
        return open_on_same_mount(parent_fd, name, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    except OSError as err:
        if err.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        os.unlink(name, dir_fd=parent_fd)
        return None
    finally:
        os.close(parent_fd)


def _opened(parent: Path | int) -> int:
    if isinstance(parent, int):
        return os.dup(parent)
    return os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _empty(top: int) -> None:
    """Remove all entries of ``top``. Those of its folders are moved into ``top`` first."""
    names = (f".{secrets.token_hex(8)}-{number}" for number in count())
    while entries := _some_entries(top):
        for name, is_folder in entries:
            if not is_folder:
                os.unlink(name, dir_fd=top)
            elif not _is_removed(name, top):
                _flatten(top, name, names)


def _flatten(top: int, name: str, names: Iterator[str]) -> None:
    """Remove the folder ``name`` of ``top``; folders in it that are not empty go to ``top``."""
    folder = open_on_same_mount(top, name, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while entries := _some_entries(folder):
            for inner, is_folder in entries:
                if not is_folder:
                    os.unlink(inner, dir_fd=folder)
                elif not _is_removed(inner, folder):
                    os.rename(inner, next(names), src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _is_removed(name: str, parent: int) -> bool:
    """Whether the folder could be removed, as it was empty."""
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError as err:
        if err.errno != errno.ENOTEMPTY:
            raise
        return False
    return True


def _some_entries(folder: int) -> list[tuple[str, bool]]:
    with os.scandir(folder) as rows:
        return [(row.name, row.is_dir(follow_symlinks=False)) for row in islice(rows, _BATCH)]


def tree_usage(path: Path, most: int = 1_000_000) -> tuple[int, int]:
    """Bytes and number of files below the folder ``path``; an absent one has none.

    Others may change the tree meanwhile: what moves away is not followed. After ``most`` entries
    the rest is not counted.
    """
    try:
        here = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0, 0
    size = count = seen = 0
    way: list[tuple[tuple[int, int], list[str]]] = []
    """The folders from ``path`` to ``here``: which one it is, and its folders still to be seen."""
    try:
        while True:
            folders, bytes_here, files_here = _look(here, most - seen)
            size, count = size + bytes_here, count + files_here
            seen += files_here + len(folders)
            way.append((_identity(here), folders))
            here = _next_folder(here, way)
            if not way:
                return size, count
    finally:
        os.close(here)


def _look(folder: int, most: int) -> tuple[list[str], int, int]:
    """The folders in ``folder``, and bytes and number of its other entries."""
    folders: list[str] = []
    size = count = 0
    with suppress(OSError), os.scandir(folder) as rows:
        for row in islice(rows, max(0, most)):
            if row.is_dir(follow_symlinks=False):
                folders.append(row.name)
                continue
            count += 1
            with suppress(OSError):
                size += row.stat(follow_symlinks=False).st_size
    return folders, size, count


def _next_folder(here: int, way: list[tuple[tuple[int, int], list[str]]]) -> int:
    """Close ``here`` and open the next folder to look at; ``way`` is empty if there is none."""
    while way:
        folders = way[-1][1]
        while folders:
            with suppress(OSError):
                inner = open_on_same_mount(here, folders.pop(), os.O_RDONLY | os.O_DIRECTORY)
                os.close(here)
                return inner
        way.pop()
        if way:
            outer = os.open("..", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
            os.close(here)
            here = outer
            if _identity(here) != way[-1][0]:
                way.clear()  # it was moved: ".." may be anywhere
    return here


def _identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino
