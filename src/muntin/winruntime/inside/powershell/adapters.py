"""The container's network adapters and addresses, asked of the kernel by netlink.

As on Windows every adapter has a link-local IPv6 address: where the kernel gives none (IPv6 is
off), the one that its MAC address stands for is shown.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from typing import NamedTuple

RTM_GETADDR, RTM_NEWADDR, RTM_GETLINK, RTM_NEWLINK, NLMSG_DONE = 22, 20, 18, 16, 3
RTM_GETROUTE, RTM_NEWROUTE = 26, 24
NLM_F_DUMP = 0x301
IFF_UP, IFF_LOOPBACK, IFF_RUNNING = 0x1, 0x8, 0x40
DESCRIPTION = "Hyper-V Virtual Ethernet Container Adapter"


class Adapter(NamedTuple):
    """One interface."""

    if_index: int
    unix_name: str
    name: str
    mac: str
    up: bool
    loopback: bool
    mtu: int


class Address(NamedTuple):
    """One address of an interface."""

    if_index: int
    text: str
    family: int
    prefix_length: int


class Route(NamedTuple):
    """One route of the main table."""

    if_index: int
    destination: str
    gateway: str
    metric: int
    family: int


def _dump(kind: int, family: int, size: int) -> list[tuple[int, bytes]]:
    """The (type, body) messages that answer a dump request."""
    found: list[tuple[int, bytes]] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        body = struct.pack("=B", family).ljust(size, b"\0")
        sock.send(struct.pack("=IHHII", 16 + size, kind, NLM_F_DUMP, 1, 0) + body)
        while True:
            data = sock.recv(1 << 16)
            while len(data) >= 16:
                length, answer = struct.unpack_from("=IH", data)
                if answer == NLMSG_DONE or length < 16:
                    return found
                found.append((answer, data[16:length]))
                data = data[(length + 3) & ~3 :]


def _attributes(data: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def adapters() -> list[Adapter]:
    """All interfaces, the loopback one last; Windows' names by order."""
    found: list[Adapter] = []
    number = 0
    for kind, body in _dump(RTM_GETLINK, socket.AF_UNSPEC, 16):
        if kind != RTM_NEWLINK:
            continue
        index, flags = struct.unpack_from("=iI", body, 4)
        attributes = _attributes(body[16:])
        unix_name = attributes.get(3, b"").rstrip(b"\0").decode()
        mac = "-".join(f"{byte:02X}" for byte in attributes.get(1, b""))
        mtu = struct.unpack("=I", attributes.get(4, b"\0\0\0\0"))[0]
        loopback = bool(flags & IFF_LOOPBACK)
        if loopback:
            name = "Loopback Pseudo-Interface 1"
        elif not flags & IFF_UP:
            continue
        else:
            number += 1
            name = f"vEthernet (Ethernet{f' {number}' if number > 1 else ''})"
        up = bool(flags & IFF_UP)
        found.append(Adapter(index, unix_name, name, mac, up, loopback, mtu))
    return sorted(found, key=lambda one: (one.loopback, one.if_index))


def addresses() -> list[Address]:
    """All addresses, by interface: link-local IPv6, other IPv6, then IPv4."""
    found: list[Address] = []
    for kind, body in _dump(RTM_GETADDR, socket.AF_UNSPEC, 8):
        if kind != RTM_NEWADDR:
            continue
        family, length, _flags, _scope, index = struct.unpack_from("=BBBBI", body)
        attributes = _attributes(body[8:])
        raw = attributes.get(2) or attributes.get(1)
        if raw is None or family not in (socket.AF_INET, socket.AF_INET6):
            continue
        text = socket.inet_ntop(family, raw)
        if text.startswith("fe80:"):
            text += f"%{index}"
        found.append(Address(index, text, family, length))
    for adapter in adapters():
        linked = any(a.if_index == adapter.if_index and a.text.startswith("fe80:") for a in found)
        if not adapter.loopback and adapter.mac and not linked:
            found.append(Address(adapter.if_index, _from_mac(adapter), socket.AF_INET6, 64))
    return sorted(found, key=_order)


def _order(address: Address) -> tuple[int, int]:
    if address.family == socket.AF_INET:
        return address.if_index, 2
    return address.if_index, 0 if address.text.startswith("fe80:") else 1


def _from_mac(adapter: Adapter) -> str:
    mac = bytes.fromhex(adapter.mac.replace("-", ""))
    tail = bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:]
    address = socket.inet_ntop(socket.AF_INET6, b"\xfe\x80" + bytes(6) + tail)
    return f"{address}%{adapter.if_index}"


def routes() -> list[Route]:
    """The main table."""
    found: list[Route] = []
    for kind, body in _dump(RTM_GETROUTE, socket.AF_UNSPEC, 12):
        if kind != RTM_NEWROUTE:
            continue
        family, length, _src, _tos, table = struct.unpack_from("=BBBBB", body)
        if table != 254 or family not in (socket.AF_INET, socket.AF_INET6):
            continue
        attributes = _attributes(body[12:])
        empty = bytes(4 if family == socket.AF_INET else 16)
        destination = socket.inet_ntop(family, attributes.get(1, empty))
        gateway = socket.inet_ntop(family, attributes.get(5, empty))
        index = struct.unpack("=i", attributes.get(4, b"\0\0\0\0"))[0]
        metric = struct.unpack("=I", attributes.get(6, b"\0\0\0\0"))[0]
        found.append(Route(index, f"{destination}/{length}", gateway, metric, family))
    return found


def gateways(routes: Iterable[Route], if_index: int) -> list[str]:
    """The default gateways of an adapter."""
    return [
        route.gateway
        for route in routes
        if route.if_index == if_index and route.destination in ("0.0.0.0/0", "::/0")
    ]


def subnet_mask(prefix_length: int) -> str:
    """255.255.255.0 for 24."""
    return socket.inet_ntoa(struct.pack("!I", (1 << 32) - (1 << (32 - prefix_length))))


def guid(if_index: int) -> str:
    """The name of an adapter in the registry and, under Wine, in GetAdaptersAddresses.

    Source: wine 8.0 dlls/nsiproxy.sys/ndis.c (add_entry).
    """
    return f"{{{if_index:08X}-0000-0000-0000-{b'NetDev'.hex().upper()}}}"
