"""Switches, ports and compartments as Linux has them: bridges, veth pairs, network namespaces.

Names are made from ids, so that after a crash what is there can be told from what should be.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from ipaddress import IPv4Interface

from muntin.hns.config import Switching
from muntin.hns.dataplane import EndpointOrder, NetworkOrder, Snapshot, Traffic
from muntin.kit import netns
from muntin.kit import rtnetlink as rt

_SWITCH, _PORT = "vsw", "vep"
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BRIDGE_NETFILTER = "net.bridge.bridge-nf-call-iptables"
# A pod that reuses an address tells its neighbours (arp_notify); ping needs no privilege there.
_POD_SYSCTLS: dict[str, str | int] = {
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv6.conf.default.disable_ipv6": 1,
    "net.ipv4.conf.default.arp_notify": 1,
    "net.ipv4.ping_group_range": "0 2147483647",
}


def switch_name(network_id: str) -> str:
    return _SWITCH + network_id.replace("-", "").lower()[:12]


def port_name(endpoint_id: str) -> str:
    return _PORT + endpoint_id.replace("-", "").lower()[:12]


class Links:
    """The links of one node, whose namespace is ``node`` (None: the process stands in it)."""

    def __init__(
        self, node: str | None, *, uplink: str, netns_prefix: str, switching: Switching
    ) -> None:
        self._node = node
        self._uplink = uplink
        self._prefix = netns_prefix
        self._routes = rt.RouteSocket(node)
        self._netfilter = switching is Switching.NETFILTER or (
            switching is Switching.AUTO and netns.read_sysctl(node, _BRIDGE_NETFILTER) is not None
        )

    def close(self) -> None:
        self._routes.close()

    def prepare(self) -> None:
        """Let the node forward, and its bridges show or hide local traffic as configured."""
        values: dict[str, str | int] = {
            "net.ipv4.ip_forward": 1,
            "net.ipv4.conf.all.send_redirects": 0,
            "net.ipv4.conf.default.send_redirects": 0,
            "net.ipv4.conf.all.rp_filter": 0,
            "net.ipv4.conf.default.rp_filter": 0,
        }
        if netns.read_sysctl(self._node, _BRIDGE_NETFILTER) is not None:
            values[_BRIDGE_NETFILTER] = int(self._netfilter)
        netns.write_sysctls(self._node, values)

    def uplink_address(self) -> IPv4Interface | None:
        link = self._routes.link(self._uplink)
        found = self._routes.addresses(link.index) if link else []
        return next((item for item in found if isinstance(item, IPv4Interface)), None)

    # -- networks ----------------------------------------------------------------------------

    def add_network(self, network: NetworkOrder) -> None:
        """A bridge; a NAT network's gateways are its addresses."""
        name = switch_name(network.id)
        if self._routes.link(name) is None:
            self._routes.request(rt.bridge(name, mac=network.mac))
        index = self._routes.index(name)
        if not self._netfilter:
            values = {
                f"net/ipv4/conf/{name}/proxy_arp_pvlan": 1,
                # Answers for others are otherwise held back for up to 0.8 s.
                f"net/ipv4/neigh/{name}/proxy_delay": 0,
            }
            netns.write_sysctls(self._node, values)
        if network.is_nat:
            lengths = [subnet.prefixlen for subnet in network.subnets]
            pairs = zip(network.gateways, lengths, strict=False)
            self._routes.request(
                *(rt.address_add(index, IPv4Interface((ip, length))) for ip, length in pairs)
            )

    def remove_network(self, network: NetworkOrder) -> None:
        self._routes.request(rt.link_delete(name=switch_name(network.id)))

    # -- namespaces --------------------------------------------------------------------------

    def netns_of(self, namespace_id: str) -> str:
        return self._prefix + namespace_id.lower()

    def add_namespace(self, namespace_id: str) -> None:
        name = self.netns_of(namespace_id)
        netns.create(name)
        netns.write_sysctls(name, _POD_SYSCTLS)
        with rt.RouteSocket(name) as inside:
            inside.request(rt.link_set(rt.LOOPBACK, up=True))

    def remove_namespace(self, namespace_id: str) -> None:
        netns.delete(self.netns_of(namespace_id))

    # -- ports -------------------------------------------------------------------------------

    def attach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        """Plug the endpoint in; in the host's compartment it is the bridge's own address."""
        switch = self._routes.index(switch_name(endpoint.network_id))
        if not namespace_id:
            self._routes.request(rt.address_add(switch, endpoint.address))
            return
        name = self.netns_of(namespace_id)
        port = port_name(endpoint.id)
        self._routes.request(rt.link_delete(name=port))
        inside_fd = netns.open_fd(name)
        try:
            with rt.RouteSocket(name) as inside:
                ifname = _free_name(inside)
                self._routes.request(
                    rt.veth(
                        port,
                        ifname,
                        peer_netns_fd=inside_fd,
                        master=switch,
                        peer_mac=endpoint.mac,
                    )
                )
                self._set_up(inside, ifname, endpoint)
        finally:
            os.close(inside_fd)
        flags = {"hairpin": True} if self._netfilter else {"isolated": True}
        self._routes.request(
            rt.bridge_port(self._routes.index(port), **flags),
            rt.neighbour_replace(switch, endpoint.address.ip, endpoint.mac),
        )

    def _set_up(self, inside: rt.RouteSocket, ifname: str, endpoint: EndpointOrder) -> None:
        index = inside.index(ifname)
        inside.request(rt.link_set(index, up=True), rt.address_add(index, endpoint.address))
        inside.request(
            *(
                rt.route_replace(destination, hop, link=index, onlink=True)
                for destination, hop in endpoint.routes
            )
        )

    def detach(self, endpoint: EndpointOrder, namespace_id: str) -> None:
        switch = self._routes.link(switch_name(endpoint.network_id))
        if namespace_id:
            self._routes.request(rt.link_delete(name=port_name(endpoint.id)))
            if switch:
                self._routes.request(rt.neighbour_delete(switch.index, endpoint.address.ip))
        elif switch:
            self._routes.request(rt.address_delete(switch.index, endpoint.address))

    def traffic(self, endpoint_id: str) -> Traffic:
        """Counters of the endpoint's port, turned round to the endpoint's point of view."""
        table = netns.run(self._node, _read_counters)
        row = table.get(port_name(endpoint_id))
        if row is None:
            return Traffic()
        return Traffic(
            bytes_sent=row[0],
            packets_sent=row[1],
            dropped_outgoing=row[3],
            bytes_received=row[8],
            packets_received=row[9],
            dropped_incoming=row[11],
        )

    # -- after a crash -----------------------------------------------------------------------

    def reconcile(self, wanted: Snapshot) -> None:
        """Remove what nobody wants, keep what is right, make what is missing."""
        fresh = self._reconcile_namespaces(wanted.namespaces)
        self._remove_unknown(wanted)
        for network in wanted.networks:
            self.add_network(network)
        there = {link.name: link for link in self._routes.links()}
        endpoints = {endpoint.id: endpoint for endpoint in wanted.endpoints}
        for endpoint_id, namespace_id in wanted.attachments:
            endpoint = endpoints[endpoint_id]
            port = there.get(port_name(endpoint_id))
            switch = there[switch_name(endpoint.network_id)]
            if port and port.master == switch.index and namespace_id not in fresh:
                continue
            self.attach(endpoint, namespace_id)

    def _reconcile_namespaces(self, wanted: Sequence[str]) -> set[str]:
        """The ids of namespaces that had to be made anew."""
        known = {self.netns_of(namespace_id) for namespace_id in wanted}
        for name in netns.names(self._prefix):
            # Another node's name may begin with this one's: only a GUID after it is a pod of ours.
            if name not in known and _GUID.fullmatch(name.removeprefix(self._prefix)):
                netns.delete(name)
        fresh = {item for item in wanted if not netns.exists(self.netns_of(item))}
        for namespace_id in fresh:
            self.add_namespace(namespace_id)
        return fresh

    def _remove_unknown(self, wanted: Snapshot) -> None:
        known = {switch_name(network.id) for network in wanted.networks}
        known |= {port_name(endpoint_id) for endpoint_id, where in wanted.attachments if where}
        for link in self._routes.links():
            if link.name.startswith((_SWITCH, _PORT)) and link.name not in known:
                self._routes.request(rt.link_delete(link.index))


def _free_name(inside: rt.RouteSocket) -> str:
    used = {link.name for link in inside.links()}
    for number in range(len(used) + 1):
        if f"eth{number}" not in used:
            return f"eth{number}"
    raise OSError(errno.EEXIST, "no interface name is free")


def _read_counters() -> dict[str, list[int]]:
    with open("/proc/thread-self/net/dev") as file:  # noqa: PTH123 - plain read of a proc file
        rows = [line.split(":", 1) for line in file if ":" in line]
    return {name.strip(): [int(value) for value in rest.split()] for name, rest in rows}
