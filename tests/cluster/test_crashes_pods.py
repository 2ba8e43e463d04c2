"""kill -9 inside pods, and many pods that come and go: nothing of them stays on the nodes."""

from __future__ import annotations

import json
import os
import time

import crash_lab as lab
import pytest
from whole_cluster import Cluster, eventually

NODES = ("lin01", "win01")
MANY = 30


@pytest.fixture(scope="module")
def crashing(tmp_path_factory):
    one = Cluster(f"j2q{os.getpid()}", tmp_path_factory.mktemp("crashes"))
    try:
        one.up("--linux-nodes", "1", "--windows-nodes", "1")
        yield one
    finally:
        one.down()


@pytest.fixture
def empty(crashing):
    """What the nodes hold without pods; the same is asked for afterwards."""
    before = {node: lab.held(crashing, node) for node in NODES}
    yield crashing
    crashing.kubectl("delete", "pods,services", "--all", "--now", timeout_s=90)
    left = {}

    def all_gone():
        left.update({node: lab.held(crashing, node) for node in NODES})
        return left == before

    try:
        eventually(all_gone, 20)
    except AssertionError:
        new = {n: {k: sorted(set(v) - set(before[n][k])) for k, v in left[n].items()} for n in left}
        pytest.fail(f"left on the nodes: {json.dumps(new, indent=1)}")


@pytest.mark.parametrize(
    ("what", "exit_code"),
    [("init", 1), ("shim", 255)],
)
def test_a_killed_container_is_started_again_in_its_sandbox(empty, what, exit_code):
    empty.apply(lab.pod("w", "windows", "powershell", "-c", "Start-Sleep 3600"))
    empty.wait_ready("w")
    address = empty.get("pod", "w")["status"]["podIP"]
    lab.kill(lab.processes(empty, "win01", "w")[what])

    def again():
        status = empty.get("pod", "w")["status"]["containerStatuses"][0]
        return status if status["restartCount"] == 1 and status["ready"] else None

    status = eventually(again, 20, "one restart")
    assert status["lastState"]["terminated"]["exitCode"] == exit_code
    assert empty.get("pod", "w")["status"]["podIP"] == address
    # The next end is followed by a wait.
    lab.kill(lab.processes(empty, "win01", "w")["init"])

    def waiting():
        state = empty.get("pod", "w")["status"]["containerStatuses"][0]["state"]
        return state.get("waiting", {}).get("reason") == "CrashLoopBackOff"

    eventually(waiting, 10, "CrashLoopBackOff")
    eventually(lambda: "BackOff" in lab.reasons(empty, "w"), 10, "the event")


def test_a_killed_pause_process_makes_the_sandbox_anew(empty):
    empty.apply(lab.pod("w", "windows", "powershell", "-c", "Start-Sleep 3600"))
    empty.wait_ready("w")
    before = lab.held(empty, "win01")
    first = lab.processes(empty, "win01", "w")["pause"]
    lab.kill(first)

    def again():
        rows = lab.records(empty, "win01", "sandboxes")
        return [row for row in rows if not row["stopped"] and row["pause_pid"] != first]

    eventually(again, 20, "another sandbox")
    empty.wait_ready("w")
    eventually(lambda: "SandboxChanged" in lab.reasons(empty, "w"), 10, "the event")
    after = lab.held(empty, "win01")
    assert len(after["addresses"]) == len(before["addresses"]), "the first address is given back"
    assert len(after["namespaces"]) == len(before["namespaces"])
    assert len(after["links"]) == len(before["links"])


def test_pods_come_and_go_and_leave_nothing(empty):
    items = [
        lab.pod(f"many{n}", system, *command, app="many")
        for n in range(MANY // 2)
        for system, command in (
            ("linux", ("sleep", "3600")),
            ("windows", ("powershell", "-c", "Start-Sleep 3600")),
        )
    ]
    for n, item in enumerate(items):
        item["metadata"]["name"] = f"many{n}"
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "many"},
        "spec": {"selector": {"app": "many"}, "ports": [{"port": 80}]},
    }
    manifest = {"apiVersion": "v1", "kind": "List"}
    own = lab.pids(empty)
    network, sizes = eventually(lambda: lab.network_state(empty, "win01")), []
    for count in (MANY, MANY // 2):
        empty.apply({**manifest, "items": [*items[:count], service]})
        empty.wait_ready("-l", "app=many")
        empty.kubectl("delete", "pods", "-l", "app=many", timeout_s=90)
        empty.kubectl("delete", "service", "many")
        eventually(lambda: lab.network_state(empty, "win01") == network, 10, "HNS as before")
        time.sleep(0.5)
        sizes.append({node: lab.memory_kib(own[node]) for node in NODES})
    assert lab.pids(empty) == own, "nothing was restarted"
    grown = {node: sizes[1][node] - sizes[0][node] for node in NODES}
    assert max(grown.values()) < 6 * 1024, f"KiB more after the second round: {grown}"
