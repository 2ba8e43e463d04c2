"""The way out: pods leave under their node's address, and a user-mode relay behind ``outside``
reaches what the host can reach.

The relay (slirp4netns) runs in the host's namespace as an ordinary client of its network; nothing
of the host is changed, and the host's loopback stays out of reach.
"""

from __future__ import annotations

from pathlib import Path

from muntin.cluster.config import ClusterConfig, Networking, Os
from muntin.cluster.fabric_plan import RELAY_DNS, RELAY_LINK, ROUTER_OUT, UPLINK
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit import netns, nft

_RESOLV_CONF = Path("/etc/resolv.conf")


def prepare(config: ClusterConfig) -> None:
    """Put the rules in place: on Linux nodes (Windows' are HNS policies), tor and ``outside``."""
    paths = ClusterPaths(config.name)
    for node in config.nodes:
        if node.os is Os.LINUX:
            nft.run(pod_rules(config.networking), paths.netns(node.name))
        if config.networking.egress:
            _lead_resolver(paths.netns(node.name))
    nft.run(edge_rules(config.networking), paths.netns("tor"))
    if config.networking.egress:
        nft.run(relay_rules(config.networking), paths.netns("outside"))


def pod_rules(net: Networking) -> str:
    """What a Linux node does with its pods' packets that leave the cluster. Pure.

    The exceptions are those of the OutBoundNAT policy of Windows nodes.
    """
    inside = f"{net.pod_subnet}, {net.service_subnet}, {net.node_subnet}"
    return _table(_post(f"ip saddr {net.pod_subnet} ip daddr != {{ {inside} }} masquerade"))


def edge_rules(net: Networking) -> str:
    """The router loses what goes out to a pod or a service address: none is there. Pure.

    Windows nodes send what they mean for a service here, and it must neither be answered nor
    reach a network of the host that has the same addresses.
    """
    rule = f'oifname "{ROUTER_OUT}" ip daddr {{ {net.pod_subnet}, {net.service_subnet} }} drop'
    return _table(f"chain edge {{ type filter hook forward priority filter;\n  {rule}\n }}")


def relay_rules(net: Networking) -> str:
    """``outside`` hands the relay only what is for the world. Pure."""
    inside = f"{net.pod_subnet}, {net.service_subnet}"
    refuse = f'oifname "{RELAY_LINK}" ip daddr {{ {inside} }} reject'
    return _table(
        f"chain out {{ type filter hook output priority filter;\n  {refuse}\n }}\n "
        + _post(f'oifname "{RELAY_LINK}" masquerade')
    )


def resolver_rules(resolv_conf: str) -> str:
    """Lead a resolver on the host's loopback to the relay's; empty where there is none. Pure.

    Image pulls in a node's namespace read the host's resolv.conf, and the host's loopback, where
    systemd-resolved for one listens, is not the node's.
    """
    words = (line.split() for line in resolv_conf.splitlines())
    servers = [row[1] for row in words if row[:1] == ["nameserver"] and len(row) > 1]
    local = [server for server in servers if server.startswith("127.")]
    if not local:
        return ""
    lead = (
        f"ip daddr {{ {', '.join(local)} }} meta l4proto {{ tcp, udp }} th dport 53 "
        f"dnat to {RELAY_DNS}"
    )
    return (
        "table ip resolver {\n"
        f" chain out {{ type nat hook output priority -100;\n  {lead}\n }}\n "
        + _post(f'ip saddr 127.0.0.0/8 oifname "{UPLINK}" masquerade')
        + "\n}\n"
    )


def _lead_resolver(namespace: str) -> None:
    rules = resolver_rules(_RESOLV_CONF.read_text() if _RESOLV_CONF.exists() else "")
    if rules:
        nft.run(rules, namespace)
        netns.write_sysctls(namespace, {f"net.ipv4.conf.{UPLINK}.route_localnet": 1})


def _post(rule: str) -> str:
    return f"chain post {{ type nat hook postrouting priority srcnat;\n  {rule}\n }}"


def _table(chains: str) -> str:
    return f"table ip egress {{\n {chains}\n}}\n"


def component(paths: ClusterPaths) -> Component:
    """The relay process."""
    return Component(
        name="egress",
        argv=(
            "slirp4netns",
            "--configure",
            "--disable-host-loopback",
            "--mtu=1500",
            "--netns-type=path",
            str(netns.path_of(paths.netns("outside"))),
            RELAY_LINK,
        ),
    )
