"""ipconfig.exe: the container's adapters in the layout of Windows Server.

The kernel tells adapters, addresses and gateways; ``/etc/resolv.conf`` tells DNS servers and the
suffix. Addresses are static, as HNS sets them. Nothing caches DNS answers in a container.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .powershell import adapters as net
from .powershell.adapters import DESCRIPTION, subnet_mask
from .powershell.resolver import Configuration, configuration

TITLE = "Windows IP Configuration"
_LABEL_WIDTH = 34
_NO_DHCP = """The operation failed as no adapter is in the state permissible for
this operation."""
_UNKNOWN = "Error: unrecognized or incomplete command line."
_USAGE = """USAGE:
    ipconfig [/? | /all | /renew [adapter] | /release [adapter] |
              /renew6 [adapter] | /release6 [adapter] |
              /flushdns | /displaydns ]

where
    adapter             Connection name
                       (wildcard characters * and ? allowed, see examples)

    Options:
       /?               Display this help message
       /all             Display full configuration information.
       /release         Release the IPv4 address for the specified adapter.
       /release6        Release the IPv6 address for the specified adapter.
       /renew           Renew the IPv4 address for the specified adapter.
       /renew6          Renew the IPv6 address for the specified adapter.
       /flushdns        Purges the DNS Resolver cache.
       /displaydns      Display the contents of the DNS Resolver Cache.

The default is to display only the IP address, subnet mask and
default gateway for each adapter bound to TCP/IP.

Examples:
    > ipconfig                       ... Show information
    > ipconfig /all                  ... Show detailed information
    > ipconfig /renew                ... renew all adapters"""


class State(NamedTuple):
    """What there is to show."""

    host_name: str
    adapters: Sequence[net.Adapter]
    addresses: Sequence[net.Address]
    routes: Sequence[net.Route]
    dns: Configuration


def main(argv: list[str]) -> int:
    """``ipconfig [/all | /flushdns | /displaydns | /release | /renew | /?]``; its exit code."""
    option = argv[0].lower().replace("-", "/", 1) if argv else ""
    if option in ("/release", "/renew", "/release6", "/renew6"):
        if len(argv) <= 2:
            return _print(1, TITLE, "", *_NO_DHCP.split("\n"))
    elif len(argv) > 1:
        pass
    elif option in ("", "/all"):
        return _print(0, *report(_state(), full=option == "/all"))
    elif option == "/flushdns":
        return _print(0, TITLE, "", "Successfully flushed the DNS Resolver Cache.")
    elif option == "/displaydns":
        return _print(0, TITLE, "")
    elif option == "/?":
        return _print(0, *_USAGE.split("\n"))
    return _print(1, _UNKNOWN, "", *_USAGE.split("\n"))


def report(state: State, *, full: bool) -> list[str]:
    """The lines of ``ipconfig``, or of ``ipconfig /all``."""
    lines = [TITLE, ""]
    if full:
        lines += [
            _row("Host Name", [state.host_name]),
            _row("Primary Dns Suffix", [""]),
            _row("Node Type", ["Hybrid"]),
            _row("IP Routing Enabled", ["No"]),
            _row("WINS Proxy Enabled", ["No"]),
        ]
        if state.dns.suffix:
            lines.append(_row("DNS Suffix Search List", [state.dns.suffix]))
    lines.append("")
    for adapter in state.adapters:
        if not adapter.loopback:
            lines += [f"Ethernet adapter {adapter.name}:", "", *_adapter(state, adapter, full), ""]
    return lines[:-1] if lines[-1] == "" else lines


def _adapter(state: State, adapter: net.Adapter, full: bool) -> list[str]:
    rows = [_row("Connection-specific DNS Suffix", [state.dns.suffix])]
    if full:
        rows += [
            _row("Description", [DESCRIPTION]),
            _row("Physical Address", [adapter.mac]),
            _row("DHCP Enabled", ["No"]),
            _row("Autoconfiguration Enabled", ["Yes"]),
        ]
    note = "(Preferred) " if full else ""
    mine = [address for address in state.addresses if address.if_index == adapter.if_index]
    for address in sorted(mine, key=_order):
        if address.family == socket.AF_INET:
            rows.append(_row("IPv4 Address", [address.text + note]))
            rows.append(_row("Subnet Mask", [subnet_mask(address.prefix_length)]))
        else:
            name = ("IPv6 Address", "Link-local IPv6 Address")[_order(address)]
            rows.append(_row(name, [address.text + note]))
    rows.append(_row("Default Gateway", net.gateways(state.routes, adapter.if_index)))
    if full:
        if state.dns.servers:
            rows.append(_row("DNS Servers", state.dns.servers))
        rows.append(_row("NetBIOS over Tcpip", ["Disabled"]))
    return rows


def _order(address: net.Address) -> int:
    """Windows shows IPv6 addresses, then link-local ones, then IPv4."""
    if address.family == socket.AF_INET:
        return 2
    return int(address.text.startswith("fe80:"))


def _row(label: str, values: Sequence[str]) -> str:
    """A label with dots up to the colon; further values stand below the first one."""
    if label.endswith("Suffix"):
        label += " "  # as Windows has it
    dots = "".join(
        label[at] if at < len(label) else " ."[at % 2 == 0] for at in range(_LABEL_WIDTH)
    )
    first, *others = values or [""]
    below = [" " * (_LABEL_WIDTH + 5) + other for other in others]
    return "\n".join([f"   {dots}: {first}", *below])


def _state() -> State:
    return State(
        socket.gethostname(), net.adapters(), net.addresses(), net.routes(), configuration()
    )


def _print(code: int, *lines: str) -> int:
    text = "\n".join(["", *_flat(lines), ""])
    sys.stdout.buffer.write(text.replace("\n", "\r\n").encode())
    sys.stdout.buffer.flush()
    return code


def _flat(lines: Iterable[str]) -> list[str]:
    return [part for line in lines for part in line.split("\n")]
