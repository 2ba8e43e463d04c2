"""What kube-proxy of one node is told."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from muntin.model.windows import Profile

HEALTHZ_PORT = 10256


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyConfig:
    """``node_name`` must be the Node's: it tells local endpoints from remote ones.

    ``healthz_address`` None serves no healthz. ``min_sync_s`` is how long changes are gathered;
    every ``sync_period_s`` the data plane is asked whether it still stands.
    """

    node_name: str
    healthz_address: str | None = "0.0.0.0"
    healthz_port: int = HEALTHZ_PORT
    min_sync_s: float = 0.02
    retry_s: float = 1.0
    sync_period_s: float = 30.0
    emits_events: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NftConfig:
    """A Linux node, or master. ``netns`` None is the process' own namespace.

    Clients outside ``cluster_cidr`` reach service IPs under the node's address.
    """

    cluster_cidr: IPv4Network
    netns: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelspaceConfig:
    """A Windows node. ``source_vip`` None leaves the choice (the node's address) to HNS."""

    profile: Profile
    network_name: str = "cbr0"
    source_vip: IPv4Address | None = None
    network_poll_s: float = 0.2
