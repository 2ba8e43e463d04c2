"""Removes a folder with all that is in it, whoever made what is in it.

Symbolic links are not followed, mount points are not entered, and a tree of any depth needs few
descriptors and no recursion: a folder in the tree is moved to the top before it is emptied.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
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
