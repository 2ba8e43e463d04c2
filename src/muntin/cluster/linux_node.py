"""A Linux node: Debian's containerd, the images it starts with, our kubelet and proxy."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from muntin.cluster import images_linux
from muntin.cluster.containerd import (
    ContainerdOptions,
    ContainerdPaths,
    config_toml,
    conflist_template,
)
from muntin.cluster.host_limits import refuses_lower_oom_scores
from muntin.cluster.paths import CACHE_ROOT, ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit.errors import Unavailable
from muntin.kit.log import fields
from muntin.kubelet import loop as kubelet
from muntin.kubelet import platform
from muntin.kubelet.facts import linux_facts
from muntin.seams.cri.client import CriClient

log = logging.getLogger(__name__)
IMAGE_CACHE = CACHE_ROOT / "images"
_POLL_S = 0.02


def paths_of(paths: ClusterPaths, node: str) -> ContainerdPaths:
    """The directories of the containerd of ``node``."""
    return ContainerdPaths.of(paths.node_state(node), paths.node_run(node))


def containerd(paths: ClusterPaths, node: str) -> Component:
    """The containerd of ``node``, its configuration written."""
    own = paths_of(paths, node)
    for folder in (own.root, own.state, own.cni_conf_dir, own.socket.parent):
        folder.mkdir(parents=True, exist_ok=True)
    own.cni_template.write_text(conflist_template(data_dir=own.cni_template.parent / "ipam"))
    options = ContainerdOptions(
        sandbox_image=images_linux.PAUSE_IMAGE,
        restrict_oom_score_adj=refuses_lower_oom_scores(),
    )
    file = paths.node_state(node) / "containerd.toml"
    file.write_text(config_toml(own, options))
    return Component(
        name=f"containerd-{node}",
        argv=("containerd", "--config", str(file), "--log-level", "warn"),
        namespace=paths.netns(node),
    )


class NodeFolders:
    """The node's own folders lie in its state directory; the rest is the machine's."""

    def __init__(self, state: Path) -> None:
        self._own = {
            "/var/lib/kubelet": state / "kubelet",
            "/var/log/pods": state / "logs",
            "/etc/hosts": state / "hosts",
        }

    def local(self, path: str) -> Path:
        """Where this process finds ``path`` of the node."""
        for name, folder in self._own.items():
            if path == name or path.startswith(f"{name}/"):
                return folder / path[len(name) :].lstrip("/")
        return Path(path)

    def runtime(self, path: str) -> str:
        """How containerd is told ``path``: it sees the machine's files as we do."""
        return str(self.local(path))


async def run(config: ClusterConfig, row: NodeConfig) -> None:
    """Kubelet, proxy and pod network of the node ``row``, until cancelled."""
    paths = ClusterPaths(config.name)
    own, state = paths_of(paths, row.name), paths.node_state(row.name)
    resolver = _write_resolver(config, state)
    files = NodeFolders(state)
    files.local("/etc/hosts").write_text(f"127.0.0.1 localhost\n{row.address} {row.name}\n")
    settings = node.kubelet_config(
        config,
        row,
        platform=platform.linux(),
        facts=linux_facts(row.name, state),
        files=files,
    )
    client = node.client(config, certificates.kubelet_client(row.name))

    async def configure(cidr: IPv4Network) -> None:
        conflist = bridge_conflist(cidr, data_dir=state / "cni" / "ipam")
        pod_network.write_conflist(own.cni_conf_dir, conflist)

    await _until_it_listens(own.socket)
    async with asyncio.TaskGroup() as group:
        group.create_task(import_images(own.socket))
        group.create_task(pod_network.follow(client, row.name, configure))
        cri = CriClient(str(own.socket))
        group.create_task(kubelet.run(replace(settings, resolv_conf=resolver), client, cri))


def _write_resolver(config: ClusterConfig, state: Path) -> str:
    """The resolv.conf of the node, for pods that ask whoever the node asks."""
    path = state / "resolv.conf"
    path.write_text(f"nameserver {RELAY_DNS}\n" if config.networking.egress else "")
    return str(path)


async def _until_it_listens(socket: Path) -> None:
    while True:
        try:
            _, writer = await asyncio.open_unix_connection(str(socket))
        except OSError:
            await asyncio.sleep(_POLL_S)
        else:
            writer.close()
            return


async def import_images(socket: Path) -> None:
    """Load the images made on this machine into the containerd at ``socket``.

    Raises:
        Unavailable: containerd refused one; the message is its own.
    """
    async with asyncio.TaskGroup() as group:
        for archive in images_linux.write_archives(IMAGE_CACHE):
            group.create_task(_import(socket, archive))


async def _import(socket: Path, archive: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *("ctr", "--address", str(socket), "--namespace", "k8s.io"),
        *("images", "import", "--no-unpack", str(archive)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    if process.returncode:
        raise Unavailable(f"import of {archive.name} failed: {errors.decode().strip()}")
    log.info("images imported", **fields(archive=archive.name))
