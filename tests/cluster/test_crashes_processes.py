"""kill -9 of a cluster's processes: what was acknowledged stays, what runs goes on."""

from __future__ import annotations

import os
import threading
import time

import crash_lab as lab
import pytest
from whole_cluster import ROOT, Cluster, eventually, run

WEB = ROOT / "examples/win-webserver/win-webserver.yaml"


@pytest.fixture(scope="module")
def crashing(tmp_path_factory):
    one = Cluster(f"j2p{os.getpid()}", tmp_path_factory.mktemp("crashes"))
    try:
        one.up()
        one.kubectl("apply", "-f", str(WEB))
        one.apply(lab.pod("lin", "linux", "sh", "-c", lab.COUNT_ON_LINUX))
        one.apply(lab.pod("win", "windows", "powershell", "-c", lab.COUNT_ON_WINDOWS, node="win01"))
        one.kubectl("rollout", "status", "deployment/win-webserver", "--timeout=60s")
        one.wait_ready("lin", "win")
        eventually(lambda: run("curl", "-sf", "-m", "5", web(one), check=False).returncode == 0)
        yield one
    finally:
        one.down()


def healthy(cluster):
    return cluster.muntin("status", check=False).returncode == 0


def web(cluster):
    port = cluster.get("service", "win-webserver")["spec"]["ports"][0]["nodePort"]
    return f"http://127.0.0.1:{port}"


def test_control_plane_killed_while_kubectl_writes(crashing):
    version = lab.version(crashing)
    addresses = {row["metadata"]["name"]: row["spec"] for row in crashing.get("services")["items"]}
    acknowledged, over = [], threading.Event()

    def write(writer):
        number = 0
        while not over.is_set():
            name = f"c{writer}-{number}"
            number += 1
            if crashing.kubectl("create", "configmap", name, check=False).returncode == 0:
                acknowledged.append((name, time.monotonic()))

    writers = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    for thread in writers:
        thread.start()
    eventually(lambda: len(acknowledged) > 10, what="writes")
    lab.kill(lab.pids(crashing)["control-plane"])
    killed = time.monotonic()
    try:
        eventually(lambda: sum(when > killed for _, when in acknowledged) > 10, 60, "writes go on")
    finally:
        over.set()
        for thread in writers:
            thread.join()
    gap_s = min(when for _, when in acknowledged if when > killed) - killed
    assert gap_s < 15, f"{gap_s:.2f} s without an API server"
    stored = {row["metadata"]["name"] for row in crashing.get("configmaps")["items"]}
    assert {name for name, _ in acknowledged} <= stored
    assert {
        row["metadata"]["name"]: row["spec"] for row in crashing.get("services")["items"]
    } == addresses
    # A watch from before the crash is served all of it.
    events = lab.events_since(crashing, "/api/v1/namespaces/default/configmaps", version, 1)
    added = {row["object"]["metadata"]["name"] for row in events if row["type"] == "ADDED"}
    assert added >= {name for name, _ in acknowledged}
    assert "kube-root-ca.crt" not in added, "it was there before"
    # Kubelets and proxies watch again.
    crashing.apply(lab.pod("after", "linux", "sleep", "3600"))
    crashing.wait_ready("after", seconds=20)


@pytest.mark.parametrize("component", ["win01", "lin01", "containerd-lin01"])
def test_containers_go_on_when_their_node_s_process_is_killed(crashing, component):
    pods = ("lin", "win")
    crashing.wait_ready(*pods)
    before = {name: lab.container(crashing, name) for name in pods}
    network = eventually(lambda: lab.network_state(crashing, "win01"))
    assert all(network.values()), network
    pid = lab.pids(crashing)[component]
    with lab.asked_all_the_time(web(crashing)) as codes:
        lab.kill(pid)
        eventually(lambda: lab.pids(crashing).get(component, pid) != pid, what="started again")
        eventually(lambda: healthy(crashing), what="healthy")
        for name, word in (("lin", "uname"), ("win", "hostname")):
            eventually(
                lambda name=name, word=word: (
                    crashing.kubectl("exec", name, "--", word, check=False).returncode == 0
                ),
                what=f"exec in {name}",
            )
    assert set(codes) == {"200"}, codes
    assert {name: lab.container(crashing, name) for name in pods} == before
    for name in pods:
        found = lab.numbers(crashing, name)
        eventually(lambda name=name, found=found: lab.numbers(crashing, name)[-1] > found[-1])
        assert found == list(range(1, len(found) + 1)), f"holes in the log of {name}"
    eventually(lambda: lab.network_state(crashing, "win01") == network, what="HNS as it was")


def test_a_quiet_cluster_writes_and_computes_next_to_nothing(crashing):
    found = {}

    def quiet():
        found.update(eight_seconds(crashing))
        return not found["changed"] and sum(found["busy"].values()) < 0.25 and found["writes"] < 10

    try:
        eventually(quiet, 60)  # what the tests before have begun may still come to its end
    except AssertionError:
        pytest.fail(f"pods changed, or more than leases were written: {found}")


def eight_seconds(cluster):
    """The pods that changed, each process' part of a processor, and the writes to the store."""
    since = lab.version(cluster)
    own = {name: pid for name, pid in lab.pids(cluster).items() if name != "egress"}
    began, used = time.monotonic(), {name: lab.processor_s(pid) for name, pid in own.items()}
    events = lab.events_since(cluster, "/api/v1/pods", since, 8)
    passed = time.monotonic() - began
    return {
        "changed": [row["object"]["metadata"] for row in events if row["type"] != "BOOKMARK"],
        "busy": {name: (lab.processor_s(own[name]) - used[name]) / passed for name in own},
        "writes": int(lab.version(cluster)) - int(since),
    }
