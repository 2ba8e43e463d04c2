"""How a cluster is: its processes with their memory, its nodes."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muntin.cluster import locks
from muntin.cluster.admin import AdminClient, NodeRow, node_rows
from muntin.cluster.config import ClusterConfig
from muntin.cluster.liveness import process_state
from muntin.cluster.paths import ClusterPaths
from muntin.kit.errors import Internal, Unavailable
from muntin.kit.timestamps import rfc3339

_READS = 20
_NAMED = 10
"""How many names a sentence has; of simulated nodes there may be thousands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRow:
    """One process; ``memory_mib`` is its proportional share (PSS)."""

    name: str
    state: str
    pid: int
    restarts: int
    memory_mib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """``trouble`` is empty when the cluster is healthy."""

    components: list[ComponentRow]
    nodes: list[NodeRow] = field(default_factory=list)
    trouble: str = ""

    @property
    def healthy(self) -> bool:
        return not self.trouble


def status(config: ClusterConfig) -> Status:
    """What can be seen of ``config`` now; nothing is raised for what does not answer."""
    paths = ClusterPaths(config.name)
    owner = locks.holder(paths.lock)
    components = [_row("supervisor", owner, 0), *_recorded(paths)]
    nodes: list[NodeRow] = []
    trouble = "" if owner else "the supervisor does not run"
    client = AdminClient(config)
    try:
        nodes = node_rows(client.get("/api/v1/nodes")["items"])
    except Unavailable as err:
        trouble = trouble or err.message
    finally:
        client.close()
    down = [row.name for row in components if row.state != "running"]
    unready = [row.name for row in nodes if row.status != "Ready"]
    if not trouble and (down or unready):
        trouble = f"not running or not Ready: {_some([*down, *unready])}"
    return Status(components=components, nodes=nodes, trouble=trouble)


def _some(names: list[str]) -> str:
    """The names, the first few of many."""
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def pss_mib(pid: int) -> float:
    """The proportional set size of a process; 0 when it is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    match = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) / 1024 if match else 0.0


def _recorded(paths: ClusterPaths) -> list[ComponentRow]:
    try:
        rows = _read_record(paths)["components"]
    except FileNotFoundError:
        return []
    return [_row(row["name"], row["pid"], row["restarts"], row["silentSince"]) for row in rows]


def _read_record(paths: ClusterPaths) -> dict[str, Any]:
    """What the supervisor wrote last; on a full disk it writes in place, so this tries again."""
    for _ in range(_READS):
        with suppress(json.JSONDecodeError):
            return dict(json.loads(paths.control.read_text()))
        time.sleep(0.01)
    raise Internal(f"{paths.control} cannot be read\nsee `muntin logs supervisor`")


def _state(letter: str, silent_since: float | None) -> str:
    """A component's state in words, from its process' (proc_pid_stat(5)). Pure."""
    if letter in ("", "Z", "X"):
        return "stopped"
    if silent_since is not None:
        return f"not responding since {rfc3339(silent_since)}"
    return "not responding: stopped by a signal" if letter in ("T", "t") else "running"


def _row(name: str, pid: int, restarts: int, silent_since: float | None = None) -> ComponentRow:
    state = _state(process_state(pid) if pid else "", silent_since)
    alive = state != "stopped"
    return ComponentRow(
        name=name,
        state=state,
        pid=pid,
        restarts=restarts,
        memory_mib=pss_mib(pid) if alive else 0.0,
    )
