"""Pods of a Linux node wait for the images that are made on this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from muntin.cluster.after_import import AfterImport
from muntin.seams.cri.fake import FakeRuntime
from muntin.seams.cri.server import serving


def test_sandboxes_wait_for_the_import_and_the_rest_does_not(tmp_path: Path) -> None:
    async def run() -> None:
        socket, imported = str(tmp_path / "cri.sock"), asyncio.Event()
        runtime = FakeRuntime(images=("app:1",))
        config = {"config": {"metadata": {"name": "p", "uid": "u"}}}
        async with serving(socket, runtime, runtime), AfterImport(socket, imported) as cri:
            sandbox = asyncio.ensure_future(cri.RunPodSandbox(config))
            image = asyncio.ensure_future(cri.ImageStatus({"image": {"image": "app:1"}}))
            assert (await cri.Version())["runtime_name"] == "fake"
            await cri.ListPodSandbox()
            assert not sandbox.done()
            assert not image.done()
            imported.set()
            assert (await sandbox)["pod_sandbox_id"]
            assert (await image)["image"]

    asyncio.run(run())
