"""An emulated Windows node: HNS, the CRI server, our kubelet and proxy, in one process.

Kubelet, proxy and CNI plugins meet the emulation over CRI and HNS alone, as on a real node.
"""

from __future__ import annotations

import asyncio
import json
import os
from functools import partial
from ipaddress import IPv4Network
from pathlib import Path

from muntin.cluster import certificate_names, node_agent, pod_network, proxies
from muntin.cluster.config import ClusterConfig, NodeConfig
from muntin.cluster.node_files import WindowsNodeFiles
from muntin.cluster.paths import WINDOWS_BASE_CACHE, ClusterPaths
from muntin.cni import install as cni
from muntin.cni.host_gateway import ensure_network
from muntin.hns import loop as hns
from muntin.hns.config import HnsConfig
from muntin.kit import supervised
from muntin.kubelet import loop as kubelet
from muntin.kubelet import platform
from muntin.kubelet.config import NodeFacts
from muntin.kubelet.facts import windows_facts
from muntin.model.gates import Profile
from muntin.model.windows import Feature, is_open
from muntin.seams.cri.client import CriClient
from muntin.seams.hns.client import UnixHnsClient
from muntin.seams.hns.v1 import client_for
from muntin.winruntime import loop as winruntime
from muntin.winruntime.config import WinRuntimeConfig


async def run(config: ClusterConfig, row: NodeConfig) -> None:
    """Everything of the node ``row``, until cancelled."""
    assert row.profile is not None
    profile = row.profile
    paths = ClusterPaths(config.name)
    drive = paths.node_state(row.name) / "c"
    drive.mkdir(parents=True, exist_ok=True)
    runtime = runtime_config(paths, row.name, profile, drive)
    hns_config = _hns_config(paths, row.name, profile)
    runtime.run_dir.mkdir(parents=True, exist_ok=True)
    settings = node_agent.kubelet_config(
        config,
        row,
        platform=platform.windows(profile),
        facts=_facts(row, profile, drive),
        files=WindowsNodeFiles(drive),
    )
    client = node_agent.client(config, certificate_names.kubelet_client(row.name))
    hns_client = UnixHnsClient(str(hns_config.socket_path))
    node_hns = client_for(hns_client, has_hcn=is_open(Feature.HCN_V2, profile))
    cni.install(runtime.cni_bin_dirs[0], hns_config.socket_path)

    async def configure(cidr: IPv4Network) -> None:
        if not is_open(Feature.HNS_ADMIN_CREATED_NETWORK, profile):
            await ensure_network(node_hns, cidr)
        pod_network.write_conflist(
            runtime.cni_conf_dir, _conflist(config, row, profile, cidr, runtime.state_dir)
        )

    hns_ready, runtime_ready = asyncio.Event(), asyncio.Event()
    serve_cri = partial(winruntime.run, runtime, hns=hns_client, on_ready=runtime_ready.set)
    async with supervised.Group() as group:
        group.start("hns", partial(hns.run, hns_config, ready=hns_ready))
        await hns_ready.wait()
        group.start("winruntime", serve_cri)
        group.start("pod-network", partial(pod_network.follow, client, row.name, configure))
        group.start("proxy", partial(proxies.run_on_windows, config, row, node_hns))
        await runtime_ready.wait()
        cri = CriClient(str(runtime.cri_socket))
        group.start("kubelet", partial(kubelet.run, settings, client, cri))


def runtime_config(
    paths: ClusterPaths, name: str, profile: Profile, drive: Path
) -> WinRuntimeConfig:
    """How the runtime of the node ``name`` is set up."""
    state, run = paths.node_state(name), paths.node_run(name)
    return WinRuntimeConfig(
        node_name=name,
        profile=profile,
        state_dir=state / "runtime",
        run_dir=run,
        host_drive=drive,
        netns_prefix=paths.netns(f"{name}-"),
        cri_socket=run / "cri.sock",
        cgroup_parent=f"{paths.cgroup()}/{name}",
        cni_conf_dir=state / "cni" / "net.d",
        cni_bin_dirs=(state / "cni" / "bin",),
        base_cache=WINDOWS_BASE_CACHE,
    )


def _hns_config(paths: ClusterPaths, name: str, profile: Profile) -> HnsConfig:
    return HnsConfig(
        socket_path=paths.node_run(name) / "hns.sock",
        state_dir=paths.node_state(name) / "hns",
        netns_prefix=paths.netns(f"{name}-"),
        profile=profile,
    )


def _facts(row: NodeConfig, profile: Profile, drive: Path) -> NodeFacts:
    status = os.statvfs(drive)
    return windows_facts(
        profile,
        row.name,
        cpus=os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        storage_bytes=status.f_blocks * status.f_frsize,
    )


def _conflist(
    config: ClusterConfig, row: NodeConfig, profile: Profile, cidr: IPv4Network, state: Path
) -> str:
    net = config.networking
    conf = cni.win_bridge_conf(
        profile,
        pod_cidr=cidr,
        node_ip=row.address,
        cluster_cidr=net.pod_subnet,
        service_cidr=net.service_subnet,
        node_network=net.node_subnet,
        dns_server=net.dns_service_ip,
        dns_domain=net.dns_domain,
        data_dir=state / "ipam",
    )
    return json.dumps(conf, indent=2) + "\n"
