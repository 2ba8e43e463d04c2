"""A Linux node: our kubelet and proxy over Debian's containerd and CNI plugins."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path

from muntin.cluster import certificate_names, linux_containerd, node_agent, proxies
from muntin.cluster.after_import import AfterImport
from muntin.cluster.config import ClusterConfig, NodeConfig
from muntin.cluster.fabric_plan import RELAY_DNS
from muntin.cluster.node_files import LinuxNodeFiles
from muntin.cluster.paths import ClusterPaths
from muntin.kit import supervised
from muntin.kubelet import loop as kubelet
from muntin.kubelet import platform
from muntin.kubelet.facts import linux_facts


async def run(config: ClusterConfig, row: NodeConfig) -> None:
    """Kubelet and proxy of the node ``row``, until cancelled."""
    paths = ClusterPaths(config.name)
    socket = linux_containerd.paths_of(paths, row.name).socket
    root = paths.node_state(row.name) / "root"
    (root / "etc").mkdir(parents=True, exist_ok=True)
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n{row.address} {row.name}\n")
    settings = node_agent.kubelet_config(
        config,
        row,
        platform=platform.linux(row.kubernetes),
        facts=linux_facts(row.name, root),
        files=LinuxNodeFiles(root),
    )
    settings = replace(settings, resolv_conf=_write_resolver(config, root))
    client = node_agent.client(config, certificate_names.kubelet_client(row.name))
    await linux_containerd.listening(socket)
    imported = asyncio.Event()
    cri = AfterImport(str(socket), imported)
    async with supervised.Group() as group:
        group.start("image-import", partial(linux_containerd.import_images, socket, imported))
        group.start("kubelet", partial(kubelet.run, settings, client, cri))
        proxy_client = proxies.client_of(config)
        group.start("proxy", partial(proxies.run_on_linux, config, row.name, proxy_client))


def _write_resolver(config: ClusterConfig, root: Path) -> str:
    """The resolv.conf of the node, for pods that ask whoever the node asks."""
    path = root / "etc/resolv.conf"
    path.write_text(f"nameserver {RELAY_DNS}\n" if config.networking.egress else "")
    return str(path)
