"""A cluster leaves nothing behind, and the host's network alone, however it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import machine
import pytest
from whole_cluster import MUNTIN, eventually, free_port

SMALL = ("--linux-nodes", "1", "--windows-nodes", "1")


def nothing(cluster):
    return {kind: rows for kind, rows in machine.traces(cluster.name).items() if rows}


def supervisor(cluster):
    rows = cluster.muntin("status", "--output", "json", check=False).stdout
    return {row["name"]: row["pid"] for row in json.loads(rows)["components"]}


def test_the_host_is_the_same_during_and_after(other):
    before = machine.network()
    other.up(*SMALL)
    other.apply(POD)
    other.wait_ready("p", "w")
    assert machine.network() == before, "while it is up"
    assert machine.traces(other.name)["mounts"], "the comparison sees what is there"
    assert machine.traces(other.name)["cgroups"]
    assert machine.traces(other.name)["processes"]
    other.down()
    assert nothing(other) == {}
    assert machine.network() == before, "after it went"
    assert not other.kubeconfig.exists()


def test_down_works_after_the_supervisor_was_killed_and_twice(other):
    other.up(*SMALL)
    other.apply(POD)
    other.wait_ready("p", "w")
    os.kill(supervisor(other)["supervisor"], signal.SIGKILL)
    assert "is gone" in other.down().stdout
    assert nothing(other) == {}
    assert "There is no cluster" in other.down().stdout


def test_up_after_a_kill_keeps_what_was_acknowledged(other):
    other.up(*SMALL)
    other.apply(POD)
    other.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    before = other.get("configmap", "kept")
    pids = supervisor(other)
    for pid in (pids.pop("watchdog"), *pids.values()):  # first: it would become the next one
        if pid:
            with contextlib.suppress(ProcessLookupError):  # it went with one before it
                os.kill(pid, signal.SIGKILL)
    assert other.muntin("status", check=False).returncode == 10
    other.up(*SMALL)
    assert other.get("configmap", "kept") == before
    other.wait_ready("p", "w")
    other.down()
    assert nothing(other) == {}


def test_a_component_that_is_killed_comes_back_and_containers_go_on(other):
    other.up(*SMALL)
    other.apply(POD)
    other.wait_ready("p", "w")
    started = {
        row["metadata"]["name"]: row["status"]["containerStatuses"][0]["containerID"]
        for row in other.get("pods")["items"]
    }
    pids = supervisor(other)
    for name in ("control-plane", "lin01", "win01", "containerd-lin01"):
        os.kill(pids[name], signal.SIGKILL)
    eventually(lambda: other.muntin("status", check=False).returncode == 0, 30, "all run again")
    other.wait_ready("p", "w")
    for pod in other.get("pods")["items"]:
        status = pod["status"]["containerStatuses"][0]
        assert status["containerID"] == started[pod["metadata"]["name"]]
        assert status["restartCount"] == 0


@pytest.mark.parametrize("delay_s", [0.3, 0.7, 1.1])
def test_down_while_half_up(other, delay_s):
    command = (*MUNTIN, "up", "--name", other.name, "--api-server-port", str(free_port()))
    with subprocess.Popen(
        command, env=other.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as up:
        time.sleep(delay_s)
        other.down()
        up.communicate(timeout=60)
    if up.returncode == 0:  # it was quicker than `down`, or began after it
        other.down()
    assert nothing(other) == {}


def test_an_interrupted_up_leaves_nothing(other):
    command = (*MUNTIN, "up", "--name", other.name, "--api-server-port", str(free_port()))
    # what runs these tests may ignore Ctrl+C, and children inherit that
    with subprocess.Popen(
        command,
        env=other.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as up:
        eventually(lambda: machine.traces(other.name)["folders"], 60, "it makes its folders")
        up.send_signal(signal.SIGINT)
        _, errors = up.communicate(timeout=60)
    assert up.returncode == 130, errors
    assert nothing(other) == {}


def test_the_users_kubeconfig_comes_back(other):
    text = "# mine\napiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n"
    other.kubeconfig.write_text(text)
    other.up("--linux-nodes", "0", "--windows-nodes", "0")
    context = other.kubectl("config", "current-context").stdout.strip()
    assert context == f"muntin-{other.name}"
    other.down()
    assert Path(other.kubeconfig).read_text() == text


POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  terminationGracePeriodSeconds: 0
  nodeSelector: {kubernetes.io/os: linux}
  containers:
  - {name: c, image: "busybox:1.35", command: [sleep, "3600"]}
---
apiVersion: v1
kind: Pod
metadata: {name: w}
spec:
  terminationGracePeriodSeconds: 0
  nodeSelector: {kubernetes.io/os: windows}
  containers:
  - name: c
    image: mcr.microsoft.com/windows/servercore:ltsc2019
    command: [powershell.exe, -command, "Start-Sleep 3600"]
"""
