"""A node's pod network, made as soon as the node has a pod CIDR."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Network
from pathlib import Path

from muntin.kit import files, supervised
from muntin.kit.log import fields
from muntin.model.nodes import pod_subnet
from muntin.model.resources import NODES
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange

log = logging.getLogger(__name__)

CONFLIST = "10-muntin.conflist"


async def follow(
    client: KubeClient, node: str, configure: Callable[[IPv4Network], Awaitable[None]]
) -> None:
    """Call ``configure`` with the pod CIDR of ``node`` whenever it is a new one."""
    informer = Informer(client, NODES, field_selector=f"metadata.name={node}")
    changed = asyncio.Event()
    informer.add_handler(OnChange(lambda new, old: changed.set()))
    configured: IPv4Network | None = None

    async def keep_current() -> None:
        nonlocal configured
        while True:
            changed.clear()
            cidr = _pod_cidr(informer.get(node))
            if cidr is not None and cidr != configured:
                await configure(cidr)
                configured = cidr
            await changed.wait()

    async with supervised.Group() as group:
        group.start("pod-network-node", informer.run)
        group.start("pod-network-configure", keep_current)


def _pod_cidr(node: Object | None) -> IPv4Network | None:
    """The node's range of pod addresses; None without one that can be used, which is logged."""
    try:
        return pod_subnet(node) if node else None
    except ValueError as err:
        log.warning("no pod network: spec.podCIDR is not an IPv4 range", **fields(error=err))
        return None


def write_conflist(directory: Path, text: str) -> None:
    """Put the network configuration in place in one step: runtimes watch the folder."""
    directory.mkdir(parents=True, exist_ok=True)
    files.keep(directory / CONFLIST, text.encode())
