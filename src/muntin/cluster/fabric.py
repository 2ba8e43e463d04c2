"""Makes and removes the network of a cluster: namespaces, wires, routes. The host's is left alone.

Every message goes to a socket that lives in the namespace it changes, so nothing here can reach
the links, routes, rules or sysctls of the host.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from muntin.cluster import paths
from muntin.cluster.config import ClusterConfig
from muntin.cluster.fabric_plan import End, Fabric, Wire, plan
from muntin.kit import netns
from muntin.kit.rtnetlink import (
    LOOPBACK,
    RouteSocket,
    address_add,
    bridge,
    link_set,
    route_replace,
    veth,
)


def create(config: ClusterConfig) -> None:
    """Make the whole fabric of ``config``.

    Raises:
        AlreadyExists: a namespace of this cluster is there; ``remove`` comes first.
        OSError: the kernel refused; what was made so far stays for ``remove``.
    """
    fabric = plan(config)
    names = {place: paths.ClusterPaths(config.name).netns(place) for place in fabric.places}
    with ExitStack() as stack:
        sockets: dict[str, RouteSocket] = {}
        fds: dict[str, int] = {}
        for place, name in names.items():
            netns.create(name)
            sockets[place] = stack.enter_context(RouteSocket(name))
            fds[place] = netns.open_fd(name)
            stack.callback(os.close, fds[place])
            sockets[place].request(link_set(LOOPBACK, up=True))
        for place, link in fabric.bridges:
            sockets[place].request(bridge(link))
        for wire in fabric.wires:
            _lay(wire, sockets, fds)
        _configure(fabric, names, sockets)


def namespaces(cluster: str) -> list[str]:
    """The namespaces of ``cluster`` and of its pods that are there now."""
    return netns.names(f"{paths.ClusterPaths(cluster).namespaces}/")


def remove(cluster: str) -> None:
    """Remove all namespaces of ``cluster``, those of its pods too. Absent ones are fine."""
    for name in namespaces(cluster):
        netns.delete(name)


def _lay(wire: Wire, sockets: dict[str, RouteSocket], fds: dict[str, int]) -> None:
    near, far = wire.near, wire.far
    near_socket, far_socket = sockets[near.place], sockets[far.place]
    near_socket.request(
        veth(
            near.link,
            far.link,
            peer_netns_fd=fds[far.place],
            mac=near.mac or None,
            peer_mac=far.mac or None,
        )
    )
    _plug(near, near_socket)
    _plug(far, far_socket)


def _plug(end: End, socket: RouteSocket) -> None:
    index = socket.index(end.link)
    master = socket.index(end.bridge) if end.bridge else None
    socket.request(link_set(index, up=True, master=master))
    if end.address is not None:
        socket.request(address_add(index, end.address))


def _configure(fabric: Fabric, names: dict[str, str], sockets: dict[str, RouteSocket]) -> None:
    for place, values in fabric.sysctls.items():
        netns.write_sysctls(names[place], values)
    for route in fabric.routes:
        sockets[route.place].request(route_replace(route.destination, route.gateway))
