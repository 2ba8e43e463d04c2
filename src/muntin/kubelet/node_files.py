"""The node's file system, however this process reaches it.

Containers, and pods with a hostPath, may rename and link whatever they reach while the kubelet
works. So a path is resolved once, inside the node's root, and what follows uses the descriptor.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from muntin.kit import mounts
from muntin.kit.safe_paths import bind_mount, make_folders, open_beneath, open_in_root
from muntin.kit.trees import remove_tree

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@dataclass(frozen=True, slots=True)
class MountLimits:
    """How a container may have what a hostPath leads to.

    ``recursive`` is with what is mounted below.
    """

    read_only: bool = False
    recursive: bool = True


NO_LIMITS = MountLimits()


class NodeFiles(Protocol):
    """Paths are the node's own: ``/var/lib/kubelet``, or ``C:\\var\\lib\\kubelet``.

    Methods raise OSError. Those with ``host`` in their name are for paths that users give
    (hostPath, local volumes); the others are for the kubelet's own files.
    """

    @property
    def runtime_resolves(self) -> bool:
        """Whether the runtime opens mount sources by descriptor, inside the node's root, itself."""

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        """A descriptor of ``path``."""

    def make_folders(self, path: str, mode: int = 0o755) -> int:
        """A descriptor (O_PATH) of the folder ``path``, which is made if it is missing."""

    def open_host(self, path: str, flags: int, mode: int = 0) -> int:
        """A descriptor of ``path``."""

    def make_host_folders(self, path: str, mode: int = 0o755) -> int:
        """A descriptor (O_PATH) of the folder ``path``, which is made if it is missing."""

    def mount_limits(self, fd: int, *, privileged: bool) -> MountLimits:
        """How a container may have what ``fd``, a descriptor of a hostPath, refers to.

        Raises:
            Invalid: not at all.
        """

    def remove_host(self, path: str) -> None:
        """Remove the folder ``path`` with all that is in it; absent is fine."""

    def runtime(self, path: str) -> str:
        """How the node's container runtime is given ``path``."""

    def link_to(self, path: str) -> str:
        """What a symbolic link to ``path`` holds that only the node itself can follow."""

    def expose(self, fd: int, path: str, limits: MountLimits = NO_LIMITS) -> None:
        """Mount what ``fd`` refers to at ``path``, in place of what was mounted there."""

    def conceal(self, path: str) -> None:
        """Unmount what is mounted at ``path``."""

    def remove(self, path: str) -> None:
        """Unmount what is mounted at and below ``path``, and remove it; absent is fine."""


class RootedFiles:
    """A node whose root is the folder ``root`` of this machine; its own files may be elsewhere."""

    runtime_resolves = True

    def __init__(self, root: Path) -> None:
        self._root = root

    def _own_place(self, path: str) -> tuple[Path, str]:
        """A folder that nothing of the node's reaches above, and the way from there."""
        return self._host_place(path)

    def _host_place(self, path: str) -> tuple[Path, str]:
        """The root for ``path``, and the way from there."""
        return self._root, path.lstrip("/") or "."

    def open(self, path: str, flags: int, mode: int = 0) -> int:
        return open_in_root(*self._own_place(path), flags, mode)

    def make_folders(self, path: str, mode: int = 0o755) -> int:
        return make_folders(*self._own_place(path), mode)

    def open_host(self, path: str, flags: int, mode: int = 0) -> int:
        return open_in_root(*self._host_place(path), flags, mode)

    def make_host_folders(self, path: str, mode: int = 0o755) -> int:
        return make_folders(*self._host_place(path), mode)

    def mount_limits(self, fd: int, *, privileged: bool) -> MountLimits:
        return NO_LIMITS

    def remove_host(self, path: str) -> None:
        _remove(*self._host_place(path))

    def runtime(self, path: str) -> str:
        return path

    def link_to(self, path: str) -> str:
        return "/" + self._own_place(path)[1]

    def expose(self, fd: int, path: str, limits: MountLimits = NO_LIMITS) -> None:
        root, below = self._own_place(path)
        _detach(root, below)
        parent, _, name = below.rpartition("/")
        with closing(make_folders(root, parent, 0o750)) as folder:
            _make_target(folder, name, is_folder=stat.S_ISDIR(os.fstat(fd).st_mode))
            with closing(open_beneath(folder, name, os.O_PATH)) as target:
                bind_mount(fd, target, read_only=limits.read_only, recursive=limits.recursive)

    def conceal(self, path: str) -> None:
        _detach(*self._own_place(path))

    def remove(self, path: str) -> None:
        root, below = self._own_place(path)
        root = root.resolve()  # the mount table has no links
        for row in reversed(mounts.below([root / below])):
            _detach(root, str(Path(row.target).relative_to(root)))
        _remove(root, below)


class OwnFiles(RootedFiles):
    """The node's file system is this process's own: a kubelet on the machine it serves."""

    def __init__(self) -> None:
        super().__init__(Path("/"))


@contextmanager
def closing(fd: int) -> Iterator[int]:
    """``fd``, which is closed at the end."""
    try:
        yield fd
    finally:
        os.close(fd)


def names_in(folder: int) -> list[str]:
    """The names in a folder that is open."""
    return os.listdir(folder)


def _remove(root: Path, path: str) -> None:
    parent, _, name = path.rpartition("/")
    try:
        folder = open_in_root(root, parent or ".", _FOLDER)
    except FileNotFoundError:
        return
    with closing(folder):
        remove_tree(folder, name)


def _make_target(folder: int, name: str, *, is_folder: bool) -> None:
    """Make ``name`` a folder or a file for something to be mounted over."""
    remove_tree(folder, name)
    if is_folder:
        os.mkdir(name, 0o750, dir_fd=folder)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    os.close(os.open(name, flags, 0o600, dir_fd=folder))


def _detach(root: Path, path: str) -> None:
    """Unmount all that is mounted at ``path``, one upon the other."""
    while True:
        try:
            fd = open_beneath(root, path, os.O_PATH)
        except FileNotFoundError:
            return
        with closing(fd):
            if not mounts.detach_fd(fd):
                return
