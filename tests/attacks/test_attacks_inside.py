"""Attacks by programs inside a container. The programs: programs/inside.py.

On Windows they run beside Wine, as a program that makes Linux system calls itself; on Linux in a
pod with the seccomp profile RuntimeDefault.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from attack_lab import Target, pod
from whole_cluster import eventually

PROGRAM = Path(__file__).parent / "programs/inside.py"
_NAMES = [
    line.split("(")[0].removeprefix("def ")
    for before, line in zip(
        PROGRAM.read_text().splitlines(), PROGRAM.read_text().splitlines()[1:], strict=False
    )
    if before == "@attack"
]
UPSTREAM_ALLOWS = {
    "packet_socket": "CAP_NET_RAW is one of containerd's default capabilities",
    "io_uring_setup": "the profile of containerd before 1.7 allows it",
    "vsock_socket": "the profile of containerd before 1.7 allows it",
    "cgroup_path_of_the_host": "containerd shares the cgroup namespace on cgroup v1",
}
"""On Linux nodes, where containerd decides; SECURITY.md says so."""


@pytest.fixture(scope="session")
def victim(target: Target) -> str:
    """The address of a neighbour on the Linux node that prints what it is sent."""
    command = ["/usr/bin/python3", "-ISE", "/attack/victim.py"]
    target.cluster.apply(pod("lin", "victim", [{"command": command}]))
    target.cluster.wait_ready("victim")
    return str(target.cluster.get("pod", "victim")["status"]["podIP"])


@pytest.fixture(scope="session")
def outcomes(
    target: Target, host_listener: int, abstract_name: str, victim: str
) -> dict[str, dict[str, str]]:
    """By system: what each attack came to."""
    marks = {
        "cluster": target.cluster.name,
        "marker": str(target.secret / "marker"),
        "disk": _disk(target.secret),
        "port": str(host_listener),
        "abstract": abstract_name,
        "dns": "10.96.0.10",
        "victim_port": "5353",
    }
    results = {}
    for system, node in (("lin", "lin01"), ("win", "win01")):
        marks["node"] = _address(target, node)
        marks["neighbour"] = victim
        words = [f"{name}={value}" for name, value in marks.items()]
        text = target.python(system, f"attacker-{system}", "inside.py", *_NAMES, *words)
        results[system] = json.loads(text)
    target.assert_unharmed()
    return results


@pytest.mark.parametrize(
    ("system", "name"),
    [(s, n) for s in ("lin", "win") for n in _NAMES if s == "win" or n not in UPSTREAM_ALLOWS],
)
def test_the_attack_is_refused(outcomes: dict[str, dict[str, str]], system: str, name: str) -> None:
    outcome = outcomes[system][name]
    assert outcome.startswith(("refused: ", "harmless: ")), outcome


def test_a_neighbour_gets_nothing_in_the_name_of_others(
    outcomes: dict[str, dict[str, str]], target: Target, victim: str
) -> None:
    """The victim sees a packet of the attacker's own, and none with a forged source."""
    assert set(outcomes) == {"lin", "win"}
    send = f"import socket; socket.socket(2, 2).sendto(b'honest', ({victim!r}, 5353))"
    own = ("exec", "attacker-lin", "--", "/usr/bin/python3", "-ISE", "-c", send)
    target.cluster.kubectl(*own)
    eventually(lambda: "honest" in target.cluster.kubectl("logs", "victim").stdout)
    time.sleep(0.5)
    lines = target.cluster.kubectl("logs", "victim").stdout.splitlines()[1:]
    attacker = target.cluster.get("pod", "attacker-lin")["status"]["podIP"]
    for data, address, neighbours in map(json.loads, lines):
        assert (data, address) == ("honest", attacker)
        assert victim not in [row[0] for row in neighbours]


def _address(target: Target, node: str) -> str:
    rows = target.cluster.get("node", node)["status"]["addresses"]
    return next(row["address"] for row in rows if row["type"] == "InternalIP")


def _disk(path: Path) -> str:
    """The device of the file system that holds ``path``, as MAJOR:MINOR."""
    device = os.stat(path).st_dev
    return f"{os.major(device)}:{os.minor(device)}"
