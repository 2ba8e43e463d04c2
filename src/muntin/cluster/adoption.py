"""Finds the processes that a killed supervisor left running, so that its successor can adopt them.

The processes of a cluster do not depend on their supervisor, whose last record names them. A
process is adopted only if its start time matches the record, because process ids are reused.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from muntin.cluster import fabric_plan, seats
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import State, Survivor
from muntin.kit import netns

WATCHDOG = "watchdog"
_SYS_PIDFD_GETFD = 438  # Linux 5.6; the same on all architectures
_START_FIELD = 22 - 3  # proc_pid_stat(5), counted behind the name and the state
_libc = ctypes.CDLL(None, use_errno=True)


Survivors = Mapping[str, Survivor]
"""By the names of their components."""


def document(states: Iterable[State]) -> dict[str, Any]:
    """The record of a supervisor that runs ``states``."""
    rows = [
        {
            "name": state.component.name,
            "pid": state.pid,
            "start": start_time(state.pid),
            "inherited": list(state.inherited),
            "restarts": state.restarts,
            "lastExit": state.last_exit,
            "silentSince": state.silent_since,
        }
        for state in states
    ]
    return {"version": _version(), "supervisor": os.getpid(), "components": rows}


def find(config: ClusterConfig, paths: ClusterPaths) -> Survivors | None:
    """The processes of ``config`` that a supervisor can adopt; None if it must start all again.

    That is so if the network is incomplete, or another version of Muntin started the processes.
    """
    try:
        record = json.loads(paths.control.read_text())
        if record["version"] != _version():
            return None
        rows = {row["name"]: _survivor(row) for row in record["components"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    places = fabric_plan.plan(config).places
    if not all(netns.exists(paths.netns(place)) for place in places):
        return None
    rows.pop(WATCHDOG, None)  # it watches one supervisor, which is gone
    return rows


def listeners(survivors: Survivors) -> list[socket.socket]:
    """The sockets that control planes share, taken from one that runs; none if none does.

    Raises:
        OSError: the kernel does not give them away.
    """
    for name, row in survivors.items():
        if seats.is_seat(name) and row.pid:
            return [_taken(row.pid, fd) for fd in row.inherited]
    return []


def start_time(pid: int) -> int:
    """When ``pid`` was started, in clock ticks after boot; 0 if it does not run."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text() if pid else ""
    except OSError:
        return 0
    state, *rest = text.rpartition(") ")[2].split() or ["X"]
    return 0 if state in ("Z", "X") else int(rest[_START_FIELD - 1])


def _survivor(row: dict[str, Any]) -> Survivor:
    pid, start = int(row["pid"]), int(row["start"])
    alive = bool(pid) and start != 0 and start_time(pid) == start
    inherited = tuple(int(fd) for fd in row["inherited"])
    return Survivor(pid if alive else 0, int(row["restarts"]), inherited)


def _taken(pid: int, fd: int) -> socket.socket:
    process = os.pidfd_open(pid)
    try:
        own = _libc.syscall(_SYS_PIDFD_GETFD, process, fd, 0)
        if own < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"descriptor {fd} of process {pid}: {os.strerror(number)}")
    finally:
        os.close(process)
    return socket.socket(fileno=own)


def _version() -> str:
    from importlib.metadata import version

    return version("muntin")
