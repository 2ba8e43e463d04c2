"""Forget tracked connections by what they are about, through ctnetlink.

UDP flows stick to a backend that is gone until their entry is deleted; kube-proxy therefore does.
Source: linux/netfilter/nfnetlink_conntrack.h.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address

from muntin.kit.netlink import (
    NETLINK_NETFILTER,
    Message,
    NetlinkSocket,
    attr_nested,
    attributes,
)

_SUBSYSTEM = 1
_GET, _DELETE = 1, 2
_TUPLE_ORIG, _TUPLE_REPLY = 1, 2


@dataclass(frozen=True, slots=True)
class Flow:
    """One tracked connection: as it was sent, and who answers it."""

    protocol: int
    source: IPv4Address
    destination: IPv4Address
    destination_port: int
    reply_source: IPv4Address
    reply_port: int


def forget(name: str | None, matches: Callable[[Flow], bool]) -> int:
    """Delete the IPv4 flows of namespace ``name`` for which ``matches``; return how many."""
    head = struct.pack("=BBH", 2, 0, 0)
    with NetlinkSocket(NETLINK_NETFILTER, name) as netlink:
        doomed = []
        for body in netlink.dump(Message(_SUBSYSTEM << 8 | _GET, 0, head, "list flows")):
            values = attributes(body, 4)
            flow = _flow(values)
            if flow and matches(flow):
                which = head + attr_nested(_TUPLE_ORIG, values[_TUPLE_ORIG])
                kind = _SUBSYSTEM << 8 | _DELETE
                gone = frozenset({errno.ENOENT})
                doomed.append(Message(kind, 0, which, "delete flow", gone))
        netlink.request(*doomed)
        return len(doomed)


def _flow(values: dict[int, bytes]) -> Flow | None:
    if _TUPLE_ORIG not in values or _TUPLE_REPLY not in values:
        return None
    source, destination, protocol, _, port = _tuple(values[_TUPLE_ORIG])
    reply_source, _, _, reply_port, _ = _tuple(values[_TUPLE_REPLY])
    return Flow(protocol, source, destination, port, reply_source, reply_port)


def _tuple(data: bytes) -> tuple[IPv4Address, IPv4Address, int, int, int]:
    """(source, destination, protocol, source port, destination port)."""
    parts = attributes(data)
    addresses, transport = attributes(parts.get(1, b"")), attributes(parts.get(2, b""))
    zero = bytes(4)
    return (
        IPv4Address(addresses.get(1, zero)),
        IPv4Address(addresses.get(2, zero)),
        transport.get(1, b"\0")[0],
        struct.unpack(">H", transport.get(2, b"\0\0"))[0],
        struct.unpack(">H", transport.get(3, b"\0\0"))[0],
    )
