"""The way out: pods leave under their node's address, and a user-mode relay behind ``outside``
reaches what the host can reach.

The relay (slirp4netns) runs in the host's namespace as an ordinary client of its network; nothing
of the host is changed. So ``outside`` refuses what only the host may reach: its loopback, its own
addresses as of ``up``, and link-local addresses, where clouds serve credentials. The Cluster file
can deny more addresses, or allow some of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, collapse_addresses
from pathlib import Path

from muntin.cluster.config import ClusterConfig, Networking, Os
from muntin.cluster.fabric_plan import RELAY_DNS, RELAY_GATEWAY, RELAY_LINK, ROUTER_OUT, UPLINK
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit import netns, nft
from muntin.kit.rtnetlink import RouteSocket

_RESOLV_CONF = Path("/etc/resolv.conf")
NEVER_WORLD = tuple(
    IPv4Network(text)
    for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", f"{RELAY_GATEWAY}/32")
)
"""This host, loopback, link-local addresses, and the relay's address for the host."""


POD_LINKS = {"net.ipv4.conf.default.rp_filter": 1}
"""For links added later, which are those of pods: drop packets with a spoofed source address."""


def prepare(config: ClusterConfig) -> None:
    """Put the rules in place: on Linux nodes (Windows' are HNS policies), tor and ``outside``."""
    paths = ClusterPaths(config.name)
    for node in config.nodes:
        if node.os is Os.LINUX:
            nft.run(pod_rules(config.networking), paths.netns(node.name))
            netns.write_sysctls(paths.netns(node.name), POD_LINKS)
        if config.networking.egress:
            _lead_resolver(paths.netns(node.name))
    nft.run(edge_rules(config.networking), paths.netns("tor"))
    if config.networking.egress:
        nft.run(relay_rules(config.networking, host_addresses()), paths.netns("outside"))


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


def relay_rules(net: Networking, host: Iterable[IPv4Address]) -> str:
    """How ``outside`` filters packets to the relay; ``host``: the host's addresses. Pure.

    The first match decides: reject the cluster's own ranges, accept DNS, accept what the Cluster
    file allows, reject what the file denies and what is refused by default.
    """
    own = (IPv4Network(address) for address in host)
    allowed, refused = net.egress_allow, (*NEVER_WORLD, *own, *net.egress_deny)
    rules = [
        _to([net.pod_subnet, net.service_subnet], "reject"),
        f"ip daddr {RELAY_DNS} meta l4proto {{ tcp, udp }} th dport 53 accept",
        *([_to(allowed, "accept")] if allowed else []),
        _to(refused, "reject"),
    ]
    lines = "".join(f'\n  oifname "{RELAY_LINK}" {rule}' for rule in rules)
    chains = (
        f"chain {name} {{ type filter hook {name} priority filter;{lines}\n }}\n "
        for name in ("output", "forward")
    )
    return _table("".join(chains) + _post(f'oifname "{RELAY_LINK}" masquerade'))


def host_addresses() -> list[IPv4Address]:
    """The IPv4 addresses of this process's network namespace, which must be the host's."""
    with RouteSocket() as routes:
        return [a.ip for a in routes.addresses() if isinstance(a, IPv4Interface)]


def _to(destinations: Iterable[IPv4Network], verdict: str) -> str:
    """A rule for packets to these networks, merged because nftables refuses overlaps."""
    rows = ", ".join(str(row) for row in collapse_addresses(destinations))
    return f"ip daddr {{ {rows} }} {verdict}"


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
