"""The cgroups that runtimes leave behind: a pod's own, once its containers are gone. Linux only."""

from __future__ import annotations

import contextlib
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


def remove_cgroup(path: str, root: Path = ROOT) -> None:
    """Remove ``path`` (from the root of each hierarchy) and what is below it, if it is empty.

    Both layouts are served: one directory per controller (v1), and a single tree (v2).
    """
    below = path.strip("/")
    for hierarchy in [root, *(entry for entry in root.iterdir() if entry.is_dir())]:
        top = hierarchy / below
        if not top.is_dir():
            continue
        folders = [entry for entry in top.rglob("*") if entry.is_dir()]
        for folder in [*sorted(folders, reverse=True), top]:
            with contextlib.suppress(OSError):  # still in use: the next removal takes it
                folder.rmdir()
