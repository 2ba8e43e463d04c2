"""Links, addresses, routes and neighbours of one network namespace, by rtnetlink alone.

The functions build messages; :class:`RouteSocket` sends many of them in one datagram and answers
questions. Interface indexes may be chosen by the caller (``index=``), which saves looking them up.
Source: rtnetlink(7), linux/if_link.h, linux/rtnetlink.h.
"""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_network,
)

from muntin.kit.netlink import (
    NETLINK_ROUTE,
    NLM_F_APPEND,
    NLM_F_CREATE,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    Message,
    NetlinkSocket,
    attr,
    attr_nested,
    attr_text,
    attr_u32,
    attributes,
)

Address = IPv4Address | IPv6Address
Interface = IPv4Interface | IPv6Interface
Network = IPv4Network | IPv6Network

_NEWLINK, _DELLINK, _GETLINK, _SETLINK = 16, 17, 18, 19
_NEWADDR, _DELADDR, _GETADDR = 20, 21, 22
_NEWROUTE, _DELROUTE, _GETROUTE = 24, 25, 26
_NEWNEIGH, _DELNEIGH, _GETNEIGH = 28, 29, 30
_NEW = NLM_F_CREATE | NLM_F_EXCL
_IFF_UP = 1
LOOPBACK = 1  # every namespace's `lo`
ONLINK = 4
_NUD_PERMANENT = 0x80
_GONE = frozenset({errno.ENODEV, errno.ESRCH, errno.EADDRNOTAVAIL, errno.ENOENT})


@dataclass(frozen=True, slots=True)
class Link:
    """One interface; ``master`` is 0 without one, ``mac`` is lower case with colons."""

    index: int
    name: str
    kind: str
    mac: str
    mtu_bytes: int
    master: int
    is_up: bool


@dataclass(frozen=True, slots=True)
class Route:
    """One unicast route of the main table."""

    destination: Network
    gateway: Address | None
    link: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One entry of the ARP or neighbour table."""

    address: Address
    mac: str
    link: int


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", "").replace("-", ""))


def _link_body(index: int, *, up: bool | None, attributes_: bytes, family: int = 0) -> bytes:
    flags, change = (_IFF_UP if up else 0), (_IFF_UP if up is not None else 0)
    return struct.pack("=BxHiII", family, 0, index, flags, change) + attributes_


def _common(mac: str | None, mtu_bytes: int | None, master: int | None) -> bytes:
    out = b""
    if mac:
        out += attr(1, _mac(mac))
    if mtu_bytes:
        out += attr_u32(4, mtu_bytes)
    if master is not None:
        out += attr_u32(10, master)
    return out


def link_add(
    name: str,
    kind: str,
    data: bytes = b"",
    *,
    index: int = 0,
    up: bool = True,
    mac: str | None = None,
    mtu_bytes: int | None = None,
    master: int | None = None,
) -> Message:
    """A new link of ``kind``; ``data`` holds the attributes that only this kind has."""
    info = attr_text(1, kind) + (attr_nested(2, data) if data else b"")
    extra = attr_text(3, name) + _common(mac, mtu_bytes, master) + attr_nested(18, info)
    body = _link_body(index, up=up or None, attributes_=extra)
    return Message(_NEWLINK, _NEW, body, f"add {kind} {name}")


def bridge(name: str, *, mac: str | None = None, mtu_bytes: int | None = None) -> Message:
    """A bridge without spanning tree and without multicast snooping, up."""
    data = attr_u32(5, 0) + attr(23, b"\0")
    return link_add(name, "bridge", data, mac=mac, mtu_bytes=mtu_bytes)


def vxlan(
    name: str,
    *,
    vni: int,
    local: Address,
    link: int,
    port: int = 4789,
    mtu_bytes: int | None = None,
) -> Message:
    """A VXLAN link without learning, up; peers are entered with :func:`fdb_append`."""
    source = attr(4 if local.version == 4 else 17, local.packed)
    data = (
        attr_u32(1, vni)
        + attr_u32(3, link)
        + source
        + attr(7, b"\0")
        + attr(15, struct.pack(">H", port))
    )
    return link_add(name, "vxlan", data, mtu_bytes=mtu_bytes)


def veth(
    name: str,
    peer: str,
    *,
    peer_netns_fd: int | None = None,
    master: int | None = None,
    up: bool = True,
    mac: str | None = None,
    peer_mac: str | None = None,
    peer_index: int = 0,
    mtu_bytes: int | None = None,
) -> Message:
    """A veth pair whose ``peer`` is born, still down, in the namespace of ``peer_netns_fd``."""
    # IFF_UP in the peer's part is refused with ENOTCONN, so the caller raises it afterwards.
    far = _link_body(peer_index, up=None, attributes_=attr_text(3, peer))
    far += _common(peer_mac, mtu_bytes, None)
    if peer_netns_fd is not None:
        far += attr_u32(28, peer_netns_fd)
    return link_add(
        name, "veth", attr_nested(1, far), up=up, mac=mac, mtu_bytes=mtu_bytes, master=master
    )


def link_set(
    index: int,
    *,
    up: bool | None = None,
    name: str | None = None,
    mac: str | None = None,
    mtu_bytes: int | None = None,
    master: int | None = None,
    netns_fd: int | None = None,
) -> Message:
    """Change one link; ``master=0`` frees it, ``netns_fd`` moves it away."""
    extra = attr_text(3, name) if name else b""
    extra += _common(mac, mtu_bytes, master)
    if netns_fd is not None:
        extra += attr_u32(28, netns_fd)
    return Message(_NEWLINK, 0, _link_body(index, up=up, attributes_=extra), f"set link {index}")


def link_delete(index: int = 0, name: str = "") -> Message:
    """Remove a link by index or by name; one that is gone already is fine."""
    extra = attr_text(3, name) if name else b""
    body = _link_body(index, up=None, attributes_=extra)
    return Message(_DELLINK, 0, body, f"delete link {name or index}", _GONE)


def bridge_port(
    index: int,
    *,
    hairpin: bool | None = None,
    isolated: bool | None = None,
    learning: bool | None = None,
) -> Message:
    """Set the flags of a bridge port that are not None."""
    flags = b""
    for kind, value in ((4, hairpin), (8, learning), (33, isolated)):
        if value is not None:
            flags += attr(kind, bytes([value]))
    body = _link_body(index, up=None, attributes_=attr_nested(12, flags), family=socket.AF_BRIDGE)
    return Message(_SETLINK, 0, body, f"set bridge port {index}")


def _address(kind: int, flags: int, link: int, interface: Interface, what: str) -> Message:
    family = socket.AF_INET if interface.version == 4 else socket.AF_INET6
    packed = interface.ip.packed
    body = struct.pack("=BBBBI", family, interface.network.prefixlen, 0, 0, link)
    body += attr(2, packed) + attr(1, packed)
    return Message(kind, flags, body, f"{what} address {interface} on link {link}")


def address_add(link: int, interface: Interface) -> Message:
    """Give ``link`` an address; one that it has already is fine."""
    return _address(_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, link, interface, "add")


def address_delete(link: int, interface: Interface) -> Message:
    """Take an address away; one that is gone already is fine."""
    message = _address(_DELADDR, 0, link, interface, "delete")
    return Message(message.type, 0, message.body, message.what, _GONE)


def _route_body(
    destination: Network,
    gateway: Address | Sequence[Address] | None,
    link: int | None,
    flags: int,
) -> bytes:
    family = socket.AF_INET if destination.version == 4 else socket.AF_INET6
    scope = 0 if gateway or family == socket.AF_INET6 else 253
    body = struct.pack("=BBBBBBBBI", family, destination.prefixlen, 0, 0, 254, 4, scope, 1, flags)
    if destination.prefixlen:
        body += attr(1, destination.network_address.packed)
    if isinstance(gateway, Sequence):
        # Each is a struct rtnexthop (length, flags, weight - 1, link) with its gateway.
        hops = [attr(5, address.packed) for address in gateway]
        body += attr(9, b"".join(struct.pack("=HBBi", 8 + len(hop), 0, 0, 0) + hop for hop in hops))
    elif gateway:
        body += attr(5, gateway.packed)
    if link:
        body += attr_u32(4, link)
    return body


def route_replace(
    destination: Network,
    gateway: Address | Sequence[Address] | None = None,
    *,
    link: int | None = None,
    onlink: bool = False,
) -> Message:
    """A unicast route in the main table, in place of any other to the same destination.

    Of several gateways each flow (or pair of addresses) takes one.
    """
    body = _route_body(destination, gateway, link, ONLINK if onlink else 0)
    what = f"route {destination} via {gateway or f'link {link}'}"
    return Message(_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, body, what)


def route_delete(destination: Network, gateway: Address | None = None) -> Message:
    """Remove a route; one that is gone already is fine."""
    family = socket.AF_INET if destination.version == 4 else socket.AF_INET6
    # Scope "nowhere" and protocol 0 match any route to this destination.
    body = struct.pack("=BBBBBBBBI", family, destination.prefixlen, 0, 0, 254, 0, 255, 0, 0)
    if destination.prefixlen:
        body += attr(1, destination.network_address.packed)
    if gateway:
        body += attr(5, gateway.packed)
    return Message(_DELROUTE, 0, body, f"delete route {destination}", _GONE)


def neighbour_replace(link: int, address: Address, mac: str) -> Message:
    """A permanent ARP or neighbour entry."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    body = struct.pack("=BxxxiHBB", family, link, _NUD_PERMANENT, 0, 0)
    body += attr(1, address.packed) + attr(2, _mac(mac))
    flags = NLM_F_CREATE | NLM_F_REPLACE
    return Message(_NEWNEIGH, flags, body, f"neighbour {address} on link {link}")


def neighbour_delete(link: int, address: Address) -> Message:
    """Remove a neighbour entry; one that is gone already is fine."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    body = struct.pack("=BxxxiHBB", family, link, 0, 0, 0) + attr(1, address.packed)
    return Message(_DELNEIGH, 0, body, f"delete neighbour {address} on link {link}", _GONE)


def fdb_append(link: int, mac: str, remote: Address) -> Message:
    """Tell a VXLAN link behind which address ``mac`` is."""
    body = struct.pack("=BxxxiHBB", socket.AF_BRIDGE, link, _NUD_PERMANENT, 2, 0)
    body += attr(2, _mac(mac)) + attr(1, remote.packed)
    return Message(_NEWNEIGH, NLM_F_CREATE | NLM_F_APPEND, body, f"fdb {mac} behind {remote}")


def fdb_delete(link: int, mac: str) -> Message:
    """Forget ``mac`` on a VXLAN link; one that is gone already is fine."""
    body = struct.pack("=BxxxiHBB", socket.AF_BRIDGE, link, 0, 2, 0) + attr(2, _mac(mac))
    return Message(_DELNEIGH, 0, body, f"delete fdb {mac}", _GONE)


class RouteSocket(NetlinkSocket):
    """rtnetlink of one namespace: ``request`` changes it, the rest ask."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(NETLINK_ROUTE, name)

    def __enter__(self) -> RouteSocket:
        return self

    def links(self) -> list[Link]:
        """All interfaces."""
        body = _link_body(0, up=None, attributes_=b"")
        return [_parse_link(item) for item in self.dump(Message(_GETLINK, 0, body, "list links"))]

    def link(self, name: str) -> Link | None:
        """The interface called ``name``, if there is one."""
        body = _link_body(0, up=None, attributes_=attr_text(3, name))
        try:
            return _parse_link(self.ask(Message(_GETLINK, 0, body, f"get link {name}")))
        except OSError as err:
            if err.errno != errno.ENODEV:
                raise
            return None

    def index(self, name: str) -> int:
        """The index of ``name``.

        Raises:
            OSError: ENODEV, there is none.
        """
        link = self.link(name)
        if link is None:
            raise OSError(errno.ENODEV, f"no link {name}")
        return link.index

    def addresses(self, link: int = 0) -> list[Interface]:
        """The addresses of ``link``, or of all."""
        found: list[Interface] = []
        for body in self.dump(Message(_GETADDR, 0, struct.pack("=BBBBI", 0, 0, 0, 0, 0), "list")):
            family, prefix, _, _, index = struct.unpack_from("=BBBBI", body)
            values = attributes(body, 8)
            packed = values.get(2) or values.get(1)
            if packed is None or (link and index != link):
                continue
            address = ip_address(packed)
            kind = IPv4Interface if family == socket.AF_INET else IPv6Interface
            found.append(kind(f"{address}/{prefix}"))
        return found

    def routes(self) -> list[Route]:
        """Unicast routes of the main table."""
        found = []
        for body in self.dump(Message(_GETROUTE, 0, struct.pack("=BBBBBBBBI", *[0] * 9), "list")):
            family, prefix, _, _, table, _, _, kind, _ = struct.unpack_from("=BBBBBBBBI", body)
            if table != 254 or kind != 1 or family not in (socket.AF_INET, socket.AF_INET6):
                continue
            values = attributes(body, 12)
            zero = bytes(4 if family == socket.AF_INET else 16)
            gateway = ip_address(values[5]) if 5 in values else None
            link = struct.unpack("=I", values[4])[0] if 4 in values else 0
            destination = ip_network((values.get(1, zero), prefix))
            found.append(Route(destination, gateway, link))
        return found

    def neighbours(self) -> list[Neighbour]:
        """ARP and neighbour entries that have a hardware address."""
        found = []
        for body in self.dump(Message(_GETNEIGH, 0, struct.pack("=BxxxiHBB", *[0] * 5), "list")):
            link = struct.unpack_from("=BxxxiHBB", body)[1]
            values = attributes(body, 12)
            if 1 in values and 2 in values:
                found.append(Neighbour(ip_address(values[1]), values[2].hex(":"), link))
        return found


def _parse_link(body: bytes) -> Link:
    _, _, index, flags, _ = struct.unpack_from("=BxHiII", body)
    values = attributes(body, 16)
    info = attributes(values.get(18, b""))
    return Link(
        index=index,
        name=values[3].rstrip(b"\0").decode(),
        kind=info.get(1, b"").rstrip(b"\0").decode(),
        mac=values.get(1, b"").hex(":"),
        mtu_bytes=struct.unpack("=I", values[4])[0] if 4 in values else 0,
        master=struct.unpack("=I", values[10])[0] if 10 in values else 0,
        is_up=bool(flags & _IFF_UP),
    )
