"""What the tests of crashes kill, and what they look at before and after."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from muntin.cluster.paths import ClusterPaths
from muntin.kit import netns

SERVERCORE = "mcr.microsoft.com/windows/servercore:ltsc2019"
_GROUPS_OF_THE_NODE = ("kubepods", "besteffort", "burstable")
COUNT_ON_LINUX = "i=0; while true; do i=$((i+1)); echo n $i; sleep 0.1; done"
COUNT_ON_WINDOWS = '$i=0; while ($true) { $i++; Write-Host "n $i"; Start-Sleep -Milliseconds 100 }'


def pod(name: str, system: str, *command: str, node: str = "", **labels: str) -> dict[str, Any]:
    """A pod of one container that ends at once when it is asked to."""
    selector = {"kubernetes.io/os": system}
    if node:
        selector["kubernetes.io/hostname"] = node
    container = {
        "name": "c",
        "image": SERVERCORE if system == "windows" else "busybox:1.35",
        "command": list(command),
    }
    spec = {
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": selector,
        "containers": [container],
    }
    meta = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def pids(cluster: Any) -> dict[str, int]:
    """The processes of the cluster, by component."""
    rows = json.loads(cluster.muntin("status", "--output", "json", check=False).stdout)
    return {row["name"]: row["pid"] for row in rows["components"] if row["state"] == "running"}


def lives(pid: int) -> bool:
    """Whether the process is there, and more than a record that nobody has collected yet."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def version(cluster: Any) -> str:
    """The newest resource version."""
    listed = cluster.kubectl("get", "--raw", "/api/v1/namespaces").stdout
    return str(json.loads(listed)["metadata"]["resourceVersion"])


def events_since(cluster: Any, path: str, since: str, seconds: int) -> list[dict[str, Any]]:
    """What a watch of ``path`` from the version ``since`` tells within ``seconds``."""
    query = f"{path}?watch=1&timeoutSeconds={seconds}&resourceVersion={since}"
    return [json.loads(row) for row in cluster.kubectl("get", "--raw", query).stdout.splitlines()]


def container(cluster: Any, name: str) -> tuple[str, int]:
    """The id and the restart count of the pod's container."""
    status = cluster.get("pod", name)["status"]["containerStatuses"][0]
    return status["containerID"], status["restartCount"]


def numbers(cluster: Any, name: str) -> list[int]:
    """What a counting pod has logged."""
    lines = cluster.kubectl("logs", name).stdout.splitlines()
    return [int(line.split()[1]) for line in lines if line.startswith("n ")]


def reasons(cluster: Any, name: str) -> set[str]:
    """The reasons of the events about a pod."""
    found = cluster.get("events", "--field-selector", f"involvedObject.name={name}")["items"]
    return {row["reason"] for row in found}


def records(cluster: Any, node: str, kind: str) -> list[dict[str, Any]]:
    """What the runtime of a Windows node has on disk of its ``sandboxes`` or ``containers``."""
    folder = Path("/var/lib/muntin", cluster.name, "nodes", node, "runtime", kind)
    return [json.loads(file.read_bytes()) for file in folder.glob("*/record.json")]


def processes(cluster: Any, node: str, name: str) -> dict[str, int]:
    """The pause process, the shim and the first process of the running pod ``name``."""
    mine = [
        row
        for row in records(cluster, node, "containers")
        if row["config"]["labels"]["io.kubernetes.pod.name"] == name and not row["finished_at"]
    ]
    sandbox = next(
        row for row in records(cluster, node, "sandboxes") if row["id"] == mine[0]["sandbox_id"]
    )
    init = mine[0]["pid"]
    shim = int(Path(f"/proc/{init}/stat").read_text().rpartition(")")[2].split()[1])
    return {"pause": sandbox["pause_pid"], "shim": shim, "init": init}


def hns(cluster: Any, node: str, path: str) -> Any:
    """What the node's HNS answers to a GET; None when it does not, or has no such object."""
    socket = f"/run/muntin/{cluster.name}/{node}/hns.sock"
    done = subprocess.run(
        ["curl", "--silent", "--max-time", "5", "--unix-socket", socket, f"http://hns{path}"],
        capture_output=True,
        timeout=10,
    )
    return json.loads(done.stdout).get("Output") if done.returncode == 0 else None


def network_state(cluster: Any, node: str) -> dict[str, Any] | None:
    """A Windows node's networks, own endpoints, namespaces and virtual addresses.

    None if it is down, or one of them went while it was looked at.
    """
    found = {kind: hns(cluster, node, f"/v2/{kind}") for kind in ("networks", "namespaces")}
    endpoints, balancers = (
        hns(cluster, node, "/endpoints/"),
        hns(cluster, node, "/v2/loadbalancers"),
    )
    if None in (*found.values(), endpoints, balancers):
        return None
    fronts = [_front(cluster, node, one) for one in balancers]
    if None in fronts:
        return None
    return {
        **found,
        "endpoints": sorted(
            (row["ID"], row["IPAddress"]) for row in endpoints if not row.get("IsRemoteEndpoint")
        ),
        "balancers": sorted(map(json.dumps, fronts)),
    }


def _front(cluster: Any, node: str, balancer: Any) -> Any:
    """A load balancer without the ids of its back ends: kube-proxy makes remote ones anew."""
    if not isinstance(balancer, dict):
        balancer = hns(cluster, node, f"/v2/loadbalancers/{balancer}")
    if balancer is None:
        return None
    return [
        balancer["FrontendVIPs"],
        balancer["PortMappings"],
        len(balancer["HostComputeEndpoints"]),
    ]


def held(cluster: Any, node: str) -> dict[str, list[str]]:
    """All that pods take on a node: what must be back when they are gone."""
    while True:
        with contextlib.suppress(FileNotFoundError):  # it went while it was looked at
            return _held(cluster, node)


def _held(cluster: Any, node: str) -> dict[str, list[str]]:
    state = Path("/var/lib/muntin", cluster.name, "nodes", node)
    mine = f"/run/muntin/{cluster.name}/{node}/"
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    grouped = [
        str(folder)
        for root in Path("/sys/fs/cgroup").iterdir()
        for folder in (root / "muntin" / cluster.name / node).rglob("*/")
        if folder.is_dir() and folder.name not in _GROUPS_OF_THE_NODE
    ]
    found = {
        "namespaces": netns.names(_prefix(cluster, node)),
        "links": cluster.shell(node, "ip", "-brief", "link").splitlines(),
        "addresses": [str(path) for path in state.rglob("10.*") if path.is_file()],
        "mounts": [row for row in mounts if mine in row or f"{state}/" in row],
        "cgroups": grouped,
        "overlays": [str(path) for path in state.glob("runtime/*/*/upper")],
        "sandboxes": [str(path) for path in state.glob("runtime/sandboxes/*")],
        "pods": [str(path) for path in state.rglob("kubelet/pods/*")],
    }
    return {kind: sorted(rows) for kind, rows in found.items()}


def _prefix(cluster: Any, node: str) -> str:
    return ClusterPaths(cluster.name).netns(f"{node}-")


def memory_kib(pid: int) -> int:
    """The proportional set size."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(row.split()[1]) for row in text.splitlines() if row.startswith("Pss:"))


def processor_s(pid: int) -> float:
    """The processor time used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def asked_all_the_time(url: str) -> Iterator[list[str]]:
    """Ask ``url`` again and again during the block; gives the answers' codes, 000 for none."""
    codes: list[str] = []
    over = threading.Event()

    def ask() -> None:
        words = ("curl", "-s", "-o", os.devnull, "-w", "%{http_code}", "--max-time", "10", url)
        while not over.is_set():
            codes.append(subprocess.run(words, capture_output=True, text=True, timeout=30).stdout)
            time.sleep(0.05)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield codes
    finally:
        over.set()
        thread.join()
