"""kill -9 of any process of a cluster, one after another: nothing is lost, nothing is left.

`make kills` kills 200 times; the last line it prints has the counts.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import crash_lab as lab
import machine
from whole_cluster import Cluster, eventually

KILLS = int(os.environ.get("MUNTIN_KILLS", "4"))
SEED = os.environ.get("MUNTIN_KILLS_SEED", "1")
SMALL = ("--linux-nodes", "1", "--windows-nodes", "1")
NODES = ("lin01", "win01")
PODS = {"l": "linux", "w": "windows"}
# Processes that are killed together. `up` is needed if no supervisor is left.
COMPONENTS = ("supervisor", "watchdog", "control-plane", "egress", "containerd-lin01", *NODES)
SHIMS, OWNERS, EVERYTHING = "shims", "supervisor and watchdog", "everything"


class Writer:
    """Makes ConfigMaps all the time, and remembers those that were acknowledged."""

    def __init__(self, cluster: Cluster) -> None:
        self.acknowledged: list[str] = []
        self._cluster = cluster
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._over.is_set():
            number += 1
            done = self._cluster.kubectl("create", "configmap", f"k{number}", check=False)
            if done.returncode == 0:
                self.acknowledged.append(f"k{number}")


def make(cluster: Cluster, *names: str) -> None:
    for name in names:
        counting = ("sh", "-c", lab.COUNT_ON_LINUX)
        if PODS[name] == "windows":
            counting = ("powershell", "-c", lab.COUNT_ON_WINDOWS)
        cluster.apply(lab.pod(name, PODS[name], *counting))
    cluster.wait_ready(*names)


def record(cluster: Cluster) -> dict[str, int]:
    """The processes as the supervisor wrote them down last."""
    text = Path(f"/run/muntin/{cluster.name}/supervisor.json").read_text()
    saved = json.loads(text)
    return {
        "supervisor": saved["supervisor"],
        **{row["name"]: row["pid"] for row in saved["components"]},
    }


def shims(cluster: Cluster) -> list[int]:
    """Of both nodes: containerd's, and those of the Windows runtime."""
    mine = f"/run/muntin/{cluster.name}/".encode()
    pids = [lab.processes(cluster, "win01", "w")["shim"]]
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"containerd-shim-runc-v2") and any(mine in row for row in words):
                pids.append(int(entry.name))
    return pids


def kill(cluster: Cluster, choice: str) -> None:
    pids = record(cluster)
    chosen = {
        SHIMS: lambda: shims(cluster),
        OWNERS: lambda: [pids["watchdog"], pids["supervisor"]],
        EVERYTHING: lambda: [pids.pop("watchdog"), *pids.values()],
    }
    for pid in chosen[choice]() if choice in chosen else [pids[choice]]:
        with suppress(ProcessLookupError):
            lab.kill(pid)


def all_run(cluster: Cluster, choice: str, before: dict[str, int]) -> bool:
    with suppress(OSError, ValueError, KeyError):
        now = record(cluster)
        replaced = choice not in before or now[choice] != before[choice]
        return replaced and all(lab.lives(pid) for pid in now.values())
    return False


def ready(cluster: Cluster) -> bool:
    return cluster.muntin("status", check=False).returncode == 0


def test_any_process_may_be_killed(other: Cluster) -> None:
    rng = Random(f"{SEED} kills")
    done: Counter[str] = Counter()
    longest_s: dict[str, float] = {}
    other.up(*SMALL)
    empty = {node: lab.held(other, node) for node in NODES}
    make(other, *PODS)
    containers = {name: lab.container(other, name) for name in PODS}
    order = [*COMPONENTS, OWNERS, EVERYTHING, SHIMS]
    with Writer(other) as writer:
        for number in range(KILLS):
            if number % len(order) == 0:
                rng.shuffle(order)
            choice = order[number % len(order)]
            before = record(other)
            began = time.monotonic()
            kill(other, choice)
            if choice in (OWNERS, EVERYTHING):
                other.up(*SMALL)
            eventually(lambda c=choice, b=before: all_run(other, c, b), 60, f"back after {choice}")
            eventually(lambda: ready(other), 60, f"healthy after {choice}")
            done[choice] += 1
            longest_s[choice] = max(longest_s.get(choice, 0.0), time.monotonic() - began)
            if choice == SHIMS:
                other.kubectl("delete", "pods", "--all", "--now", timeout_s=90)
                make(other, *PODS)
                containers = {name: lab.container(other, name) for name in PODS}
            assert {name: lab.container(other, name) for name in PODS} == containers, choice
    stored = {row["metadata"]["name"] for row in other.get("configmaps")["items"]}
    lost = set(writer.acknowledged) - stored
    other.kubectl("delete", "pods", "--all", "--now", timeout_s=90)
    left: dict[str, object] = {}

    def nothing_left() -> bool:
        left.clear()
        now = {node: lab.held(other, node) for node in NODES}
        for node in NODES:
            for kind, rows in now[node].items():
                if more := sorted(set(rows) - set(empty[node][kind])):
                    left[f"{node} {kind}"] = more
        return not left

    with suppress(AssertionError):
        eventually(nothing_left, 60)
    other.down()
    with suppress(AssertionError):
        eventually(lambda: not any(machine.traces(other.name).values()), 10)
    traces = {kind: rows for kind, rows in machine.traces(other.name).items() if rows}
    counts = {
        "kills": sum(done.values()),
        "of": dict(done),
        "longest_s": {name: round(seconds, 1) for name, seconds in longest_s.items()},
        "acknowledged": len(writer.acknowledged),
        "lost": len(lost),
        "left": len(left),
        "traces": len(traces),
    }
    print(json.dumps(counts))
    assert (sorted(lost), left, traces) == ([], {}, {})
    assert sum(done.values()) == KILLS
    assert writer.acknowledged
