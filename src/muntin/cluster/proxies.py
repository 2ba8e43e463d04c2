"""kube-proxy of each place, wired: nftables on Linux nodes and master, HNS on Windows nodes."""

from __future__ import annotations

from muntin.cluster import certificate_names, node_agent
from muntin.cluster.config import ClusterConfig, NodeConfig
from muntin.proxy import loop
from muntin.proxy.config import KernelspaceConfig, NftConfig, ProxyConfig
from muntin.proxy.hns import KernelspaceDataplane
from muntin.proxy.nft import NftDataplane
from muntin.seams.hns import HnsClient
from muntin.seams.kube import KubeClient


async def run_on_linux(config: ClusterConfig, place: str, client: KubeClient) -> None:
    """The proxy of a Linux node or of master, for the namespace that this process is in."""
    dataplane = NftDataplane(NftConfig(cluster_cidr=config.networking.pod_subnet))
    await loop.run(_config(config, place), client, dataplane)


async def run_on_windows(config: ClusterConfig, row: NodeConfig, hns: HnsClient) -> None:
    """The kernelspace proxy of a Windows node."""
    assert row.profile is not None
    dataplane = KernelspaceDataplane(KernelspaceConfig(profile=row.profile), hns)
    await loop.run(_config(config, row.name), client_of(config), dataplane)


def client_of(config: ClusterConfig) -> KubeClient:
    """The API as kube-proxy sees it from a node."""
    return node_agent.client(config, certificate_names.KUBE_PROXY)


def _config(config: ClusterConfig, place: str) -> ProxyConfig:
    return ProxyConfig(node_name=place)
