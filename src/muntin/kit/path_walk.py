"""Walks a path given by the user once, component by component, and holds its last folder.

A folder of another user may hold symbolic links that he planted, and he may change it at any
moment. A link is followed only if it belongs to root or to this process' user, or if what it leads
to belongs to the link's owner: who could write there without us.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from muntin.kit.errors import Forbidden

_LINKS = 40  # as the kernel


class Walk:
    """``folder`` is a descriptor (O_PATH); the caller closes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._todo = list(reversed(path.absolute().parts[1:]))
        self._links: list[tuple[str, int]] = []
        self.folder = _open("/")

    def to_folder(self, follow: bool, make_folders: bool) -> str:
        """Go to the folder of the file; returns the file's name in it."""
        while self._todo:
            name = self._todo.pop()
            try:
                fd = _open(name, self.folder)
            except FileNotFoundError:
                if not self._todo:
                    return name
                if not make_folders:
                    raise
                os.mkdir(name, 0o750, dir_fd=self.folder)
                self._todo.append(name)
                continue
            status = os.fstat(fd)
            if stat.S_ISLNK(status.st_mode) and (follow or self._todo):
                self._follow(name, fd, status.st_uid)
            elif self._todo:
                self._enter(fd)
            else:
                os.close(fd)
                if stat.S_ISDIR(status.st_mode):
                    break
                return name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self._path))

    def check_links(self, name: str) -> None:
        """Raise Forbidden if a link was followed that its owner had no right to lead us by."""
        try:
            owner = os.stat(name, dir_fd=self.folder, follow_symlinks=False).st_uid
        except FileNotFoundError:
            owner = os.fstat(self.folder).st_uid
        for link, uid in self._links:
            if uid not in (0, os.geteuid(), owner):
                raise Forbidden(
                    f"{self._path}: the symbolic link {link} of user {uid} leads to a file of user "
                    f"{owner}\ngive the file itself"
                )

    def _follow(self, name: str, link: int, uid: int) -> None:
        try:
            target = os.readlink("", dir_fd=link)
        finally:
            os.close(link)
        self._links.append((name, uid))
        if len(self._links) > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(self._path))
        if target.startswith("/"):
            self._enter(_open("/"))
        self._todo += [part for part in reversed(target.split("/")) if part not in ("", ".")]

    def _enter(self, folder: int) -> None:
        os.close(self.folder)
        self.folder = folder


def _open(name: str, folder: int | None = None) -> int:
    return os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
