"""A node's pod network, made as soon as the node has a pod CIDR."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Network
from pathlib import Path

from muntin.kit import files
from muntin.model.resources import NODES
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange

CONFLIST = "10-muntin.conflist"


async def follow(
    client: KubeClient, node: str, configure: Callable[[IPv4Network], Awaitable[None]]
) -> None:
    """Call ``configure`` with the pod CIDR of ``node`` whenever it is a new one."""
    informer = Informer(client, NODES, field_selector=f"metadata.name={node}")
    changes: asyncio.Queue[IPv4Network] = asyncio.Queue()

    def changed(new: Object, old: Object | None) -> None:
        cidr = new["spec"].get("podCIDR")
        if cidr and (old is None or old["spec"].get("podCIDR") != cidr):
            changes.put_nowait(IPv4Network(cidr))

    informer.add_handler(OnChange(changed))
    async with asyncio.TaskGroup() as group:
        group.create_task(informer.run())
        while True:
            await configure(await changes.get())


def write_conflist(directory: Path, text: str) -> None:
    """Put the network configuration in place in one step: runtimes watch the folder."""
    directory.mkdir(parents=True, exist_ok=True)
    files.put(directory / CONFLIST, text.encode())
