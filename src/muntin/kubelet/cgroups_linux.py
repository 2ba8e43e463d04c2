"""A pod's cgroup: its pids limit and its removal. Linux only.

Source: Linux Documentation/admin-guide/cgroup-v1/pids.rst and cgroup-v2.rst "PID".
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from muntin.kit.errors import Unavailable

ROOT = Path("/sys/fs/cgroup")


def limit_pids(path: str, limit: int, root: Path = ROOT) -> None:
    """Make the cgroup ``path`` if it is not there; all below it have at most ``limit`` processes.

    Raises:
        Unavailable: the machine does not count processes in cgroups.
    """
    try:
        if (root / "pids").is_dir():
            group = root / "pids" / path.strip("/")
            group.mkdir(parents=True, exist_ok=True)
        else:
            group = root
            for part in path.strip("/").split("/"):
                (group / "cgroup.subtree_control").write_text("+pids")
                group /= part
                group.mkdir(exist_ok=True)
        (group / "pids.max").write_text(str(limit))
    except OSError as err:
        raise Unavailable(f"podPidsLimit {limit} of cgroup {path}: {err.strerror or err}") from err


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
