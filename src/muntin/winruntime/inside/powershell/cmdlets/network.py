"""Adapters, addresses, routes, reachability and names."""

from __future__ import annotations

import os
import socket
import time
from typing import Any

from .. import adapters as net
from .. import values as v
from ..addresses import lookup
from ..errors import NetError, Refusal
from ..stages import Call
from ..textformat import wildcard


def _adapter(one: net.Adapter) -> v.PSObject:
    row = v.PSObject(
        "Microsoft.Management.Infrastructure.CimInstance#ROOT/StandardCimv2/MSFT_NetAdapter",
        Name=one.name, InterfaceAlias=one.name,
        InterfaceDescription=net.DESCRIPTION,
        ifIndex=one.if_index, InterfaceIndex=one.if_index, ifName=one.unix_name,
        Status="Up" if one.up else "Disconnected", MacAddress=one.mac, LinkSpeed="10 Gbps",
        InterfaceGuid=net.guid(one.if_index), MtuSize=one.mtu,
        MediaConnectionState="Connected" if one.up else "Disconnected",
    )  # fmt: skip
    row.shown = ("Name", "InterfaceDescription", "ifIndex", "Status", "MacAddress", "LinkSpeed")
    row.text = f"MSFT_NetAdapter (Name = {one.name})"
    return row


def get_netadapter(call: Call, _item: Any, _has_input: bool) -> None:
    """Adapters, the loopback one left out as on Windows."""
    patterns = [wildcard(one) for one in call.get("name", ["*"])]
    found = [
        one
        for one in net.adapters()
        if not one.loopback
        and any(p.match(one.name) for p in patterns)
        and call.get("interfaceindex", one.if_index) == one.if_index
    ]
    if not found and call.has("name"):
        call.error(
            "No MSFT_NetAdapter objects found with property 'Name' equal to "
            f"'{call.get('name')[0]}'.  Verify the value of the property and retry.",
            "CmdletizationQuery_NotFound_Name", "ObjectNotFound", call.get("name")[0],
        )  # fmt: skip
    for one in found:
        call.write(_adapter(one))


def _families(call: Call) -> tuple[int, ...]:
    wanted = v.to_text(call.get("addressfamily", "")).lower()
    known: dict[str, tuple[int, ...]] = {"ipv4": (socket.AF_INET,), "ipv6": (socket.AF_INET6,)}
    return known.get(wanted, (socket.AF_INET, socket.AF_INET6))


def _address(one: net.Address, names: dict[int, str]) -> v.PSObject:
    version = "IPv4" if one.family == socket.AF_INET else "IPv6"
    local = one.text.startswith("fe80:")
    row = v.PSObject(
        "Microsoft.Management.Infrastructure.CimInstance#ROOT/StandardCimv2/MSFT_NetIPAddress",
        IPAddress=one.text, InterfaceIndex=one.if_index, InterfaceAlias=names.get(one.if_index, ""),
        AddressFamily=version, Type="Unicast", PrefixLength=one.prefix_length,
        PrefixOrigin="WellKnown" if local else "Manual",
        SuffixOrigin="Link" if local else "Manual", AddressState="Preferred",
        ValidLifetime="Infinite ([TimeSpan]::MaxValue)",
        PreferredLifetime="Infinite ([TimeSpan]::MaxValue)", SkipAsSource=False,
        PolicyStore="ActiveStore", IPv4Address=one.text if version == "IPv4" else None,
        IPv6Address=one.text if version == "IPv6" else None,
    )  # fmt: skip
    row.text = one.text
    return row


def get_netipaddress(call: Call, item: Any, has_input: bool) -> None:
    """Addresses, of one adapter where one comes in."""
    index = call.get("interfaceindex")
    if has_input and isinstance(item, v.PSObject):
        index = item.properties.get("InterfaceIndex")
    names = {one.if_index: one.name for one in net.adapters()}
    patterns = [wildcard(one) for one in call.get("ipaddress", ["*"])]
    alias = wildcard(call.get("interfacealias", "*"))
    found = [
        one
        for one in net.addresses()
        if (index is None or one.if_index == index)
        and one.family in _families(call)
        and any(p.match(one.text) for p in patterns)
        and alias.match(names.get(one.if_index, ""))
    ]
    if not found and (call.has("ipaddress") or index is not None):
        wanted = call.get("ipaddress", [index])[0]
        call.error(
            f"No MSFT_NetIPAddress objects found with property 'IPAddress' equal to '{wanted}'.  "
            "Verify the value of the property and retry.",
            "CmdletizationQuery_NotFound_IPAddress", "ObjectNotFound", wanted,
        )  # fmt: skip
    for one in found:
        call.write(_address(one, names))


def get_netipconfiguration(call: Call, _item: Any, _has_input: bool) -> None:
    """Each adapter with its addresses, gateway and DNS servers."""
    from ..resolver import configuration

    all_addresses, all_routes = net.addresses(), net.routes()
    names = {one.if_index: one.name for one in net.adapters()}
    for one in net.adapters():
        if one.loopback or call.get("interfaceindex", one.if_index) != one.if_index:
            continue
        mine = [_address(a, names) for a in all_addresses if a.if_index == one.if_index]
        gateways = [
            v.PSObject(NextHop=r.gateway, DestinationPrefix=r.destination)
            for r in all_routes
            if r.if_index == one.if_index and r.destination == "0.0.0.0/0"
        ]
        for gateway in gateways:
            gateway.text = gateway.properties["NextHop"]
        row = v.PSObject(
            "NetIPConfiguration",
            InterfaceAlias=one.name, InterfaceIndex=one.if_index,
            InterfaceDescription=net.DESCRIPTION,
            IPv4Address=[a for a in mine if a.properties["AddressFamily"] == "IPv4"],
            IPv6LinkLocalAddress=[a for a in mine if a.text.startswith("fe80:")],
            IPv4DefaultGateway=gateways, DNSServer=list(configuration().servers),
        )  # fmt: skip
        call.write(row)


def get_netroute(call: Call, _item: Any, _has_input: bool) -> None:
    """The routes."""
    names = {one.if_index: one.name for one in net.adapters()}
    for one in net.routes():
        if call.get("interfaceindex", one.if_index) != one.if_index or one.family not in _families(
            call
        ):
            continue
        if call.get("destinationprefix", one.destination) != one.destination:
            continue
        row = v.PSObject(
            "MSFT_NetRoute",
            ifIndex=one.if_index, InterfaceIndex=one.if_index,
            InterfaceAlias=names.get(one.if_index, ""),
            DestinationPrefix=one.destination, NextHop=one.gateway, RouteMetric=one.metric,
        )  # fmt: skip
        row.shown = ("ifIndex", "DestinationPrefix", "NextHop", "RouteMetric")
        call.write(row)


def get_dnsclientserveraddress(call: Call, _item: Any, _has_input: bool) -> None:
    """The DNS servers of each adapter."""
    from ..resolver import configuration

    servers = list(configuration().servers)
    for one in net.adapters():
        for family, name in ((socket.AF_INET, "IPv4"), (socket.AF_INET6, "IPv6")):
            if family not in _families(call) or one.loopback:
                continue
            mine = [s for s in servers if (":" in s) == (family == socket.AF_INET6)]
            row = v.PSObject(
                InterfaceAlias=one.name, InterfaceIndex=one.if_index, AddressFamily=name,
                ServerAddresses=mine,
            )  # fmt: skip
            call.write(row)


# --- reachability --------------------------------------------------------------------------


def test_netconnection(call: Call, _item: Any, _has_input: bool) -> None:
    """Ping, or a TCP connection to -Port."""
    name = call.get("computername", "internetbeacon.msedge.net")
    ports = {"http": 80, "rdp": 3389, "smb": 445, "winrm": 5985}
    port = call.get("port") or ports.get(v.to_text(call.get("commontcpport", "")).lower())
    quiet = v.to_text(call.get("informationlevel", "")).lower() == "quiet"
    try:
        address = lookup(name)[0].ToString()
    except NetError:
        address = ""
        _warn(call, f"Name resolution of {name} failed")
    source, connected = ("", False) if not address or not port else _connect(address, port)
    round_trip = None
    if address and not connected:
        round_trip = ping(address)
    if address and port and not connected:
        _warn(call, f"TCP connect to ({address} : {port}) failed")
    if address and not connected and round_trip is None:
        _warn(call, f"Ping to {address} failed with status: TimedOut")
    if quiet:
        call.write(connected if port else round_trip is not None)
        return
    call.write(_test_result(name, address, port, source, connected, round_trip))


def _test_result(
    name: str, address: str, port: int | None, source: str, connected: bool, round_trip: Any
) -> v.PSObject:
    own = source or (_source_of(address) if address else "")
    names = {one.if_index: one.name for one in net.adapters()}
    index = next((a.if_index for a in net.addresses() if a.text.split("%")[0] == own), 0)
    row = v.PSObject(
        "NetTestConnectionResults",
        ComputerName=name, RemoteAddress=address or None,
    )  # fmt: skip
    if port:
        row.properties["RemotePort"] = port
    row.properties.update(InterfaceAlias=names.get(index, ""), SourceAddress=own)
    if not port or not connected:
        row.properties["PingSucceeded"] = round_trip is not None
        milliseconds = 0 if round_trip is None else round(round_trip * 1000)
        row.properties["PingReplyDetails (RTT)"] = f"{milliseconds} ms"
    if port:
        row.properties["TcpTestSucceeded"] = connected
    return row


def _warn(call: Call, text: str) -> None:
    from .output import write_warning

    saved = call.params
    call.params = {**saved, "message": text}
    try:
        write_warning(call, None, False)
    finally:
        call.params = saved


def _connect(address: str, port: int) -> tuple[str, bool]:
    try:
        with socket.create_connection((address, port), timeout=10) as sock:
            return str(sock.getsockname()[0]), True
    except OSError:
        return "", False


def _source_of(address: str) -> str:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((address, 9))
            return str(sock.getsockname()[0])
    except OSError:
        return ""


def ping(address: str, timeout_s: float = 4.0, size: int = 32) -> float | None:
    """Seconds that an ICMP echo took, None where no answer came."""
    six = ":" in address
    family = socket.AF_INET6 if six else socket.AF_INET
    protocol = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
    try:
        sock = socket.socket(family, socket.SOCK_DGRAM, protocol)
    except OSError:
        return None
    with sock:
        sock.settimeout(timeout_s)
        body = bytes(ord("a") + i % 23 for i in range(size))
        packet = bytes([128 if six else 8, 0]) + b"\0\0" + b"\0\0\0\1" + body
        if not six:
            packet = packet[:2] + _checksum(packet) + packet[4:]
        start = time.monotonic()
        try:
            sock.sendto(packet, (address, 0))
            sock.recvfrom(2048)
        except OSError:
            return None
        return time.monotonic() - start


def _checksum(data: bytes) -> bytes:
    total = sum((data[i] << 8) + data[i + 1] for i in range(0, len(data) - 1, 2))
    total = (total & 0xFFFF) + (total >> 16)
    return ((~(total + (total >> 16))) & 0xFFFF).to_bytes(2, "big")


def test_connection(call: Call, _item: Any, _has_input: bool) -> None:
    """Pings."""
    for name in call.get("computername"):
        replies: list[float | None] = []
        try:
            address = lookup(name)[0].ToString()
        except NetError:
            address = ""
        for turn in range(call.get("count", 4)):
            if turn:
                time.sleep(call.get("delay", 1))
            replies.append(ping(address, size=call.get("buffersize", 32)) if address else None)
            if not address:
                break
        if call.get("quiet"):
            call.write(any(reply is not None for reply in replies))
            continue
        for reply in replies:
            _report_ping(call, name, address, reply)


def _report_ping(call: Call, name: str, address: str, reply: float | None) -> None:
    if reply is None:
        why = "Error due to lack of resources" if address else "No such host is known"
        call.error(
            f"Testing connection to computer '{name}' failed: {why}", "TestConnectionException",
            "ResourceUnavailable", name, exception="System.Net.NetworkInformation.PingException",
        )  # fmt: skip
        return
    source = os.environ.get("COMPUTERNAME") or socket.gethostname().upper()
    row = v.PSObject(
        Source=source, Destination=name, IPV4Address=address, Bytes=call.get("buffersize", 32),
        ResponseTime=round(reply * 1000), StatusCode=0,
    )  # fmt: skip
    row.properties["Time(ms)"] = row.properties["ResponseTime"]
    row.shown = ("Source", "Destination", "IPV4Address", "Bytes", "Time(ms)")
    call.write(row)


# --- names ---------------------------------------------------------------------------------


def resolve_dnsname(call: Call, item: Any, has_input: bool) -> None:
    """Ask the DNS server, with the one suffix that Windows adds to names without a dot."""
    from ..resolver import TYPES, ResolveError, is_address, resolve, reverse_name

    name = v.to_text(item if has_input and not call.has("name") else call.get("name"))
    kind = v.to_text(call.get("type", "")).upper()
    wanted = [kind] if kind and kind != "A_AAAA" else ["AAAA", "A"]
    if is_address(name):
        name, wanted = reverse_name(name), ["PTR"]
    for one in wanted:
        if one not in TYPES:
            raise Refusal(f"Record type '{one}' is")
    servers = call.get("server")
    found = []
    last: ResolveError | None = None
    for one in wanted:
        try:
            found += resolve(name, one, servers=servers, tcp=bool(call.get("tcponly")))
        except ResolveError as err:
            last = err
    if not found and last is not None:
        call.error(
            f"{name} : {last}", last.error_id, "ResourceUnavailable", name,
            exception="System.ComponentModel.Win32Exception",
        )  # fmt: skip
        return
    for record in found:
        call.write(_record(record))


def _record(record: Any) -> v.PSObject:
    row = v.PSObject(
        "Microsoft.DnsClient.Commands.DnsRecord",
        Name=record.name, Type=record.type, TTL=record.ttl, Section=record.section,
    )  # fmt: skip
    row.properties.update(record.data)
    row.properties["QueryType"] = record.type
    row.shown = ("Name", "Type", "TTL", "Section", next(iter(record.data), "Name"))
    return row
