"""The container runtime of one Windows node: what is started, in which order, and what it takes up.

``run`` serves CRI until it is cancelled. Containers go on without it: their shims hold them, and
the next ``run`` with the same configuration takes them up again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.http.client import HttpClient
from muntin.kit.log import fields
from muntin.model.windows import Feature, is_open
from muntin.seams.cni.runner import CniRunner
from muntin.seams.cri.server import serving
from muntin.seams.hns import HnsClient
from muntin.winruntime import layer_staging, sandboxes
from muntin.winruntime.base import build_base
from muntin.winruntime.base.users import user_named
from muntin.winruntime.cgroups import CgroupReader
from muntin.winruntime.config import WinRuntimeConfig
from muntin.winruntime.containers import DEFAULT_USER, ContainerRpcs
from muntin.winruntime.exec_sync import ExecRpcs
from muntin.winruntime.image_store import DRIVE, ImageStore
from muntin.winruntime.images import ImageRpcs
from muntin.winruntime.lives import Lives
from muntin.winruntime.network import HnsNetwork, PodNetwork
from muntin.winruntime.network_v1 import HnsV1Network
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord, SandboxRecord, Store
from muntin.winruntime.runc import Runc
from muntin.winruntime.sandboxes import SandboxRpcs
from muntin.winruntime.shims import Shims
from muntin.winruntime.stats import StatsRpcs
from muntin.winruntime.status import StatusRpcs
from muntin.winruntime.streaming import StreamingServer
from muntin.winruntime.user_namespace import why_not
from muntin.winruntime.warm_wine import WarmWine
from muntin.winruntime.windows_paths import HostDrive

log = logging.getLogger(__name__)


class Families:
    """One service from objects that have some of its RPCs each."""

    def __init__(self, *families: object) -> None:
        self._families = families

    def __getattr__(self, name: str) -> Callable[..., Any]:
        for family in self._families:
            if found := getattr(family, name, None):
                return found  # type: ignore[no-any-return]
        raise AttributeError(name)


async def run(
    config: WinRuntimeConfig,
    *,
    hns: HnsClient | None = None,
    network: PodNetwork | None = None,
    clock: Clock | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve CRI on ``config.cri_socket`` until cancelled.

    The pods' network is ``network``, or HNS and the node's CNI plugins through ``hns``.
    ``on_ready`` is called when the socket answers.
    """
    clock = clock or SystemClock()
    if network is None:
        assert hns is not None, "either hns or network is needed"
        network = hns_network(config, hns)
    node = _node(config, network, clock)
    http = HttpClient()
    streaming = StreamingServer(node, clock)
    node.shims.open()
    try:
        async with supervised.Group() as group:
            lives = Lives(node, group)
            await _take_up(node, lives)
            containers = ContainerRpcs(node, lives)
            await streaming.start()
            runtime_service = Families(
                StatusRpcs(node),
                SandboxRpcs(node, containers),
                containers,
                ExecRpcs(node, streaming),
                StatsRpcs(node),
            )
            async with serving(str(config.cri_socket), runtime_service, ImageRpcs(node, http)):
                log.info("runtime ready", **fields(node=config.node_name))
                on_ready()
                await asyncio.get_running_loop().create_future()
    finally:
        await streaming.close()
        await node.shims.close()
        await http.close()


def hns_network(config: WinRuntimeConfig, hns: HnsClient) -> HnsNetwork:
    """The network of a node whose CNI plugins speak to ``hns``."""
    runner = CniRunner(config.cni_bin_dirs, config.state_dir / "cni")
    if not is_open(Feature.HCN_V2, config.profile):
        return HnsV1Network(hns, runner, config.cni_conf_dir, config.netns_prefix)
    return HnsNetwork(hns, runner, config.cni_conf_dir, config.netns_prefix)


def _node(config: WinRuntimeConfig, network: PodNetwork, clock: Clock) -> Node:
    config.state_dir.mkdir(parents=True, exist_ok=True)
    config.host_drive.mkdir(parents=True, exist_ok=True)
    layer_staging.sweep(config.state_dir)
    base = build_base(config.base_cache)
    base.hives(config.profile.build, user_named(DEFAULT_USER))
    reason = why_not([config.state_dir, base.path])
    if reason:
        log.warning(
            "containers run without user namespaces: their root is the host's",
            **fields(node=config.node_name, reason=reason),
        )
    runc = Runc(config.runc, config.run_dir / "runc")
    return Node(
        config=config,
        clock=clock,
        base=base,
        images=ImageStore(config.state_dir, base.prefix / DRIVE),
        sandboxes=Store(config.state_dir / "sandboxes", SandboxRecord, "sandbox"),
        containers=Store(config.state_dir / "containers", ContainerRecord, "container"),
        network=network,
        shims=Shims(config.run_dir),
        runc=runc,
        warm_wine=WarmWine(runc, clock),
        cgroups=CgroupReader(),
        host=HostDrive(config.host_drive),
        user_namespaces=not reason,
    )


async def _take_up(node: Node, lives: Lives) -> None:
    """Go on where a former process of this node was stopped or killed."""
    sandbox_leftovers, container_leftovers = node.sandboxes.load(), node.containers.load()
    await lives.adopt(container_leftovers)
    await sandboxes.sweep(node, sandbox_leftovers)
