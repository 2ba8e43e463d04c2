"""Windows paths on Linux: names are matched without regard to case, new ones keep their spelling.

Only the runtime and HNS know that there is a Linux underneath.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from muntin.kit.errors import Invalid
from muntin.kit.safe_paths import open_in_root

PIPE_PREFIX = "\\\\.\\pipe\\"


def drive_path(path: str) -> PurePosixPath:
    """The path below the drive of ``C:\\a\\b``, ``c:/a/b``, ``\\a\\b`` or ``a``.

    Raises:
        Invalid: another drive than C:, a share or pipe, or a way out of the drive.
    """
    text = path.replace("\\", "/")
    if text.startswith("//"):
        raise Invalid(f"path {path!r} is not on a drive")
    drive, colon, rest = text.partition(":")
    if colon and drive.lower() != "c":
        raise Invalid(f"path {path!r} is not on drive C:")
    parts: list[str] = []
    for part in (rest if colon else text).split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                raise Invalid(f"path {path!r} leads out of its drive")
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


class HostDrive:
    """A folder of the host that emulates drive C:.

    Containers can create links and rename files on the drive. So this only looks up names; callers
    open the path inside ``root`` (``muntin.kit.safe_paths``).
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def relative(self, path: str) -> str:
        """The way from ``root`` to ``path``: existing names in their own case, others as given.

        Raises:
            Invalid: it is not on this drive.
        """
        names: list[str] = []
        for name in drive_path(path).parts:
            names.append(_existing(self.root, "/".join(names) or ".", name))
        return "/".join(names) or "."

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        """A descriptor of ``path``.

        Raises:
            Invalid: it is not on this drive.
            OSError: it cannot be opened.
        """
        return open_in_root(self.root, self.relative(path), flags, mode)


def _existing(root: Path, folder: str, name: str) -> str:
    try:
        fd = open_in_root(root, folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return name
    try:
        return _spelled(fd, name)
    finally:
        os.close(fd)


def _spelled(folder: int, name: str) -> str:
    try:
        os.lstat(name, dir_fd=folder)
    except OSError:
        lower = name.lower()
        return next((entry for entry in os.listdir(folder) if entry.lower() == lower), name)
    return name
