"""The network of a cluster as values: namespaces, wires and routes. Pure.

    nodes, master ──eth0── switch ──eth0── tor ──eth1──eth0── outside ──tap0── (user-mode relay)

Routes to pod subnets are not here: they follow the Node objects (``routes.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from muntin.cluster.config import ClusterConfig, Networking, Os

ANYWHERE = IPv4Network("0.0.0.0/0")
UPLINK = "eth0"
ROUTER_OUT = "eth1"  # the router's link to `outside`
BRIDGE = "br0"
RELAY_LINK = "tap0"
# What a user-mode relay hands out: its network, the address of our end and its gateway and DNS.
RELAY_ADDRESS = IPv4Interface("10.0.2.100/24")
RELAY_GATEWAY = IPv4Address("10.0.2.2")
RELAY_DNS = IPv4Address("10.0.2.3")
_HYPER_V_PREFIX, _LOCAL_PREFIX = "00:15:5d", "02:4d:6e"


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a wire: a link in a place. Without an address it is a port of ``bridge``."""

    place: str
    link: str
    address: IPv4Interface | None = None
    mac: str = ""
    bridge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A veth pair."""

    near: End
    far: End


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticRoute:
    """A route of one place."""

    place: str
    destination: IPv4Network
    gateway: IPv4Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """Everything to make, in this order: places, bridges, wires, sysctls, routes."""

    places: tuple[str, ...]
    bridges: tuple[tuple[str, str], ...]
    wires: tuple[Wire, ...]
    routes: tuple[StaticRoute, ...]
    sysctls: dict[str, dict[str, int]] = field(default_factory=dict)


def plan(config: ClusterConfig) -> Fabric:
    """The fabric of ``config``."""
    net = config.networking
    stations = [
        ("tor", net.tor_address, _LOCAL_PREFIX),
        ("master", net.master_address, _LOCAL_PREFIX),
        *(
            (node.name, node.address, _HYPER_V_PREFIX if node.os is Os.WINDOWS else _LOCAL_PREFIX)
            for node in config.nodes
        ),
    ]
    length = net.node_subnet.prefixlen
    wires = [
        Wire(
            near=End(
                place=place,
                link=UPLINK,
                address=IPv4Interface(f"{address}/{length}"),
                mac=_mac(prefix, address),
            ),
            far=End(place="switch", link=f"port{number}", bridge=BRIDGE),
        )
        for number, (place, address, prefix) in enumerate(stations, start=1)
    ]
    wires.append(_to_outside(net))
    routers = ("tor", "outside", "master", *(node.name for node in config.nodes))
    return Fabric(
        places=("switch", "tor", "outside", "master", *(node.name for node in config.nodes)),
        bridges=(("switch", BRIDGE),),
        wires=tuple(wires),
        routes=(
            *(
                StaticRoute(place=place, destination=ANYWHERE, gateway=net.tor_address)
                for place, _, _ in stations[1:]
            ),
            StaticRoute(place="tor", destination=ANYWHERE, gateway=net.outside_address),
            *(
                StaticRoute(place="outside", destination=subnet, gateway=net.outside_gateway)
                for subnet in (net.node_subnet, net.load_balancer_subnet)
            ),
        ),
        sysctls={
            **{place: dict(_ROUTER_SYSCTLS) for place in routers},
            "tor": {**_ROUTER_SYSCTLS, "net.ipv4.fib_multipath_hash_policy": 1},  # flow by flow
        },
    )


# A router forwards, and does not tell its neighbours of shorter ways (nodes must not learn them).
_ROUTER_SYSCTLS = {
    "net.ipv4.ip_forward": 1,
    "net.ipv4.conf.all.send_redirects": 0,
    "net.ipv4.conf.default.send_redirects": 0,
    f"net.ipv4.conf.{UPLINK}.send_redirects": 0,
    "net.ipv4.conf.all.rp_filter": 0,
    f"net.ipv4.conf.{UPLINK}.rp_filter": 0,
}


def _to_outside(net: Networking) -> Wire:
    length = net.outside_subnet.prefixlen
    return Wire(
        near=End(
            place="tor",
            link=ROUTER_OUT,
            address=IPv4Interface(f"{net.outside_gateway}/{length}"),
            mac=_mac(_LOCAL_PREFIX, net.outside_gateway),
        ),
        far=End(
            place="outside",
            link=UPLINK,
            address=IPv4Interface(f"{net.outside_address}/{length}"),
            mac=_mac(_LOCAL_PREFIX, net.outside_address),
        ),
    )


def _mac(prefix: str, address: IPv4Address) -> str:
    return f"{prefix}:{address.packed[1:].hex(':')}"
