"""Memory and processor time of a cluster at rest: every process of it, 60 s after Ready."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import page
from clusters import NAME
from measure import table

from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.status import pss_mib

SETTLE_S, WATCH_S = 60.0, 10.0
TARGET_MIB = 300
_TICKS = os.sysconf("SC_CLK_TCK")


def measure(config: ClusterConfig, *, passage: str = "memory") -> None:
    """Must be called right after the cluster became Ready, or came to rest."""
    time.sleep(SETTLE_S)
    processes = _processes()
    before = {pid: _cpu_s(pid) for pid in processes}
    memory = {pid: pss_mib(pid) for pid in processes}
    time.sleep(WATCH_S)
    rows = []
    for pid, name in processes.items():
        share = (_cpu_s(pid) - before[pid]) / WATCH_S
        rows.append((name, f"{memory[pid]:.1f} MiB", f"{share:.1%}"))
    share = sum(_cpu_s(pid) - before[pid] for pid in processes) / WATCH_S
    rows.append(("**sum**", f"**{sum(memory.values()):.0f} MiB**", f"**{share:.1%}**"))
    page.write(passage, table(("process", "PSS", "of one processor"), rows))


def processor_s(name: str) -> float:
    """The processor time that the process ``name`` of the cluster has taken so far."""
    return sum(_cpu_s(pid) for pid, found in _processes().items() if found == name)


def _processes() -> dict[int, str]:
    """Process ids with names: the supervisor and all that descend from it, found in /proc."""
    record = json.loads(ClusterPaths(NAME).control.read_text())
    named = {row["pid"]: row["name"] for row in record["components"]}
    named[record["supervisor"]] = "supervisor"
    parents = {int(path.name): _parent(path) for path in Path("/proc").glob("[0-9]*")}
    found: dict[int, str] = {}
    for pid in sorted(parents):
        chain = [pid]
        while chain[-1] in parents and chain[-1] not in named:
            chain.append(parents[chain[-1]])
        if chain[-1] in named:
            name = named[chain[-1]]
            found[pid] = name if chain == [pid] else f"{name}: {_command(pid)}"
    return found


def _parent(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
