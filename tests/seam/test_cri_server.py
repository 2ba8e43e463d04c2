"""The CRI client and server over a real socket; the fake keeps the runtime's rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from muntin.kit.errors import Conflict, NotFound, TimedOut, Unavailable, Unsupported
from muntin.seams.cri import Unknown
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.fake import FakeRuntime
from muntin.seams.cri.server import serving


def on_wire(tmp_path: Path, service: Any, test: Callable[[CriClient], Awaitable[None]]) -> None:
    async def run() -> None:
        socket = str(tmp_path / "cri.sock")
        async with serving(socket, service, service), CriClient(socket) as cri:
            await test(cri)

    asyncio.run(run())


def test_a_pod_of_the_fake(tmp_path: Path) -> None:
    runtime = FakeRuntime(images=("app:1",))

    async def test(cri: CriClient) -> None:
        sandbox = {"metadata": {"name": "p", "uid": "u"}, "labels": {"k": "v"}}
        key = (await cri.RunPodSandbox({"config": sandbox}))["pod_sandbox_id"]
        config = {
            "metadata": {"name": "c"},
            "image": {"image": "app:1"},
            "envs": [{"key": "A", "value": "ü"}],
        }
        request = {"pod_sandbox_id": key, "config": config, "sandbox_config": sandbox}
        one = (await cri.CreateContainer(request))["container_id"]
        await cri.StartContainer({"container_id": one})
        with pytest.raises(Conflict, match="not in the created state"):
            await cri.StartContainer({"container_id": one})
        await cri.StopContainer({"container_id": one, "timeout": 0})
        status = (await cri.ContainerStatus({"container_id": one}))["status"]
        assert (status["exit_code"], status["reason"]) == (137, "Error")
        selector = {"filter": {"label_selector": {"k": "other"}}}
        assert (await cri.ListPodSandbox(selector)).get("items", []) == []
        await cri.RemovePodSandbox({"pod_sandbox_id": key})
        with pytest.raises(NotFound):
            await cri.ContainerStatus({"container_id": one})
        assert runtime.requests("CreateContainer")[0]["config"]["envs"] == [
            {"key": "A", "value": "ü".encode()}
        ]

    on_wire(tmp_path, runtime, test)


def test_only_its_owner_can_reach_the_socket(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o755)

    async def run() -> None:
        async with serving(str(folder / "cri.sock"), Odd(), Odd()):
            assert (folder / "cri.sock").stat().st_mode & 0o777 == 0o600
            assert folder.stat().st_mode & 0o777 == 0o700

    asyncio.run(run())


class Odd:
    async def Version(self, request: Any) -> Any:
        await asyncio.sleep(60)

    async def Status(self, request: Any) -> Any:
        raise ValueError("a bug")

    async def StopContainer(self, request: Any) -> Any:
        raise Unknown("hcs::CreateComputeSystem x: das Gerät ist weg\n50 %")

    async def GetContainerEvents(self, request: Any) -> AsyncIterator[Any]:
        for name in ("a", "b"):
            yield {"container_id": name}


def test_errors_keep_their_class_and_text(tmp_path: Path) -> None:
    async def test(cri: CriClient) -> None:
        with pytest.raises(TimedOut):
            await cri.Version(timeout_s=0.1)
        with pytest.raises(Unknown, match="ValueError: a bug"):
            await cri.Status()
        with pytest.raises(Unknown) as caught:
            await cri.StopContainer({"container_id": "x"})
        assert caught.value.message == "hcs::CreateComputeSystem x: das Gerät ist weg\n50 %"
        with pytest.raises(Unsupported, match="unknown method ListImages"):
            await cri.ListImages()
        assert [event["container_id"] async for event in cri.events()] == ["a", "b"]

    on_wire(tmp_path, Odd(), test)


def test_no_runtime_is_unavailable_and_a_later_one_is_found(tmp_path: Path) -> None:
    socket = str(tmp_path / "cri.sock")

    async def run() -> None:
        async with CriClient(socket) as cri:
            with pytest.raises(Unavailable, match=r"cri\.sock"):
                await cri.Version()
            for _ in range(2):
                fake = FakeRuntime()
                async with serving(socket, fake, fake):
                    assert (await cri.Version())["runtime_name"] == "fake"
                with pytest.raises(Unavailable):
                    await cri.Version()

    asyncio.run(run())
