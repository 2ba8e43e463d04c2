"""The way out: pods leave under their node's address, and a user-mode relay behind ``outside``
reaches what the host can reach.

The relay (slirp4netns) runs in the host's namespace as an ordinary client of its network; nothing
of the host is changed, and the host's loopback stays out of reach.
"""

from __future__ import annotations

from muntin.cluster.config import ClusterConfig, Networking, Os
from muntin.cluster.fabric_plan import RELAY_LINK
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit import netns, nft


def prepare(config: ClusterConfig) -> None:
    """Put the rules in place: on Linux nodes (Windows' are HNS policies) and in ``outside``."""
    paths = ClusterPaths(config.name)
    for node in config.nodes:
        if node.os is Os.LINUX:
            nft.run(pod_rules(config.networking), paths.netns(node.name))
    if config.networking.egress:
        nft.run(_rules(f'oifname "{RELAY_LINK}" masquerade'), paths.netns("outside"))


def pod_rules(net: Networking) -> str:
    """What a Linux node does with its pods' packets that leave the cluster. Pure.

    The exceptions are those of the OutBoundNAT policy of Windows nodes.
    """
    inside = f"{net.pod_subnet}, {net.service_subnet}, {net.node_subnet}"
    return _rules(f"ip saddr {net.pod_subnet} ip daddr != {{ {inside} }} masquerade")


def _rules(rule: str) -> str:
    chain = f"type nat hook postrouting priority srcnat;\n  {rule}"
    return f"table ip egress {{\n chain post {{\n  {chain}\n }}\n}}\n"


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
        tied=True,
    )
