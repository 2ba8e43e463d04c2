"""The way out: a user-mode relay behind ``outside`` that reaches what the host can reach.

The relay (slirp4netns) runs in the host's namespace as an ordinary client of its network; nothing
of the host is changed, and the host's loopback stays out of reach.
"""

from __future__ import annotations

from muntin.cluster.fabric_plan import RELAY_LINK
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit import netns, nft

_MASQUERADE = f"""
table ip egress {{
 chain post {{
  type nat hook postrouting priority srcnat;
  oifname "{RELAY_LINK}" masquerade
 }}
}}
"""


def prepare(paths: ClusterPaths) -> None:
    """Let ``outside`` stand in for everybody who goes out through the relay."""
    nft.run(_MASQUERADE, paths.netns("outside"))


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
