"""Files that are written in one step.

Who reads such a file, and who comes after a process was killed while it wrote, finds what was
there before or all that was to be written.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from muntin.kit import disk, user_files

_PAD_BYTES = 4096


def put(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Make ``path`` a file of ``data``; its folder must be there. Several may at once."""
    _write(path, f".{path.name}.{os.getpid()}-{threading.get_ident()}", data, mode, None)


def keep(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write ``data`` to ``path`` unless the file has this content already, so that a rewrite needs
    no room on a full disk. The folder must exist."""
    try:
        if path.read_bytes() == data:
            return
    except FileNotFoundError:
        pass
    put(path, data, mode=mode)


def put_padded(path: Path, data: bytes) -> None:
    """As ``put``, padded with spaces, so that on a full disk the file is overwritten in place.

    Concurrent readers may then see a mix of new and old data.

    Raises:
        OSError: the disk is full, and ``data`` is longer than the file.
    """
    padded = data.ljust(_PAD_BYTES * (len(data) // _PAD_BYTES + 2))
    try:
        put(path, padded)
    except OSError as err:
        if not disk.is_full_error(err):
            raise
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            if (size := os.fstat(fd).st_size) < len(data):
                raise
            os.pwrite(fd, data.ljust(size), 0)
        finally:
            os.close(fd)


def change(path: Path, data: bytes) -> None:
    """Make ``data`` what ``path`` holds, on disk, too, while nobody else does: owner, mode and
    symbolic links stay; a new file belongs to its folder's owner, mode 0600.

    Raises:
        Forbidden: a symbolic link of another user leads to a file that is not his.
    """
    if hasattr(os, "O_PATH"):  # Linux
        with user_files.opened(path) as file:
            file.write(data)
        return
    real = path.resolve()
    is_new = not real.exists()
    model = (real.parent if is_new else real).stat()
    mode = 0o600 if is_new else model.st_mode & 0o777
    _write(real, f".{real.name}.new", data, mode, (model.st_uid, model.st_gid))


def make_private_folder(path: Path) -> None:
    """Make the folder ``path``, or one that is there already, accessible to its owner only."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.chmod(0o700)


def _write(path: Path, name: str, data: bytes, mode: int, owner: tuple[int, int] | None) -> None:
    temporary = path.with_name(name)
    temporary.unlink(missing_ok=True)  # of one that was killed
    try:
        with open(temporary, "xb", opener=_for_us_alone) as file:
            file.write(data)
            if owner is not None:
                file.flush()
                os.fsync(file.fileno())
        temporary.chmod(mode)
        if owner is not None and hasattr(os, "geteuid") and os.geteuid() == 0:  # not on Windows
            os.chown(temporary, *owner)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)  # on a full disk it takes room for nothing
        raise


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
