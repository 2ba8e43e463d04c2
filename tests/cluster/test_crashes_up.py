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


def components(cluster):
    """The process ids but those of the supervisor and of its watchdog, which is the next one."""
    pids = lab.pids(cluster)
    return {name: pid for name, pid in pids.items() if name not in ("supervisor", "watchdog")}


def test_what_runs_outlives_its_supervisor(other):
    """Killed alone, with its watchdog, and with all that it started: containers go on."""
    other.up(*SMALL)
    linux = lab.pod("l", "linux", "sh", "-c", f"date > /v/began; {lab.COUNT_ON_LINUX}")
    linux["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    linux["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/v"}]
    other.apply(linux)
    other.apply(lab.pod("w", "windows", "powershell", "-c", lab.COUNT_ON_WINDOWS))
    other.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    other.wait_ready("l", "w")
    kept = other.get("configmap/kept")
    before = {name: lab.container(other, name) for name in ("l", "w")}
    began = other.kubectl("exec", "l", "--", "cat", "/v/began").stdout
    pids, owner = components(other), lab.pids(other)["supervisor"]

    lab.kill(owner)
    eventually(lambda: lab.pids(other).get("supervisor") not in (None, owner), 20, "it is replaced")
    assert components(other) == pids
    assert other.muntin("status", check=False).returncode == 0

    now = lab.pids(other)
    for name in ("watchdog", "supervisor"):
        lab.kill(now[name])
    told = other.muntin("status", check=False)
    assert told.returncode == 10
    assert "the supervisor does not run" in told.stderr
    assert components(other) == pids
    assert other.kubectl("get", "configmap", "kept").returncode == 0
    other.up(*SMALL)
    assert components(other) == pids

    now = lab.pids(other)
    for pid in (now.pop("watchdog"), *now.values()):
        lab.kill(pid)
    other.up(*SMALL)
    assert not set(components(other).values()) & set(pids.values())
    other.wait_ready("l", "w")
    assert {name: lab.container(other, name) for name in before} == before
    assert other.kubectl("exec", "l", "--", "cat", "/v/began").stdout == began
    for name in before:
        assert lab.numbers(other, name)[0] <= 1, "the first lines of its log"
    assert other.get("configmap/kept") == kept
    lab.kill(lab.pids(other)["supervisor"])  # `down` and the watchdog meet
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
