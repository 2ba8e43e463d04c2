"""Files at paths given by the user, read and replaced by a program that may run as root.

The path is walked once (``path_walk``); after that the file is accessed by its folder's descriptor,
because the folder's owner may plant symbolic links, FIFOs and other files at any time.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from muntin.kit.errors import Invalid
from muntin.kit.path_walk import Walk

READ_BYTES = 16 * 1024 * 1024


class UserFile:
    """The file ``name`` in the folder of the descriptor ``folder``; it need not be there."""

    def __init__(self, path: Path, folder: int, name: str) -> None:
        self.path, self.folder, self.name = path, folder, name

    def read(self) -> bytes | None:
        """Its content; None if it does not exist.

        Raises:
            Invalid: it is not a regular file, or too large.
        """
        try:
            with self.reader() as file:
                data = file.read(READ_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(data) > READ_BYTES:
            raise Invalid(f"{self.path} is larger than {READ_BYTES} bytes\nuse another file")
        return data

    def reader(self) -> BinaryIO:
        """The file opened for reading; the caller closes it.

        Raises:
            Invalid: it is not a regular file.
            FileNotFoundError: it does not exist.
        """
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.name, flags, dir_fd=self.folder)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise Invalid(f"{self.path} is not a regular file\nuse another file")
        return os.fdopen(fd, "rb")

    def exists(self) -> bool:
        """Whether a file of any type has its name."""
        try:
            os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def create(self, content: BinaryIO) -> None:
        """Create it with ``content``, mode 0600 and synced to disk; atomically if the file system
        supports O_TMPFILE.

        Raises:
            FileExistsError: something has its name.
        """
        flags, named = os.O_WRONLY | os.O_CLOEXEC, False
        try:
            fd = os.open(".", flags | os.O_TMPFILE, 0o600, dir_fd=self.folder)
        except OSError:
            named = True
            fd = os.open(self.name, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=self.folder)
        with os.fdopen(fd, "wb") as file:
            try:
                shutil.copyfileobj(content, file)
                file.flush()
                os.fsync(fd)
                if not named:
                    source = f"/proc/self/fd/{fd}"
                    os.link(source, self.name, src_dir_fd=fd, dst_dir_fd=self.folder)
            except OSError:
                if named:
                    self._unlink(self.name)
                raise

    def write(self, data: bytes) -> None:
        """Atomically replace its content by ``data``, synced to disk. Owner and mode are kept; a
        new file gets its folder's owner and mode 0600."""
        uid, gid, mode = self._model()
        temporary = f".{self.name}.new"
        self._unlink(temporary)  # of one that was killed
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o600, dir_fd=self.folder)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                if os.geteuid() == 0:
                    os.fchown(fd, uid, gid)
                os.fchmod(fd, mode)
                os.fsync(fd)
            os.rename(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except OSError:
            with suppress(OSError):
                self._unlink(temporary)  # on a full disk it takes room for nothing
            raise

    def unlink(self) -> None:
        """Remove it; absent is fine."""
        self._unlink(self.name)

    def _unlink(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.folder)

    def _model(self) -> tuple[int, int, int]:
        try:
            own = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            folder = os.fstat(self.folder)
            return folder.st_uid, folder.st_gid, 0o600
        return own.st_uid, own.st_gid, own.st_mode & 0o777


@contextmanager
def opened(path: Path, *, follow: bool = True, make_folders: bool = False) -> Iterator[UserFile]:
    """The file at ``path``, held by its folder. Without ``follow`` it is itself no link.

    Raises:
        Forbidden: a link leads to what another user owns.
        OSError: a folder is not there (ENOENT), or no folder (ENOTDIR).
    """
    walk = Walk(path)
    try:
        name = walk.to_folder(follow, make_folders)
        walk.check_links(name)
        yield UserFile(path, walk.folder, name)
    finally:
        os.close(walk.folder)
