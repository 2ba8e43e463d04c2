"""A Linux node without a cluster: a network namespace with Debian's containerd in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from orphans import end_with_parent

from muntin.cluster.containerd import (
    ContainerdOptions,
    ContainerdPaths,
    config_toml,
    conflist_template,
)
from muntin.cluster.host_limits import refuses_lower_oom_scores
from muntin.cluster.images_linux import PAUSE_IMAGE, write_archives
from muntin.kit import netns


@dataclass(frozen=True)
class LinuxNode:
    netns: str
    socket: str
    state: Path
    cgroup: str


def _wait_for_containerd(socket: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        version = ["ctr", "--address", str(socket), "version"]
        if socket.exists() and not subprocess.run(version, capture_output=True).returncode:
            return
        time.sleep(0.05)
    raise AssertionError(f"containerd did not start: {log.read_text()}")


def _remove_cgroups(path: str) -> None:
    for root, _, _ in os.walk("/sys/fs/cgroup", topdown=False):
        if f"/{path}" in root:
            os.rmdir(root)


@pytest.fixture(scope="module")
def linux_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinuxNode]:
    """containerd in a namespace of its own, with the local images loaded."""
    name = f"muntin-test-d-{os.getpid()}"
    state = tmp_path_factory.mktemp("node")
    run = Path(f"/run/{name}")  # Unix socket paths must be short
    paths = ContainerdPaths.of(state, run)
    for directory in (run, paths.cni_conf_dir):
        directory.mkdir(parents=True)
    options = ContainerdOptions(
        sandbox_image=PAUSE_IMAGE, restrict_oom_score_adj=refuses_lower_oom_scores()
    )
    config = state / "containerd.toml"
    config.write_text(config_toml(paths, options))
    paths.cni_template.write_text(conflist_template(data_dir=state / "ipam"))
    log = state / "containerd.log"
    netns.create(name)
    inside = ["nsenter", f"--net={netns.path_of(name)}"]
    subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=True)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*inside, "containerd", "--config", str(config)],
            stdout=out,
            stderr=out,
            preexec_fn=end_with_parent(),
        )
    cgroup = name
    try:
        _wait_for_containerd(paths.socket, process, log)
        for image in write_archives(tmp_path_factory.getbasetemp() / "images"):
            load = ["ctr", "--address", str(paths.socket), "-n", "k8s.io", "images", "import"]
            subprocess.run([*load, str(image)], check=True, capture_output=True)
        yield LinuxNode(name, str(paths.socket), state, cgroup)
    finally:
        try:
            _remove_pods(paths.socket)
        finally:
            process.terminate()
            process.wait(10)
            netns.delete(name)
        _remove_cgroups(cgroup)
        for mount in sorted(_mounts_under(run, state), reverse=True):
            subprocess.run(["umount", mount], check=False)
        shutil.rmtree(run, ignore_errors=True)


def _mounts_under(*roots: Path) -> list[str]:
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [mount for mount in mounts if any(mount.startswith(f"{root}/") for root in roots)]


def _remove_pods(socket: Path) -> None:
    """Whatever a test's kubelet left; containerd may still be at what it was told last."""
    import asyncio

    from muntin.kit.errors import NotFound
    from muntin.seams.cri.client import CriClient

    async def remove() -> None:
        async with CriClient(str(socket)) as cri:
            for pod in (await cri.ListPodSandbox()).get("items", []):
                try:
                    await cri.StopPodSandbox({"pod_sandbox_id": pod["id"]})
                    await cri.RemovePodSandbox({"pod_sandbox_id": pod["id"]})
                except NotFound:
                    continue

    asyncio.run(remove())
