"""The runtime's process may be killed at any time: containers go on, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from runtime_lab import lab

from muntin.seams.cri.enums import ContainerState, PodSandboxState
from muntin.winruntime import processes


def test_containers_outlive_the_runtime_and_are_taken_up_again() -> None:
    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node:
            stays = await node.run("stays", "cmd", stdin=True)
            ends = await node.run("ends", "powershell", "-c", "Start-Sleep 1; 'late'; exit 7")
            waits = await node.create("waits", "cmd", "/c", "echo now")
            leftover = root / "state/containers" / ("0" * 64)
            leftover.mkdir()
            node.kill()
            await asyncio.sleep(1.5)
            await node.start()

            items = (await node.cri.ListPodSandbox({}))["items"]
            assert len(items) == 3
            assert all(item.get("state", 0) == PodSandboxState.SANDBOX_READY for item in items)
            status = await node.ended(ends)
            assert status["exit_code"] == 7
            assert node.stdout("ends") == ["late"]
            assert (await node.status(stays))["state"] == ContainerState.CONTAINER_RUNNING
            assert (await node.exec(stays, "cmd", "/c", "echo still"))[1] == "still\r\n"
            await node.cri.StartContainer({"container_id": waits})
            await node.ended(waits)
            assert not leftover.exists()
            await node.cri.StopContainer({"container_id": stays, "timeout": 5})
            assert (await node.status(stays))["state"] == ContainerState.CONTAINER_EXITED

    asyncio.run(run())


def test_a_sandbox_that_was_never_whole_is_removed_with_its_pause_process() -> None:
    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node:
            sandbox = await node.sandbox("half")
            whole = await node.sandbox("whole")
            file = root / "state/sandboxes" / sandbox / "record.json"
            record = json.loads(file.read_text())
            pause = (record["pause_pid"], record["pause_started"])
            assert processes.is_alive(*pause)
            node.kill()
            # Killed after the pause process was started, before its pid was written down.
            file.write_text(json.dumps({**record, "stopped": True, "pause_pid": 0}))
            await node.start()
            items = (await node.cri.ListPodSandbox({}))["items"]
            assert [item["id"] for item in items] == [whole]
            assert processes.network_namespace(record["netns"]) == (0, 0)
            assert not processes.is_alive(*pause)

    asyncio.run(run())
