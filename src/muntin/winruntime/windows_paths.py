"""Windows paths on Linux: names are matched without regard to case, new ones keep their spelling.

``HostDrive`` is a folder that stands for a C: drive of the node. Only the runtime and HNS know
that there is a Linux underneath.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from muntin.kit.errors import Invalid

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
    """Where paths of a drive are on Linux."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def local(self, path: str) -> Path:
        """The Linux path of ``path``: existing names in their own case, others as given.

        Raises:
            Invalid: it is not on this drive.
        """
        current = self._root
        for name in drive_path(path).parts:
            current = current / _existing(current, name)
        return current


def _existing(folder: Path, name: str) -> str:
    if (folder / name).exists() or (folder / name).is_symlink():
        return name
    try:
        entries = [entry.name for entry in folder.iterdir()]
    except OSError:
        return name
    return next((entry for entry in entries if entry.lower() == name.lower()), name)
