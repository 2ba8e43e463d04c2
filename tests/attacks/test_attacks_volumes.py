"""Attacks through volumes: links that lead to the host, and races with the node that mounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from attack_lab import DRIVE, Target, memory_mib, pod
from whole_cluster import eventually

pytestmark = pytest.mark.usefixtures("_unharmed")
STARTS = 6
"""Containers that mount the swapped folder, one after the other."""


@pytest.fixture
def _unharmed(target: Target) -> Iterator[None]:
    yield
    target.assert_unharmed()


def _paths(system: str, path: str) -> tuple[str, str]:
    """A path of the volume as the API has it, and as a Linux program in the container sees it."""
    return (path, path) if system == "lin" else (f"C:{path}", DRIVE + path)


def _listing(system: str, path: str) -> list[str]:
    """A command that prints what is in a folder of the container, then waits."""
    if system == "lin":
        return ["/usr/bin/busybox", "sh", "-c", f"busybox ls {path}; busybox sleep 1000"]
    return ["cmd", "/c", f"dir /b C:{path} & ping -t 127.0.0.1 > nul"]


def _python(system: str, script: str, *words: str) -> list[str]:
    if system == "lin":
        return ["/usr/bin/python3", "-ISE", f"/attack/{script}", *words]
    return [r"C:\attack\raw.exe", f"{DRIVE}/swap.log", f"{DRIVE}/attack/{script}", *words]


def _seen(target: Target, name: str, container: str) -> str:
    return str(target.cluster.kubectl("logs", name, "-c", container, check=False).stdout)


def _statuses(target: Target, name: str) -> list[dict[str, Any]]:
    return list(target.cluster.get("pod", name)["status"].get("containerStatuses") or ())


def test_a_folder_swapped_for_a_link_is_never_mounted(target: Target, system: str) -> None:
    """subPath: a sidecar swaps the folder and a link to the host while others mount it."""
    api, inside = _paths(system, "/shared")
    whole = {"name": "shared", "mountPath": api}
    part = {"name": "shared", "mountPath": _paths(system, "/part")[0], "subPath": "folder"}
    swap = _python(system, "swap.py", f"{inside}/folder", str(target.secret))
    containers = [{"name": "swap", "command": swap, "volumeMounts": [whole]}]
    containers += [
        {"name": f"c{n}", "command": _listing(system, "/part"), "volumeMounts": [part]}
        for n in range(STARTS)
    ]
    name = f"swap-{system}"
    target.cluster.apply(
        pod(system, name, containers, volumes=[{"name": "shared", "emptyDir": {}}])
    )
    eventually(
        lambda: sum(bool(row["state"].get("running") or row["restartCount"] or
                         row["state"].get("waiting", {}).get("message"))
                    for row in _statuses(target, name)) == STARTS + 1,
        seconds=90, what="each container was started or refused",
    )  # fmt: skip
    for n in range(STARTS):
        assert "marker" not in _seen(target, name, f"c{n}")
    target.cluster.kubectl("delete", "pod", name, "--timeout=30s")


def test_a_host_path_does_not_follow_links_to_the_host(target: Target, system: str) -> None:
    """A pod plants links in its node's folders; the next ones mount them in every way."""
    data, inside = _paths(system, "/planted")
    secret = str(target.secret)
    targets = {
        "folder": secret,
        "up": "../" * 20 + secret.lstrip("/"),
        "file": f"{secret}/marker",
        "made": f"{secret}/made",
    }
    planter = f"planter-{system}"
    mount = {"name": "data", "mountPath": data}
    volume = {"name": "data", "hostPath": {"path": data, "type": "DirectoryOrCreate"}}
    target.cluster.apply(pod(system, planter, [{"volumeMounts": [mount]}], volumes=[volume]))
    target.cluster.wait_ready(planter)
    target.python(system, planter, "links.py", *(f"{inside}/{n}={to}" for n, to in targets.items()))
    kinds = {
        "folder": ["", "Directory", "DirectoryOrCreate"],
        "up": ["", "Directory"],
        "file": ["", "File", "FileOrCreate"],
        "made": ["DirectoryOrCreate", "FileOrCreate"],
    }
    names = []
    for link, types in kinds.items():
        for number, kind in enumerate(types):
            names.append(f"link-{system}-{link}-{number}")
            where = {"path": f"{data}/{link}", "type": kind}
            row = {"name": "v", "mountPath": _paths(system, "/v")[0]}
            command = _listing(system, "/v")
            target.cluster.apply(
                pod(system, names[-1], [{"volumeMounts": [row], "command": command}],
                    volumes=[{"name": "v", "hostPath": where}])
            )  # fmt: skip
    for name in names:
        eventually(lambda name=name: _has_started_or_failed(target, name), seconds=60, what=name)
        text = _seen(target, name, "main")
        assert "marker" not in text, name
        assert "only for the host" not in text, name
    assert sorted(path.name for path in target.secret.iterdir()) == ["marker"]
    target.cluster.kubectl("delete", "pod", planter, *names, "--timeout=60s")


def _has_started_or_failed(target: Target, name: str) -> bool:
    rows = _statuses(target, name)
    events = target.cluster.get("events", "--field-selector", f"involvedObject.name={name}")
    reasons = {row["reason"] for row in events["items"]}
    return bool(rows and rows[0]["state"].get("running")) or bool(
        reasons & {"FailedMount", "Failed", "FailedCreatePodSandBox"}
    )


def test_a_fifo_in_the_place_of_a_status_file_blocks_no_node(target: Target, system: str) -> None:
    """The container's init is killed while FIFOs lie where a runtime could look for results."""
    name = f"fifo-{system}"
    target.run_pod(system, name, restartPolicy="Never")
    target.cluster.wait_ready(name)
    fifos = [f"/run/muntin/{n}.status=" for n in ("init", "exec-0", "exec-1", "exec-2", "exec-3")]
    fifos += ["/run/muntin/zero.status=/dev/zero", "/run/muntin/init.started="]
    target.python(system, name, "links.py", *fifos)
    target.python(system, name, "kill_init.py", check=False)
    target.cluster.kubectl("delete", "pod", name, "--timeout=30s", timeout_s=40)


def test_a_termination_message_is_bounded_and_not_followed(target: Target, system: str) -> None:
    name, path = f"message-{system}", "/dev/termination-log" if system == "lin" else r"C:\dev\x.log"
    large = f"busybox head -c 50000000 /dev/zero | busybox tr '\\0' x > {path}"
    flood = {
        "lin": ["/usr/bin/busybox", "sh", "-c", large],
        "win": ["powershell", "-c", f"Set-Content -Path {path} -Value ('x' * 5000000)"],
    }
    row = {"command": flood[system], "terminationMessagePath": path}
    target.cluster.apply(pod(system, name, [row], restartPolicy="Never"))
    eventually(
        lambda: target.cluster.get("pod", name)["status"]["phase"] in ("Succeeded", "Failed")
    )
    state = _statuses(target, name)[0]["state"]["terminated"]
    assert len(state.get("message", "")) <= 4096
    target.cluster.kubectl("delete", "pod", name, "--timeout=30s")


def test_a_flood_of_output_is_rotated(target: Target, system: str) -> None:
    """60 MB without a single newline, as fast as the runtime takes them."""
    name = f"flood-{system}"
    print_much = "$b = 'x' * 1000000; 1..60 | % { [Console]::Out.Write($b) }"
    command = {
        "lin": ["/usr/bin/busybox", "head", "-c", "60000000", "/dev/zero"],
        "win": ["powershell", "-c", print_much],
    }
    target.cluster.apply(pod(system, name, [{"command": command[system]}], restartPolicy="Never"))
    eventually(
        lambda: target.cluster.get("pod", name)["status"]["phase"] in ("Succeeded", "Failed"),
        seconds=60,
    )
    done = target.cluster.kubectl("logs", name, "--limit-bytes=1000")
    assert len(done.stdout) <= 1000
    assert memory_mib(target, {"lin": "lin01", "win": "win01"}[system]) < 200
    target.cluster.kubectl("delete", "pod", name, "--timeout=30s")
