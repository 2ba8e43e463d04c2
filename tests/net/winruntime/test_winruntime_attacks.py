"""What a hostile container does to its runtime: the node goes on and the container ends in time."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from runtime_lab import Lab, lab

# Control files used to be in /run/muntin of the container; every folder there is tried.
_TRAP = """
import glob, os, sys
for start in glob.glob("/run/*/*.start"):
    status = start.removesuffix("start") + "status"
    if os.path.lexists(status):
        os.unlink(status)
    os.mkfifo(status) if sys.argv[1] == "fifo" else os.symlink("/dev/zero", status)
os.kill(-1, 9)
"""
# The control socket of the container's own program, which its first process has: filled up.
_FLOOD = """
import ctypes, os, socket
call = ctypes.CDLL(None, use_errno=True).syscall
control = socket.socket(fileno=call(438, os.pidfd_open(1), 3, 0))  # pidfd_getfd
control.setblocking(False)
try:
    while True:
        control.send(b"started 9" * 7)
except BlockingIOError:
    pass
os.kill(-1, 9)
"""
_STOP = "import os; os.kill(-1, 19)"
_DEEP = """
import os
os.chdir("/prefix/drive_c")
for _ in range(1500):
    os.mkdir("d" * 20)
    os.chdir("d" * 20)
open("bottom", "w").close()
"""


def on_node(test: Callable[[Lab], Awaitable[None]]) -> None:
    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node, asyncio.timeout(90):
            await test(node)

    asyncio.run(run())


async def pid_of(node: Lab, container: str) -> int:
    """The host's pid of a container's first process."""
    response = await node.cri.ContainerStatus({"container_id": container, "verbose": True})
    return int(json.loads(response["info"]["info"])["pid"])


async def inside(node: Lab, container: str, script: str, *words: str) -> int:
    """Run Python as root in all namespaces of the container; gives its exit code."""
    command = ["nsenter", "--target", str(await pid_of(node, container)), "--all"]
    command += ["/usr/bin/python3", "-ISE", "-c", script, *words]
    process = await asyncio.create_subprocess_exec(*command)
    return await process.wait()


async def end_in_time(node: Lab, container: str, script: str, *words: str) -> None:
    """Attack while another program runs there; nothing waits for the container afterwards."""
    endless = "for /l %i in (0,0,1) do @rem"
    running = asyncio.ensure_future(node.exec(container, "cmd", "/c", endless, limit_s=60))
    await asyncio.sleep(1.5)
    assert not running.done()
    assert await inside(node, container, script, *words) in (0, -9)  # it may go with its container
    async with asyncio.timeout(15):
        await node.cri.Version({})
        await node.cri.StopContainer({"container_id": container, "timeout": 1})
        await node.ended(container)
        await asyncio.wait({running})
        running.exception()  # whatever came of it, it has ended
        await node.cri.RemoveContainer({"container_id": container})


def test_a_container_ends_in_time_whatever_it_does_to_its_control_files() -> None:
    async def test(node: Lab) -> None:
        attacks = {"fifo": (_TRAP, "fifo"), "zero": (_TRAP, "zero"), "flood": (_FLOOD,)}
        attacks["stop"] = (_STOP,)
        names = list(attacks)
        containers = [await node.run(name, "cmd", stdin=True) for name in names]
        await asyncio.gather(
            *(end_in_time(node, c, *attacks[n]) for n, c in zip(names, containers, strict=True))
        )
        deep = await node.run("deep", "cmd", stdin=True)
        assert await inside(node, deep, _DEEP) == 0
        [stats] = (await node.cri.ListContainerStats({}))["stats"]
        assert stats["writable_layer"]["inodes_used"]["value"] >= 1
        await node.cri.RemoveContainer({"container_id": deep})
        assert list((node.config.state_dir / "containers").iterdir()) == []
        other = await node.run("other", "cmd", "/c", "exit 3")
        assert (await node.ended(other))["exit_code"] == 3

    on_node(test)
