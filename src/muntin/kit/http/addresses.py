"""Which addresses a server may connect to on behalf of a client.

API objects contain addresses and host names. They are checked after name resolution, in the form
that the kernel gets: ``localhost``, ``0x7f000001`` and ``::ffff:127.0.0.1`` are all 127.0.0.1.
Source of the rule: Go's ``net.IP.IsGlobalUnicast``, by which kube-apiserver checks the address of
a pod before it proxies to it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import Any

from muntin.kit import errors

_BROADCAST = ipaddress.IPv4Address("255.255.255.255")
_NOT_ALLOWED = "address not allowed"  # kube-apiserver's words


Resolved = tuple[socket.AddressFamily, str, int]
"""Family, numeric address and port."""


class NotAllowed(errors.Unavailable):
    """A host has an address that must not be dialled."""


def is_global_unicast(address: str) -> bool:
    """Whether ``address`` is a numeric address that can belong to another machine.

    False for loopback, link-local, unspecified, multicast and broadcast addresses, also where an
    IPv6 address embeds an IPv4 one, and for text that is no numeric address.
    """
    try:
        ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or _compatible(ip)
        if embedded is not None:
            ip = embedded
        elif ip.scope_id:
            return False
    local = ip.is_unspecified or ip.is_loopback or ip.is_link_local
    return not (local or ip.is_multicast or ip == _BROADCAST)


def _compatible(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address of ``::a.b.c.d`` (RFC 4291, 2.5.5.1); ``::`` and ``::1`` are none."""
    value = int(address)
    return ipaddress.IPv4Address(value) if 1 < value < 1 << 32 else None


async def resolve(host: str, port: int) -> list[Resolved]:
    """The addresses of ``host``, all of which may be dialled.

    Raises:
        Unavailable: the host has no address.
        NotAllowed: :func:`is_global_unicast` refuses one of them.
    """
    rows: Any  # typeshed has the families of other systems in it
    try:
        loop = asyncio.get_running_loop()
        rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as err:  # ValueError: a label that no name can have
        raise errors.Unavailable(f"lookup {host}: no such host") from err
    for _, _, _, _, where in rows:
        if not is_global_unicast(where[0]) or (len(where) > 3 and where[3]):  # [3]: an interface
            raise NotAllowed(_NOT_ALLOWED)
    return [(family, where[0], where[1]) for family, _, _, _, where in rows]
