"""Replaces all files of a directory at once, as seen by programs that read through it.

``..data`` is a symbolic link to a directory named for the time; each visible name is a link through
``..data``. On Linux the link is renamed over the old one; Windows cannot rename over a link to a
directory, so there it is removed first and for a moment nothing can be read.
Source: kubernetes v1.34 pkg/volume/util/atomic_writer.go.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from muntin.kubelet.volumes.content import File

DATA = "..data"
NEW_DATA = "..data_tmp"


def write_files(
    directory: Path,
    files: Mapping[str, File],
    *,
    modes: bool = True,
    replace_links: bool = True,
    group: int | None = None,
    links_lead_in: bool = True,
) -> bool:
    """Make ``directory`` show exactly ``files``; True if something changed.

    ``modes`` False leaves permissions as they fall (Windows); ``replace_links`` False is for a
    file system that cannot rename over a link to a directory. ``group`` owns the files.
    ``links_lead_in`` False makes links that only the node can follow: absolute ones, as containers
    of old Windows releases took all links to be.
    """
    directory.mkdir(parents=True, exist_ok=True)
    data = directory / DATA
    current = data.readlink().name if data.is_symlink() else ""
    if current and _holds(directory / current, files):
        return False
    stamp = datetime.now(UTC).strftime("..%Y_%m_%d_%H_%M_%S.")
    fresh = Path(tempfile.mkdtemp(prefix=stamp, dir=directory))
    fresh.chmod(0o755)
    for path, file in files.items():
        _write(fresh / PurePosixPath(path), file, modes, group)
    _point(directory, fresh.name, replace_links)
    _show(directory, files, directory / DATA if not links_lead_in else Path(DATA))
    if current:
        shutil.rmtree(directory / current, ignore_errors=True)
    return True


def _holds(directory: Path, files: Mapping[str, File]) -> bool:
    have = {
        path.relative_to(directory).as_posix(): path
        for path in directory.rglob("*")
        if path.is_file()
    }
    return have.keys() == files.keys() and all(
        path.read_bytes() == files[name].data for name, path in have.items()
    )


def _write(path: Path, file: File, modes: bool, group: int | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.data)
    if modes:
        path.chmod(file.mode if group is None else file.mode | 0o440)
        if group is not None:
            os.chown(path, -1, group)


def _point(directory: Path, target: str, replace_links: bool) -> None:
    if not replace_links:
        (directory / DATA).unlink(missing_ok=True)
        (directory / DATA).symlink_to(target)
        return
    new = directory / NEW_DATA
    new.unlink(missing_ok=True)
    new.symlink_to(target)
    new.rename(directory / DATA)


def _show(directory: Path, files: Mapping[str, File], data: Path) -> None:
    visible = {PurePosixPath(path).parts[0] for path in files}
    for entry in directory.iterdir():
        if not entry.name.startswith("..") and entry.name not in visible:
            entry.unlink()
    for name in visible:
        link = directory / name
        if not link.is_symlink():
            link.symlink_to(data / name)
