"""A Windows container runtime in a process of its own, for tests that kill and restart it.

Run as a program it serves until it is killed; pods get namespaces with only a loopback, so that
these tests need neither HNS nor CNI.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from muntin.kit import log, netns
from muntin.kit.rtnetlink import LOOPBACK, RouteSocket, link_set
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.enums import ContainerState
from muntin.winruntime import loop
from muntin.winruntime.config import WinRuntimeConfig
from muntin.winruntime.network import Namespace
from muntin.winruntime.records import SandboxRecord

SERVERCORE = "mcr.microsoft.com/windows/servercore:ltsc2019"
NANOSERVER = "mcr.microsoft.com/windows/nanoserver:1809"
POD_IP = "127.0.0.1"


def config(root: Path) -> WinRuntimeConfig:
    """A node whose files are all below ``root``, and whose names carry its name."""
    return WinRuntimeConfig(
        node_name="win01",
        profile=profile_of(build_named("2019")),
        state_dir=root / "state",
        run_dir=root / "run",
        host_drive=root / "c",
        netns_prefix=f"muntin-test-e-{root.name}-",
        cri_socket=root / "run" / "cri.sock",
        cgroup_parent=f"muntin-test-e-{root.name}",
        cni_conf_dir=root / "cni",
        cni_bin_dirs=(),
    )


class LoopbackNetwork:
    """Pods that reach only themselves."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    async def ready(self) -> str:
        return ""

    def new_namespace(self) -> Namespace:
        name = secrets.token_hex(4)
        return Namespace(name, str(netns.path_of(self._prefix + name)))

    async def create_namespace(self, namespace: Namespace) -> None:
        netns.create(self._prefix + namespace.id)
        with RouteSocket(self._prefix + namespace.id) as routes:
            routes.request(link_set(LOOPBACK, up=True))

    async def attach(self, sandbox: SandboxRecord) -> list[str]:
        return [POD_IP]

    async def detach(self, sandbox: SandboxRecord) -> None:
        pass

    async def delete_namespace(self, namespace_id: str) -> None:
        netns.delete(self._prefix + namespace_id)


class Lab:
    """One node and a CRI client of it."""

    def __init__(self, root: Path) -> None:
        self.config = config(root)
        self.cri = CriClient(str(self.config.cri_socket))
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the runtime's process, and wait until it answers."""
        self._spawn()
        end = time.monotonic() + 60
        while True:
            assert self._is_up(), "the runtime's process ended"
            with contextlib.suppress(Exception):
                await self.cri.Version({}, timeout_s=1)
                return
            assert time.monotonic() < end, "the runtime does not answer"
            await asyncio.sleep(0.02)

    def _is_up(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _spawn(self) -> None:
        from orphans import end_with_parent  # not there in the child, which is this file, too

        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self._root)], preexec_fn=end_with_parent()
        )

    def kill(self) -> None:
        """kill -9 of the runtime's process."""
        assert self._process
        self._process.kill()
        self._process.wait()

    async def clean_up(self) -> None:
        """Leave nothing behind."""
        try:
            for sandbox in (await self.cri.ListPodSandbox({})).get("items", []):
                await self.cri.RemovePodSandbox({"pod_sandbox_id": sandbox["id"]})
        finally:
            self.cri.close()
            self.kill()
            netns.delete_all(self.config.netns_prefix)
            self._remove_files()

    def _remove_files(self) -> None:
        for group in Path("/sys/fs/cgroup").glob(f"*/{self.config.cgroup_parent}"):
            with contextlib.suppress(OSError):
                group.rmdir()
        shutil.rmtree(self._root, ignore_errors=True)

    async def sandbox(self, name: str) -> str:
        """A new pod; its sandbox id."""
        config = {
            "metadata": {"name": name, "uid": f"{name}-uid", "namespace": "default"},
            "hostname": name,
            "log_directory": rf"C:\var\log\pods\default_{name}",
            "dns_config": {
                "servers": ["10.96.0.10"],
                "searches": ["default.svc.cluster.local", "svc.cluster.local"],
            },
            "labels": {"app": name},
        }
        return str((await self.cri.RunPodSandbox({"config": config}))["pod_sandbox_id"])

    async def create(self, name: str, *command: str, image: str = SERVERCORE, **config: Any) -> str:
        """A new pod with one created container, its image pulled; the container's id."""
        await self.cri.PullImage({"image": {"image": image}})
        return await self.create_existing(name, image, *command, **config)

    async def create_existing(self, name: str, image: str, *command: str, **config: Any) -> str:
        """The same with an image that is there."""
        request = {
            "pod_sandbox_id": await self.sandbox(name),
            "config": {
                "metadata": {"name": "c"},
                "image": {"image": image},
                "command": list(command),
                "log_path": "c/0.log",
                **config,
            },
        }
        return str((await self.cri.CreateContainer(request))["container_id"])

    async def run_existing(self, name: str, image: str, *command: str) -> str:
        """The same, started."""
        container_id = await self.create_existing(name, image, *command)
        await self.cri.StartContainer({"container_id": container_id})
        return container_id

    async def run(self, name: str, *command: str, **config: Any) -> str:
        """The same, started."""
        container_id = await self.create(name, *command, **config)
        await self.cri.StartContainer({"container_id": container_id})
        return container_id

    async def status(self, container_id: str) -> dict[str, Any]:
        """ContainerStatus."""
        response = await self.cri.ContainerStatus({"container_id": container_id})
        status: dict[str, Any] = response["status"]
        return status

    async def ended(self, container_id: str, timeout_s: float = 20.0) -> dict[str, Any]:
        """The status of a container once it has ended."""
        async with asyncio.timeout(timeout_s):
            while True:
                status = await self.status(container_id)
                if status.get("state") == ContainerState.CONTAINER_EXITED:
                    return status
                await asyncio.sleep(0.01)

    async def exec(
        self, container_id: str, *command: str, limit_s: int = 20
    ) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of one more program."""
        request = {"container_id": container_id, "cmd": list(command), "timeout": limit_s}
        answer = await self.cri.ExecSync(request)
        outputs = [answer.get(name, b"").decode(errors="replace") for name in ("stdout", "stderr")]
        return answer.get("exit_code", 0), outputs[0], outputs[1]

    def log(self, name: str) -> list[tuple[str, str, str]]:
        """Stream, tag and text of the log's lines."""
        path = self.config.host_drive / f"var/log/pods/default_{name}/c/0.log"
        lines = path.read_text(errors="replace").splitlines()
        return [(a, b, c) for _, a, b, c in (line.split(" ", 3) for line in lines)]

    def stdout(self, name: str) -> list[str]:
        """What the container said, by lines."""
        return [text for stream, _, text in self.log(name) if stream == "stdout"]


@contextlib.asynccontextmanager
async def lab(root: Path) -> AsyncIterator[Lab]:
    """A running node; it is gone at the end, whatever happened."""
    node = Lab(root)
    try:
        await node.start()
        yield node
    finally:
        await node.clean_up()


async def _serve(root: Path) -> None:
    settings = config(root)
    await loop.run(settings, network=LoopbackNetwork(settings.netns_prefix))


if __name__ == "__main__":
    log.setup()
    asyncio.run(_serve(Path(sys.argv[1])))
