"""Finds and removes what a cluster leaves on the machine, however its processes ended.

Nothing here trusts records: processes are found by the namespaces they are in and the files they
hold, mounts by their paths, control groups by their names.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from muntin.cluster import fabric, locks
from muntin.cluster.paths import RUN_ROOT, STATE_ROOT, ClusterPaths
from muntin.kit import mounts, netns, numbers

_CGROUP_ROOT = Path("/sys/fs/cgroup")
_KILL_WAIT_S, _CGROUP_WAIT_S = 5.0, 10.0


def remove_runtime(cluster: str, *, by_supervisor: bool = False) -> None:
    """Remove all but the state that lets the cluster come back: objects, keys, logs.

    ``by_supervisor``: this process is the cluster's supervisor, and stays.
    """
    paths = ClusterPaths(cluster)
    kill_processes(paths, by_supervisor=by_supervisor)
    unmount_below((paths.run, paths.state))
    fabric.remove(cluster)
    remove_cgroups(paths.cgroup())
    mounts.remove_tree(paths.run)
    mounts.remove_tree(paths.state / "nodes")
    _remove_if_empty(RUN_ROOT)


def remove_state(cluster: str) -> None:
    """Remove what ``remove_runtime`` left: objects, keys, logs. The user's kubeconfig stays."""
    mounts.remove_tree(ClusterPaths(cluster).state)
    _remove_if_empty(STATE_ROOT)


def kill_processes(paths: ClusterPaths, *, by_supervisor: bool = False) -> None:
    """Kill every process in a namespace or control group of the cluster, and its supervisor, until
    none is left."""
    deadline = time.monotonic() + _KILL_WAIT_S
    while time.monotonic() < deadline:
        found = set(processes(paths)) - {os.getpid()}
        # Asked last: a watchdog takes the lock before it leaves the namespaces. Not asked by the
        # supervisor: it would lose its lock by closing the file.
        if not by_supervisor and (owner := locks.holder(paths.lock)):
            found.add(owner)
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def processes(paths: ClusterPaths) -> Iterator[int]:
    """Processes in a network namespace of the cluster, in its control groups, or with its files
    as their program's arguments (the relay to the world lives in the host's namespace)."""
    namespaces = _namespace_ids(paths)
    mark = os.fsencode(paths.run) + b"/"
    grouped = re.compile(rf":/{re.escape(paths.cgroup())}(/|$)", re.MULTILINE)
    for entry in Path("/proc").iterdir():
        if not numbers.is_digits(entry.name):
            continue
        with suppress(OSError):
            if (
                (entry / "ns" / "net").stat().st_ino in namespaces
                or grouped.search((entry / "cgroup").read_text())
                or _is_helper((entry / "cmdline").read_bytes(), mark)
            ) and _is_alive(entry):
                yield int(entry.name)


_HELPERS = (b"slirp4netns", b"containerd", b"containerd-shim-runc-v2", b"runc")


def _is_helper(cmdline: bytes, mark: bytes) -> bool:
    """Whether a helper's argument, or the value of its flag, is a path that begins with ``mark``.

    Another cluster's folder may end with this one's path: ``/tmp/run/muntin/a/``.
    """
    program, *arguments = cmdline.split(b"\0")
    if program.rpartition(b"/")[2] not in _HELPERS:
        return False
    return any(
        argument.startswith(mark) or argument.partition(b"=")[2].startswith(mark)
        for argument in arguments
    )


def _is_alive(entry: Path) -> bool:
    state = (entry / "stat").read_text().rpartition(") ")[2][:1]
    return state not in ("Z", "X")


def _namespace_ids(paths: ClusterPaths) -> set[int]:
    host = Path("/proc/self/ns/net").stat().st_ino
    files = [netns.path_of(name) for name in fabric.namespaces(paths.name)]
    files += [Path(row.target) for row in mounts.below((paths.run,)) if row.kind == "nsfs"]
    return {path.stat().st_ino for path in files if path.exists()} - {host}


def unmount_below(roots: Iterable[Path]) -> None:
    """Detach every mount below ``roots``, the innermost first."""
    for row in reversed(mounts.below(roots)):
        mounts.detach(row.target)


def remove_cgroups(name: str) -> None:
    """Remove the control group ``name`` and those in it from every hierarchy.

    A group can be removed some time after its processes were killed only, so this tries again.
    """
    deadline = time.monotonic() + _CGROUP_WAIT_S
    while _cgroups_left(name) and time.monotonic() < deadline:
        time.sleep(0.02)


def _cgroups_left(name: str) -> bool:
    """Remove what can be removed now; whether something is left."""
    left = False
    roots = [_CGROUP_ROOT]
    if not (_CGROUP_ROOT / "cgroup.controllers").exists() and _CGROUP_ROOT.is_dir():
        roots = [path for path in _CGROUP_ROOT.iterdir() if path.is_dir()]
    for root in roots:
        top = root / name
        for folder, _, _ in os.walk(top, topdown=False):
            with suppress(OSError):
                Path(folder).rmdir()
        left = left or top.exists()
        with suppress(OSError):
            top.parent.rmdir()
    return left


def _remove_if_empty(path: Path) -> None:
    with suppress(OSError):
        path.rmdir()
