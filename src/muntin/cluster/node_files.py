"""Where the files of a node are on this machine: each node has a root of its own.

A Linux node sees the machine's programs and kernel interfaces, and for all else its own root; a
Windows node has a folder that stands for its C: drive. A kubelet on a machine of its own uses
``muntin.kubelet.platform.OwnFiles`` instead.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from muntin.winruntime.windows_paths import HostDrive

SHARED = ("/bin", "/dev", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
"""What nodes of one machine have in common: a hostPath there is the machine's own."""


class LinuxNodeFiles:
    """Paths of a Linux node below ``root``, but for the shared ones."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def local(self, path: str) -> Path:
        """Where ``path`` of the node is; a ``..`` never leads out of the root."""
        pure = PurePosixPath("/")
        for part in PurePosixPath(path).parts:
            pure = pure.parent if part == ".." else pure / part
        if any(str(pure) == shared or str(pure).startswith(f"{shared}/") for shared in SHARED):
            return Path(pure)
        return self._root / pure.relative_to("/")

    def runtime(self, path: str) -> str:
        """containerd runs on the machine itself, so it is told where the file really is."""
        return str(self.local(path))


class WindowsNodeFiles:
    """Paths of a Windows node; its runtime is told them as they are."""

    def __init__(self, drive: Path) -> None:
        self._drive = HostDrive(drive)

    def local(self, path: str) -> Path:
        """Where ``path`` of the node is."""
        return self._drive.local(path)

    def runtime(self, path: str) -> str:
        """The runtime knows Windows paths."""
        return path
