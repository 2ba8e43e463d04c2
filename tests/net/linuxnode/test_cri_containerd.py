"""The CRI client against the real thing: Debian's containerd."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from muntin.cluster.image_volumes import ImageVolumes
from muntin.cluster.images_linux import BUSYBOX_IMAGES, PAUSE_IMAGE
from muntin.kit import mounts
from muntin.kit.errors import Invalid, NotFound, TimedOut, Unavailable
from muntin.seams.cri import Unknown
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.enums import ContainerState, PodSandboxState

BUSYBOX = BUSYBOX_IMAGES[0]


def on_node(linux_node: Any, test: Callable[[CriClient], Awaitable[None]]) -> None:
    async def run() -> None:
        async with CriClient(linux_node.socket) as cri:
            await network_ready(cri)
            await test(cri)

    asyncio.run(run())


async def network_ready(cri: CriClient) -> None:
    """containerd makes its CNI conflist from our template when it is told the pod CIDR."""
    network = {"network_config": {"pod_cidr": "10.244.7.0/24"}}
    await cri.UpdateRuntimeConfig({"runtime_config": network})
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        rows = (await cri.Status())["status"]["conditions"]
        if all(row.get("status") for row in rows):
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the network did not become ready")


async def run_sandbox(cri: CriClient, node: Any, name: str) -> tuple[str, dict[str, Any]]:
    config = {
        "metadata": {"name": name, "uid": f"uid-{name}", "namespace": "default"},
        "hostname": name,
        "log_directory": str(node.state / "logs" / name),
        "labels": {"app": name},
        "linux": {"cgroup_parent": f"/{node.cgroup}/pod-{name}"},
    }
    answer = await cri.RunPodSandbox({"config": config})
    return answer["pod_sandbox_id"], config


async def run_container(
    cri: CriClient, sandbox: str, config: dict[str, Any], command: list[str], **more: Any
) -> str:
    container = {
        "metadata": {"name": "main"},
        "image": {"image": BUSYBOX},
        "command": command,
        "log_path": "main/0.log",
        **more,
    }
    request = {"pod_sandbox_id": sandbox, "config": container, "sandbox_config": config}
    created = (await cri.CreateContainer(request))["container_id"]
    await cri.StartContainer({"container_id": created})
    return created


async def exited(cri: CriClient, container: str) -> dict[str, Any]:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        status = (await cri.ContainerStatus({"container_id": container}))["status"]
        if status.get("state", 0) == ContainerState.CONTAINER_EXITED:
            return status
        await asyncio.sleep(0.02)
    raise AssertionError(f"container {container} still runs")


def test_version_status_and_local_images(linux_node: Any) -> None:
    async def test(cri: CriClient) -> None:
        version = await cri.Version({"version": "0.1.0"})
        assert version["runtime_name"] == "containerd"
        conditions = (await cri.Status())["status"]["conditions"]
        assert {row["type"]: row.get("status") for row in conditions} == {
            "RuntimeReady": True,
            "NetworkReady": True,
        }
        for name in (BUSYBOX, PAUSE_IMAGE):
            image = (await cri.ImageStatus({"image": {"image": name}}))["image"]
            assert name in image["repo_tags"]
        assert "image" not in await cri.ImageStatus({"image": {"image": "nowhere:1"}})

    on_node(linux_node, test)


def test_a_pod_from_sandbox_to_removal(linux_node: Any) -> None:
    async def test(cri: CriClient) -> None:
        sandbox, config = await run_sandbox(cri, linux_node, "life")
        try:
            status = (await cri.PodSandboxStatus({"pod_sandbox_id": sandbox}))["status"]
            assert status.get("state", 0) == PodSandboxState.SANDBOX_READY
            assert status["network"]["ip"].startswith("10.244.7.")
            assert status["labels"] == {"app": "life"}
            script = "echo out $GREETING; echo err >&2; exit 3"
            envs = [{"key": "GREETING", "value": "grüß"}]
            one = await run_container(cri, sandbox, config, ["sh", "-c", script], envs=envs)
            ended = await exited(cri, one)
            assert (ended["exit_code"], ended["reason"]) == (3, "Error")
            log = (linux_node.state / "logs" / "life" / "main" / "0.log").read_text()
            lines = [line.split(" ", 1)[1] for line in log.splitlines()]
            assert sorted(lines) == ["stderr F err", "stdout F out grüß"]
        finally:
            await cri.StopPodSandbox({"pod_sandbox_id": sandbox})
            await cri.RemovePodSandbox({"pod_sandbox_id": sandbox})
        with pytest.raises(NotFound):
            await cri.PodSandboxStatus({"pod_sandbox_id": sandbox})

    on_node(linux_node, test)


def test_exec_and_errors(linux_node: Any) -> None:
    async def test(cri: CriClient) -> None:
        sandbox, config = await run_sandbox(cri, linux_node, "exec")
        try:
            main = await run_container(cri, sandbox, config, ["sleep", "600"])
            answer = await cri.ExecSync(
                {"container_id": main, "cmd": ["sh", "-c", "echo a; echo b >&2; exit 4"]}
            )
            assert answer == {"stdout": b"a\n", "stderr": b"b\n", "exit_code": 4}
            with pytest.raises(TimedOut):
                await cri.ExecSync({"container_id": main, "cmd": ["sleep", "5"], "timeout": 1})
            url = (await cri.Exec({"container_id": main, "cmd": ["sh"], "stdout": True}))["url"]
            assert url.startswith("http://127.0.0.1:")
            with pytest.raises(Unknown, match=r"no such file|executable file not found"):
                await run_container(cri, sandbox, config, ["/absent"], metadata={"name": "absent"})
            await cri.StopContainer({"container_id": main, "timeout": 0})
            assert (await exited(cri, main))["exit_code"] == 137
        finally:
            await cri.StopPodSandbox({"pod_sandbox_id": sandbox})
            await cri.RemovePodSandbox({"pod_sandbox_id": sandbox})

    on_node(linux_node, test)


def test_images_as_volumes_of_a_containerd_without_them(linux_node: Any, tmp_path: Path) -> None:
    async def test(cri: CriClient) -> None:
        image = (await cri.ImageStatus({"image": {"image": BUSYBOX}}))["image"]["id"]
        volumes = ImageVolumes(Path(linux_node.socket), tmp_path)

        async def source(**more: Any) -> Path:
            mount = {"container_path": "/v", "image": {"image": image}, **more}
            plain = {"container_path": "/w", "host_path": "/w"}
            request = {"pod_sandbox_id": "s", "config": {"mounts": [mount, plain]}}
            changed = await volumes.with_paths(request)
            first, second = changed["config"]["mounts"]
            assert second == plain
            assert (first.keys(), first["readonly"]) == (
                {"container_path", "host_path", "readonly"},
                True,
            )
            return Path(first["host_path"])

        whole = await source()
        assert (whole / "bin/busybox").is_file()
        with pytest.raises(OSError, match="Read-only"):
            (whole / "new").touch()
        assert await source() == whole
        assert (await source(image_sub_path="bin") / "busybox").is_file()
        for below in ("bin/busybox", "absent", "../../../etc"):
            with pytest.raises(Invalid, match="no folder"):
                await source(image_sub_path=below)
        await volumes.forget(image)
        assert not mounts.below([tmp_path])
        assert os.listdir(tmp_path) == []
        assert (await source() / "bin/busybox").is_file()
        await volumes.forget(image)
        image = "sha256:0"
        with pytest.raises(Unavailable, match="ctr images mount"):
            await source()

    tmp_path.chmod(0o755)
    on_node(linux_node, test)
    assert tmp_path.stat().st_mode & 0o077 == 0  # other users cannot run set-uid programs
