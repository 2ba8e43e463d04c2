"""What a Windows container's process may not do on Linux. Needs root and Wine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

from runtime_lab import NANOSERVER, SERVERCORE, Lab
from test_winruntime_containers import on_node

PROBE = Path(__file__).with_name("linux_probe.py").read_text()
CGROUPS = Path("/sys/fs/cgroup")


def _inside(node: Lab, container: str, uid: int, *command: str) -> str:
    """The output of a Linux program in the container, as confined as its own programs."""
    pid = _pid(node, container)
    runc = [node.config.runc, "--root", str(node.config.run_dir / "runc")]
    words = [
        "nsenter",
        f"--net=/proc/{pid}/ns/net",
        *runc,
        "exec",
        "--user",
        f"{uid}:{uid}",
        container,
        *command,
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _probe(node: Lab, container: str, uid: int) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(
        _inside(node, container, uid, "/usr/bin/python3", "-ISc", PROBE)
    )
    return result


def _pid(node: Lab, container: str) -> int:
    return int((node.config.state_dir / "containers" / container / "init.pid").read_text())


def _owner(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def _capabilities(status: dict[str, str]) -> set[int]:
    masks = [int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd")]
    return {number for mask in masks for number in range(64) if mask >> number & 1}


def test_a_container_is_confined_for_every_user() -> None:
    async def test(node: Lab) -> None:
        roots = set()
        for image, uid in ((SERVERCORE, 0), (NANOSERVER, 1000)):
            name = f"p{uid}"
            container = await node.run(name, "powershell", "-c", "Start-Sleep 60", image=image)
            report = await asyncio.to_thread(_probe, node, container, uid)
            calls = dict(report["calls"])
            assert calls.pop("ptrace_foreign") in ("EPERM", "ESRCH")
            assert set(calls.values()) == {"EPERM"}, calls
            assert (report["packet"], report["vsock"], report["raw"]) == ("EPERM",) * 3
            assert (report["ping"], report["stream"]) == ("done", "done")
            assert {report["sysctl"], report["sysrq"]} <= {"EROFS", "EACCES", "ENOENT"}
            assert (report["mknod"], report["hidden"]) == ("EPERM", 0)
            assert set(report["cgroup"]) == {"/"}
            inside, first, count = map(int, report["uids"])
            assert (inside, count, first >> 16 in range(0x7001, 0x7FFD)) == (0, 65536, True)
            assert _owner(_pid(node, container)) == first + uid
            roots.add(first)
            status = report["status"]
            assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
            chown, dac_override, fowner, kill = 0, 1, 3, 5
            assert _capabilities(status) <= {chown, dac_override, fowner, kill}
            assert (report["uid"], await _windows_user(node, container)) == (
                uid, f"{name.upper()}\\{'ContainerUser' if uid else 'ContainerAdministrator'}",
            )  # fmt: skip
        assert len(roots) == 2

    on_node(test)


def test_volumes_have_the_owners_that_they_have_on_the_node() -> None:
    async def test(node: Lab) -> None:
        shared = node.config.host_drive / "shared"
        for name, mode in (("root", 0o755), ("all", 0o777)):
            (shared / name).mkdir(parents=True)
            (shared / name).chmod(mode)
        (shared / "secret").write_text("hidden")
        (shared / "secret").chmod(0o600)
        tries = r"echo x> C:\v\root\{0} & echo x> C:\v\all\{0} & type C:\v\secret & echo x> C:\own"
        for name, image in (("admin", SERVERCORE), ("user", NANOSERVER)):
            mounts = [{"container_path": r"C:\v", "host_path": r"C:\shared"}]
            await node.ended(
                await node.run(name, "cmd", "/c", tries.format(name), image=image, mounts=mounts)
            )
        owners = {p.name: (p.stat().st_uid, p.parent.name) for p in shared.glob("*/*")}
        assert [p.name for p in (shared / "root").iterdir()] == ["admin"]
        assert owners.pop("admin")[0] == 0
        assert owners == {"user": (1000, "all")}
        assert (node.stdout("admin"), node.stdout("user")) == (["hidden"], [])
        stages = [*node.config.state_dir.glob("containers/*/stage/*")]
        assert (stages, _mounts_below(node.config.state_dir)) == ([], [])

    on_node(test)


def _mounts_below(folder: Path) -> list[str]:
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return [line for line in lines if f" {folder}/" in line]


async def _windows_user(node: Lab, container: str) -> str:
    return (await node.exec(container, "whoami"))[1].strip()


def test_a_fork_bomb_ends_at_the_container_s_limit() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("bomb", "powershell", "-c", "Start-Sleep 60")
        limit = _of_cgroup(node, container, "pids.max")
        assert 0 < int(limit) <= 4096
        started = await asyncio.to_thread(
            _inside, node, container, 0, "/usr/bin/python3", "-ISc", _BOMB
        )
        assert int(started) < int(limit)
        assert (await node.exec(container, "cmd", "/c", "exit 3"))[0] == 3

    on_node(test)


_BOMB = """
import os, threading, time
threading.stack_size(65536)
started = 0
try:
    while started < 10000:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
        started += 1
except RuntimeError:
    os.write(1, str(started).encode())
os._exit(0)
"""


def _of_cgroup(node: Lab, container: str, file: str) -> str:
    for root in (CGROUPS / "pids", CGROUPS):
        with contextlib.suppress(FileNotFoundError):
            return (root / node.config.cgroup_parent / container / file).read_text().strip()
    raise AssertionError(f"container {container} has no {file}")
