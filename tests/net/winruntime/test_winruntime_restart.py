"""The runtime's process may be killed at any time: containers go on, and nothing is lost."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from runtime_lab import lab

from muntin.seams.cri.enums import ContainerState, PodSandboxState


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
