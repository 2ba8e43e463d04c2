"""A Linux node: our kubelet and proxy over Debian's containerd and CNI plugins."""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from muntin.cluster import certificate_names, linux_containerd, node_agent, proxies
from muntin.cluster.after_import import AfterImport
from muntin.cluster.config import ClusterConfig, NodeConfig
from muntin.cluster.fabric_plan import RELAY_DNS
from muntin.cluster.image_volumes import ImageVolumes
from muntin.cluster.node_files import LinuxNodeFiles
from muntin.cluster.paths import ClusterPaths
from muntin.kit import files as kit_files
from muntin.kit import supervised
from muntin.kit.errors import Invalid
from muntin.kit.log import fields
from muntin.kit.safe_paths import open_beneath, open_regular
from muntin.kit.trees import remove_tree
from muntin.kubelet import loop as kubelet
from muntin.kubelet import platform
from muntin.kubelet.facts import linux_facts
from muntin.kubelet.node_files import closing

log = logging.getLogger(__name__)


async def run(config: ClusterConfig, row: NodeConfig) -> None:
    """Kubelet and proxy of the node ``row``, until cancelled."""
    paths = ClusterPaths(config.name)
    socket = linux_containerd.paths_of(paths, row.name).socket
    state = paths.node_state(row.name)
    files = LinuxNodeFiles(state)
    files.prepare()
    _write(files, "hosts", f"127.0.0.1 localhost\n{row.address} {row.name}\n")
    settings = node_agent.kubelet_config(
        config,
        row,
        platform=platform.linux(row.kubernetes),
        facts=linux_facts(row.name, state),
        files=files,
    )
    settings = replace(settings, resolv_conf=_write_resolver(config, state, files))
    client = node_agent.client(config, certificate_names.kubelet_client(row.name))
    await linux_containerd.listening(socket)
    imported = asyncio.Event()
    volumes = ImageVolumes(socket, paths.node_run(row.name) / "image-volumes")
    cri = AfterImport(str(socket), imported, volumes)
    async with supervised.Group() as group:
        group.start("image-import", partial(linux_containerd.import_images, socket, imported))
        group.start("kubelet", partial(kubelet.run, settings, client, cri))
        proxy_client = proxies.client_of(config)
        group.start("proxy", partial(proxies.run_on_linux, config, row.name, proxy_client))


def _write_resolver(config: ClusterConfig, state: Path, files: LinuxNodeFiles) -> str:
    """The node's resolv.conf, for pods that use the node's DNS servers.

    The kubelet reads its own copy: pods may change the node's /etc.
    """
    text = f"nameserver {RELAY_DNS}\n" if config.networking.egress else ""
    _write(files, "resolv.conf", text)
    own = state / "resolv.conf"
    kit_files.keep(own, text.encode())
    return str(own)


def _write(files: LinuxNodeFiles, name: str, text: str) -> None:
    """Write ``text`` to the file ``name`` in the node's /etc, replacing whatever a pod put there.

    An unchanged file is not rewritten: a full disk has no room for a new one.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        with closing(files.make_host_folders("/etc")) as folder:
            if _holds(folder, name, text):
                return
            remove_tree(folder, name)
            with os.fdopen(open_beneath(folder, name, flags, 0o644), "w") as file:
                file.write(text)
    except OSError as err:  # a pod with the node's root as hostPath may have ruined /etc
        log.warning("node file not written", **fields(path=f"/etc/{name}", error=err))


def _holds(folder: int, name: str, text: str) -> bool:
    """Whether ``name`` in ``folder`` is a regular file of ``text``; never waits for a FIFO."""
    try:
        with os.fdopen(open_regular(folder, name, os.O_RDONLY), "rb") as file:
            return file.read(len(text) + 1) == text.encode()
    except (OSError, Invalid):
        return False
