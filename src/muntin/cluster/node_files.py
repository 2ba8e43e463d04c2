"""Where the files of a node are on this machine: each node has a root of its own.

A Linux node sees the machine's programs and kernel interfaces, and for all else its own root; a
Windows node has a folder that stands for its C: drive. A kubelet on a machine of its own uses
``muntin.kubelet.node_files.OwnFiles`` instead.
"""

from __future__ import annotations

import logging
import os
import posixpath
from contextlib import suppress
from pathlib import Path

from muntin.kit.errors import Invalid
from muntin.kit.log import fields
from muntin.kit.safe_paths import bind_mount, fd_path, make_folders, open_in_root
from muntin.kubelet.node_files import MountLimits, RootedFiles, closing
from muntin.winruntime.windows_paths import HostDrive

log = logging.getLogger(__name__)

SHARED = ("/bin", "/dev", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
"""Folders that all nodes share: a hostPath below them is the machine's folder, if it exists."""

_PROGRAMS = ("/bin", "/lib", "/lib64", "/sbin", "/usr")
_KERNEL = ("/dev", "/proc", "/sys")
"""Of the shared paths, what no pod may change, and what privileged containers may change only:
core_pattern, sysrq-trigger, release_agent and others are ways to run programs on the machine."""

_NOT_SHARED = ("/dev/hugepages", "/dev/mqueue", "/dev/pts", "/dev/shm")
"""Folders of terminals, queues and shared memory, of which each node has its own."""

_OWN = {"/var/lib/kubelet": "kubelet", "/var/log/pods": "pod-logs"}
"""The kubelet's own folders, and their names beside the node's root. containerd resolves paths
below them by name, so no container may change what is there."""


class LinuxNodeFiles(RootedFiles):
    """Paths of a Linux node whose state is in the folder ``state``."""

    runtime_resolves = False

    def __init__(self, state: Path) -> None:
        super().__init__(state / "root")
        self._state = state

    def prepare(self) -> None:
        """Make the node's folders, and show its root the kubelet's own, read-only, as a node has
        them: log collectors read the logs of pods there."""
        self._root.mkdir(parents=True, exist_ok=True)
        for path, name in _OWN.items():
            (self._state / name).mkdir(exist_ok=True)
            try:
                self._show(path, self._state / name)
            except OSError as err:  # a pod with the root as hostPath has put something there
                log.warning("folder not mounted in the node", **fields(path=path, error=err))

    def _show(self, path: str, own: Path) -> None:
        os.close(make_folders(self._root, path))
        with (
            closing(os.open(own, os.O_PATH | os.O_DIRECTORY)) as source,
            closing(open_in_root(self._root, path, os.O_PATH | os.O_DIRECTORY)) as target,
        ):
            if not os.path.samestat(os.fstat(source), os.fstat(target)):
                bind_mount(source, target, read_only=True, recursive=False, private=True)

    def _own_place(self, path: str) -> tuple[Path, str]:
        plain = _plain(path)
        for top, name in _OWN.items():
            if _is_below(plain, top):
                return self._state / name, plain[len(top) + 1 :] or "."
        return self._host_place(path)

    def _host_place(self, path: str) -> tuple[Path, str]:
        return self._root, _plain(path)[1:] or "."

    def open_host(self, path: str, flags: int, mode: int = 0) -> int:
        """Shared folders are the machine's; folders that the machine lacks are the node's own."""
        if _is_shared(path) and not flags & os.O_CREAT:
            with suppress(FileNotFoundError):
                return open_in_root(Path("/"), _plain(path)[1:], flags)
        return super().open_host(path, flags, mode)

    def make_host_folders(self, path: str, mode: int = 0o755) -> int:
        """Nothing is made on the machine itself."""
        if _is_shared(path):
            with suppress(FileNotFoundError):
                return self.open_host(path, os.O_PATH | os.O_DIRECTORY)
        return super().make_host_folders(path, mode)

    def mount_limits(self, fd: int, *, privileged: bool) -> MountLimits:
        """Read-only mounts stay read-only, even if the runtime is asked to mount them writable."""
        place = str(Path(fd_path(fd)).readlink())
        read_only = bool(os.fstatvfs(fd).f_flag & os.ST_RDONLY)
        if _is_below(place, str(self._root.resolve())):
            return MountLimits(read_only=read_only)
        read_only = read_only or any(_is_below(place, top) for top in _PROGRAMS)
        if privileged:
            return MountLimits(read_only=read_only)
        if any(_is_below(place, top) for top in _NOT_SHARED):
            raise Invalid(f"{place} of the machine is for privileged containers only")
        kernels = any(_is_below(place, top) for top in _KERNEL)
        return MountLimits(read_only=read_only or kernels, recursive=place != "/dev")

    def runtime(self, path: str) -> str:
        """containerd runs on the machine itself, so it is given the place on the machine.

        Raises:
            Invalid: ``path`` is not below the kubelet's own folders; a container could plant a
                link there, which containerd would follow on the machine.
        """
        root, below = self._own_place(path)
        if root == self._root:
            raise Invalid(f"{path} is not a folder of the kubelet's own")
        return str(root / below)


class WindowsNodeFiles(RootedFiles):
    """Paths of a Windows node; its runtime knows them, and resolves them inside the drive."""

    def __init__(self, drive: Path) -> None:
        super().__init__(drive)
        self._drive = HostDrive(drive)

    def _host_place(self, path: str) -> tuple[Path, str]:
        return self._root, self._drive.relative(path)


def _is_shared(path: str) -> bool:
    plain = _plain(path)
    if any(_is_below(plain, top) for top in _NOT_SHARED):
        return False
    return any(_is_below(plain, top) for top in SHARED)


def _plain(path: str) -> str:
    """Absolute, without ``..``: what leads above the root stays there."""
    return "/" + posixpath.normpath("/" + path).lstrip("/")


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}/")
