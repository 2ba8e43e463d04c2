"""What a hostile container does to its runtime: the node goes on and the container ends in time."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
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


def on_node(test: Callable[[Lab], Awaitable[None]]) -> None:
    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node, asyncio.timeout(60):
            await test(node)

    asyncio.run(run())


async def pid_of(node: Lab, container: str) -> int:
    """The host's pid of a container's first process."""
    response = await node.cri.ContainerStatus({"container_id": container, "verbose": True})
    return int(json.loads(response["info"]["info"])["pid"])


async def inside(node: Lab, container: str, script: str, *words: str) -> None:
    """Run Python as root in all namespaces of the container."""
    command = ["nsenter", "--target", str(await pid_of(node, container)), "--all"]
    command += ["/usr/bin/python3", "-ISE", "-c", script, *words]
    process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
    await process.wait()


@pytest.mark.parametrize("trap", ["fifo", "zero"])
def test_traps_for_what_reads_a_status_do_not_stop_the_node(trap: str) -> None:
    async def test(node: Lab) -> None:
        container = await node.run("trap", "cmd", stdin=True)
        endless = "for /l %i in (0,0,1) do @rem"
        running = asyncio.ensure_future(node.exec(container, "cmd", "/c", endless))
        await asyncio.sleep(1.0)
        assert not running.done()
        await inside(node, container, _TRAP, trap)
        async with asyncio.timeout(10):
            await asyncio.wait({running})
            running.exception()  # whatever came of it, it has ended
            await node.ended(container)
            await node.cri.Version({})
            await node.cri.RemoveContainer({"container_id": container})
        other = await node.run("other", "cmd", "/c", "exit 3")
        assert (await node.ended(other))["exit_code"] == 3

    on_node(test)
