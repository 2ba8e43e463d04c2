"""Replaces all files of a directory at once, as seen by programs that read through it.

``..data`` is a symbolic link to a directory named for the time; each visible name is a link through
``..data``. On Linux the link is renamed over the old one; Windows cannot rename over a link to a
directory, so there it is removed first and for a moment nothing can be read.
All is done below the directory's descriptor: what a container puts there leads nowhere else.
Source: kubernetes v1.34 pkg/volume/util/atomic_writer.go.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath

from muntin.kit.errors import Invalid
from muntin.kit.safe_paths import make_folders, open_beneath, open_regular
from muntin.kit.trees import remove_tree
from muntin.kubelet.node_files import closing
from muntin.kubelet.volumes.content import File

DATA = "..data"
NEW_DATA = "..data_tmp"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


def write_files(
    directory: int,
    files: Mapping[str, File],
    *,
    modes: bool = True,
    replace_links: bool = True,
    group: int | None = None,
    links_through: str = DATA,
) -> bool:
    """Make the folder ``directory``, a descriptor, show exactly ``files``; True if it changed.

    ``modes`` False leaves permissions as they fall (Windows); ``replace_links`` False is for a
    file system that cannot rename over a link to a directory. ``group`` owns the files.
    ``links_through`` is what the visible links lead through: an absolute path makes links that
    only the node can follow, as containers of old Windows releases took all links to be.
    """
    with closing(open_beneath(directory, ".", _FOLDER)) as folder:
        current = PurePosixPath(_link(folder, DATA)).name
        if current and _holds(folder, current, files):
            return False
        fresh = datetime.now(UTC).strftime("..%Y_%m_%d_%H_%M_%S.") + secrets.token_hex(5)
        os.mkdir(fresh, 0o700, dir_fd=folder)
        with closing(open_beneath(folder, fresh, _FOLDER)) as target:
            os.fchmod(target, 0o755)
            for path, file in files.items():
                _write(target, path, file, modes, group)
        _point(folder, fresh, replace_links)
        _show(folder, files, links_through)
        if current:
            with suppress(OSError):
                remove_tree(folder, current)
        return True


def _holds(folder: int, current: str, files: Mapping[str, File]) -> bool:
    try:
        with closing(open_beneath(folder, current, _FOLDER)) as held:
            return _paths(held) == files.keys() and all(
                _content(held, path, len(file.data) + 1) == file.data
                for path, file in files.items()
            )
    except (OSError, Invalid, RecursionError):  # a container has changed the files
        return False


def _paths(folder: int) -> set[str]:
    """The files below ``folder``, by their way from there."""
    paths = set()
    for way, _, names, _ in os.fwalk(".", dir_fd=folder):
        paths |= {(PurePosixPath(way) / name).as_posix() for name in names}
    return paths


def _content(folder: int, path: str, limit: int) -> bytes:
    with os.fdopen(open_regular(folder, path, os.O_RDONLY), "rb") as file:
        return file.read(limit)


def _write(target: int, path: str, file: File, modes: bool, group: int | None) -> None:
    parent, _, name = path.rpartition("/")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with (
        closing(make_folders(target, parent)) as folder,
        os.fdopen(os.open(name, flags, 0o644, dir_fd=folder), "wb") as out,
    ):
        out.write(file.data)
        if modes:
            if group is not None:
                os.fchown(out.fileno(), -1, group)
            os.fchmod(out.fileno(), file.mode if group is None else file.mode | 0o440)


def _point(folder: int, target: str, replace_links: bool) -> None:
    name = NEW_DATA if replace_links else DATA
    remove_tree(folder, name)
    os.symlink(target, name, dir_fd=folder)
    if replace_links:
        os.rename(NEW_DATA, DATA, src_dir_fd=folder, dst_dir_fd=folder)


def _show(folder: int, files: Mapping[str, File], through: str) -> None:
    visible = {PurePosixPath(path).parts[0] for path in files}
    names = set(os.listdir(folder))
    for name in names - visible:
        if not name.startswith(".."):
            remove_tree(folder, name)
    for name in visible:
        target = f"{through}/{name}"
        if _link(folder, name) != target:
            remove_tree(folder, name)
            os.symlink(target, name, dir_fd=folder)


def _link(folder: int, name: str) -> str:
    """What the link ``name`` holds, "" if it is no link."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return ""
