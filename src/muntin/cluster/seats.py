"""The control-plane processes of a cluster: one, or several beside one another.

They all stand in the master's namespace. Each has an address of its own, where its API server
says that it is. In front of them is master's address, and the host's 127.0.0.1: sockets that they
all accept on, so a connection goes to one that lives.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from muntin.cluster.config import API_PORT, ClusterConfig
from muntin.cluster.fabric_plan import UPLINK
from muntin.cluster.paths import ClusterPaths
from muntin.kit import netns
from muntin.kit.rtnetlink import RouteSocket, address_add

FIRST = "control-plane"
# Addresses from the one after the router on; master's own is the tenth.
_OFFSET = 2


@dataclass(frozen=True, slots=True)
class Seat:
    """One process by the name of its component, and where its API server is to be found."""

    name: str
    address: IPv4Address


def seats(config: ClusterConfig) -> list[Seat]:
    """All control-plane processes of ``config``. Pure."""
    net = config.networking
    if config.control_planes == 1:
        return [Seat(FIRST, net.master_address)]
    return [
        Seat(FIRST if not number else f"{FIRST}-{number + 1}", net.node_subnet[_OFFSET + number])
        for number in range(config.control_planes)
    ]


def is_seat(component: str) -> bool:
    """Whether the component of that name is a control-plane process. Pure."""
    return component == FIRST or component.startswith(f"{FIRST}-")


def prepare(config: ClusterConfig) -> socket.socket | None:
    """Give master the addresses of several, and return the listener in front of them.

    Raises:
        OSError: the kernel refused.
    """
    if config.control_planes == 1:
        return None
    _add_addresses(config)
    return front_listener(config)


def _add_addresses(config: ClusterConfig) -> None:
    net, place = config.networking, ClusterPaths(config.name).netns("master")
    with RouteSocket(place) as route:
        index = route.index(UPLINK)
        for seat in seats(config):
            address = IPv4Interface(f"{seat.address}/{net.node_subnet.prefixlen}")
            route.request(address_add(index, address))


def front_listener(config: ClusterConfig) -> socket.socket | None:
    """The listener in front of several control planes; None for one.

    Raises:
        OSError: the kernel refused.
    """
    if config.control_planes == 1:
        return None
    net, place = config.networking, ClusterPaths(config.name).netns("master")
    listener = netns.socket_in(place, socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((str(net.master_address), API_PORT))
    listener.listen(1024)
    return listener
