"""Two control planes over one etcd: either is killed while others write and watch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from whole_cluster import MUNTIN, Cluster, eventually

from muntin.cluster import locks

CLUSTER = """apiVersion: muntin.dev/v1alpha1
kind: Cluster
etcd: {local: {}}
controlPlanes: 2
leaderElection: {leaseDuration: 4s, renewDeadline: 3s, retryPeriod: 1s}
nodes: [{os: linux, name: lin01}]
"""
DRIVER = Path(__file__).with_name("alternating.py")
PLANES = ("control-plane", "control-plane-2")
ADDRESSES = ("172.31.0.2", "172.31.0.3")
LEASES = ("kube-controller-manager", "kube-scheduler")
ROUNDS, WRITES = 4, 40
ASK_DNS = """import dnslib
question = dnslib.DNSRecord.question("kubernetes.default.svc.cluster.local")
print(dnslib.DNSRecord.parse(question.send("172.31.0.10", timeout=2)).short())"""


@pytest.fixture(scope="module")
def planes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    one = Cluster(f"w{os.getpid()}", tmp_path_factory.mktemp("planes"))
    file = one.folder / "cluster.yaml"
    file.write_text(CLUSTER)
    try:
        one.up("--config", str(file))
        yield one
    finally:
        one.down()


def pids(cluster: Cluster) -> dict[str, int]:
    state = json.loads(Path(f"/run/muntin/{cluster.name}/supervisor.json").read_text())
    return {row["name"]: row["pid"] for row in state["components"]}


def holder(cluster: Cluster, lease: str) -> str:
    """The component that holds ``lease``, "" for none."""
    found = cluster.get("lease", lease, "-n", "kube-system")["spec"].get("holderIdentity") or ""
    named = found.rpartition("_")[0]
    return next((name for name in reversed(PLANES) if named.endswith(name)), "")


def kill(cluster: Cluster, name: str) -> None:
    """Kill a component; return when the supervisor has another one."""
    before = eventually(lambda: pids(cluster)[name], 60, f"{name} is there")
    os.kill(before, signal.SIGKILL)
    eventually(lambda: pids(cluster)[name] not in (0, before), 60, f"{name} is there again")


def endpoints(cluster: Cluster) -> list[str]:
    found = cluster.get("endpointslice", "kubernetes")["endpoints"]
    return sorted(address for row in found for address in row["addresses"])


def test_both_serve_and_one_leads(planes: Cluster) -> None:
    assert eventually(lambda: endpoints(planes) == list(ADDRESSES), 60)
    for lease in LEASES:
        assert eventually(lambda lease=lease: holder(planes, lease), 60) in PLANES

    def servers() -> list[str]:
        leases = planes.kubectl("get", "leases", "-n", "kube-system", "-o", "name").stdout.split()
        return [name for name in leases if "/apiserver-" in name]

    def told() -> set[str]:
        selector = "--field-selector=reason=LeaderElection"
        events = planes.get("events", "-n", "kube-system", selector)["items"]
        return {row["involvedObject"]["name"] for row in events}

    assert eventually(lambda: len(servers()) == 2, 60)
    assert eventually(lambda: told() == set(LEASES), 60)


def test_either_is_killed_while_others_write_and_watch(planes: Cluster) -> None:
    planes.kubectl("create", "namespace", "alternating")
    pki = f"/var/lib/muntin/{planes.name}/pki"
    driver = [sys.executable, str(DRIVER), pki, "alternating", *ADDRESSES]
    shell = [*MUNTIN, "shell", "--name", planes.name, "master", "--", *driver]
    before = transitions(planes, LEASES[0])
    with subprocess.Popen(
        shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=planes.environment
    ) as process:
        assert process.stdin
        assert process.stdout
        for number in range(ROUNDS):
            wait_for_writes(process, WRITES)
            # whoever leads, then the other one, and again
            leader = eventually(lambda: holder(planes, LEASES[0]), 60)
            other = next(name for name in PLANES if name != leader)
            kill(planes, other if number % 2 else leader)
            wait_for_writes(process, WRITES)
        output, _ = process.communicate(timeout=120)
    check(json.loads(output.splitlines()[-1]))
    eventually(lambda: transitions(planes, LEASES[0]) > before, 60, "another leader")


def transitions(cluster: Cluster, lease: str) -> int:
    spec = cluster.get("lease", lease, "-n", "kube-system")["spec"]
    return int(spec.get("leaseTransitions") or 0)


def wait_for_writes(process: subprocess.Popen[str], count: int) -> None:
    assert process.stdout
    for _ in range(count):
        assert process.stdout.readline() == "written\n"


def check(found: dict[str, Any]) -> None:
    written = [tuple(row) for row in found["written"]]
    assert len(written) >= 2 * ROUNDS * WRITES
    assert found["stale"] == []
    assert found["switched"] >= ROUNDS - 1  # watches went on at the other server
    first, second = ([tuple(row) for row in seen] for seen in found["watched"])
    revisions = [revision for _, _, revision in first]
    assert revisions == sorted(set(revisions)), "an event came twice, or late"
    assert first == second, "the watches of two servers differ"
    assert set(written) <= set(first), "an acknowledged write is in no watch"
    last = {name: (name, value, revision) for name, value, revision in first}
    assert sorted(last.values()) == [tuple(row) for row in found["there"]]


def test_controllers_and_scheduler_go_on_elsewhere(planes: Cluster) -> None:
    for lease in LEASES:
        leader = eventually(lambda lease=lease: holder(planes, lease), 60)
        kill(planes, leader)
    planes.kubectl("create", "deployment", "d", "--image=busybox:1.35", "--", "sleep", "3600")
    planes.kubectl("rollout", "status", "deployment/d", "--timeout=120s", timeout_s=130)
    assert eventually(lambda: endpoints(planes) == list(ADDRESSES), 120)


def test_a_clean_end_gives_leases_free_at_once(planes: Cluster) -> None:
    leader = eventually(lambda: holder(planes, LEASES[0]), 60)
    before = transitions(planes, LEASES[0])
    os.kill(eventually(lambda: pids(planes)[leader], 60), signal.SIGTERM)
    eventually(lambda: transitions(planes, LEASES[0]) > before, 60)

    def told() -> bool:
        events = planes.get("events", "-n", "kube-system")["items"]
        return any("stopped leading" in row["message"] for row in events)

    eventually(told, 60, "the event")


def test_one_that_hangs_is_ended_and_another_does_its_work(planes: Cluster) -> None:
    lock = Path(f"/run/muntin/{planes.name}/fabric.lock")
    hangs = eventually(lambda: locks.holder(lock), 60)
    (name,) = [name for name, pid in pids(planes).items() if pid == hangs]
    eventually(lambda: Path(f"/run/muntin/{planes.name}/{name}.alive").exists(), 60)
    os.kill(hangs, signal.SIGSTOP)
    eventually(lambda: pids(planes)[name] not in (0, hangs), 60, "it is ended, and begun anew")
    assert eventually(lambda: locks.holder(lock), 60) != hangs
    for lease in LEASES:
        eventually(lambda lease=lease: holder(planes, lease), 60)
    eventually(lambda: planes.shell("master", sys.executable, "-c", ASK_DNS, check=False), 60)
    planes.kubectl("create", "deployment", "after", "--image=busybox:1.35", "--", "sleep", "3600")
    planes.kubectl("rollout", "status", "deployment/after", "--timeout=120s", timeout_s=130)


def test_the_etcd_is_killed(planes: Cluster) -> None:
    planes.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    kill(planes, "etcd")
    eventually(lambda: not planes.kubectl("get", "cm", "kept", check=False).returncode, 60)
    eventually(
        lambda: (
            not planes.kubectl("create", "cm", "new", check=False).returncode
            or not planes.kubectl("get", "cm", "new", check=False).returncode
        ),
        60,
    )
