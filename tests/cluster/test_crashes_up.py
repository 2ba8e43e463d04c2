"""kill -9 of what starts and keeps a cluster: the next `up` recovers, `down` removes everything."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time

import crash_lab as lab
import machine
import pytest
from whole_cluster import MUNTIN, eventually

SMALL = ("--linux-nodes", "1", "--windows-nodes", "1")
UP_S = 1.5


def traces(cluster):
    return {kind: rows for kind, rows in machine.traces(cluster.name).items() if rows}


def heartbeat(node):
    rows = node["status"]["conditions"]
    return next(row["lastHeartbeatTime"] for row in rows if row["type"] == "Ready")


def test_up_takes_over_what_a_killed_supervisor_left(other):
    other.up(*SMALL)
    other.apply(lab.pod("l", "linux", "sleep", "3600"))
    other.apply(lab.pod("w", "windows", "powershell", "-c", "Start-Sleep 3600"))
    other.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    other.kubectl("expose", "pod", "l", "--port=80", "--selector=app=l")
    other.wait_ready("l", "w")
    before = other.get("configmap/kept", "service/l")
    pids = lab.pids(other)
    lab.kill(pids.pop("supervisor"))
    told = other.muntin("status", check=False)
    assert told.returncode == 10
    assert "the supervisor does not run" in told.stderr
    # The others go on without it, but for the relay to the world, which nobody would find again.
    del pids["egress"]
    assert pids.items() <= lab.pids(other).items()
    assert other.kubectl("get", "configmap", "kept").returncode == 0
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    other.up(*SMALL)
    assert all(heartbeat(node) >= began for node in other.get("nodes")["items"])
    assert not {pid for pid in pids.values() if lab.lives(pid)}, "all are new"
    assert other.get("configmap/kept", "service/l") == before
    assert other.muntin("status", check=False).returncode == 0
    other.wait_ready("l", "w")
    assert "FailedCreatePodSandBox" not in lab.reasons(other, "l")
    other.down()
    assert traces(other) == {}
    assert not other.kubeconfig.exists()


@pytest.mark.parametrize("part", [0, 1, 2])
def test_up_killed_at_any_moment(other, part):
    delay_s = (part + random.random()) * UP_S / 3  # another one each time
    command = (*MUNTIN, "up", "--name", other.name, "--api-server-port", str(other.port), *SMALL)
    with subprocess.Popen(
        command, env=other.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as up:
        time.sleep(delay_s)
        up.send_signal(signal.SIGKILL)
        up.wait(10)
    if part == 1:  # `down` alone, of whatever is there
        other.down()
        eventually(lambda: traces(other) == {}, 5, f"nothing left, killed after {delay_s:.3f} s")
    other.up(*SMALL)
    assert other.muntin("status", check=False).returncode == 0, f"killed after {delay_s:.3f} s"
    other.down()
    assert traces(other) == {}, f"killed after {delay_s:.3f} s"
    assert not os.path.exists(other.kubeconfig)
