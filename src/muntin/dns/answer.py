"""One query to one answer: the cluster's names from the zone, the rest forwarded (dnslib)."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable

from dnslib import (
    AAAA,
    CNAME,
    EDNS0,
    NS,
    PTR,
    QTYPE,
    RCODE,
    RR,
    SOA,
    SRV,
    TXT,
    A,
    DNSHeader,
    DNSRecord,
)
from dnslib.dns import DNSError
from dnslib.label import DNSLabelError

from muntin.dns.zone import NOTHING, Found, Record, Zone

Forward = Callable[[bytes], Awaitable[bytes | None]]

MAX_UDP_BYTES = 1232
"""What is sent over UDP at most, whatever a client allows: no fragments (DNS flag day 2020)."""
PLAIN_UDP_BYTES = 512
MAX_CNAMES = 8
MAX_NAME_BYTES = 254  # without the root's; RFC 1035, 2.3.4

_RDATA = {"A": A, "AAAA": AAAA, "CNAME": CNAME, "PTR": PTR, "TXT": TXT}


async def answer(zone: Zone, ttl_s: int, packet: bytes, forward: Forward, *, tcp: bool) -> bytes:
    """The answer to ``packet``; empty for what does not deserve one (not a query at all)."""
    try:
        query = DNSRecord.parse(packet)
    except DNSError:
        return _format_error(packet)
    if query.header.qr:
        return b""
    if query.header.opcode != 0 or len(query.questions) != 1:
        return _refused(query, RCODE.NOTIMP if query.header.opcode else RCODE.FORMERR)
    if sum(len(label) + 1 for label in query.q.qname.label) > MAX_NAME_BYTES:
        return _format_error(packet)  # by pointers, which the parser follows however far
    name = str(query.q.qname).rstrip(".").lower()
    kind = str(QTYPE.get(query.q.qtype, query.q.qtype))
    found = _local(zone, name, kind)
    if found is None:
        raw = await forward(packet)
        return raw if raw is not None else _refused(query, RCODE.SERVFAIL)
    try:
        reply = await _reply(zone, ttl_s, query, name, kind, found, forward)
        return _packed(query, reply, tcp=tcp)
    except (
        DNSError,
        DNSLabelError,
        ValueError,
    ):  # a target that is no DNS name, such as a label of 64 characters
        return _refused(query, RCODE.SERVFAIL)


def _local(zone: Zone, name: str, kind: str) -> Found | None:
    """What the zone says of ``name``; None if it has to be forwarded."""
    if zone.contains(name):
        return zone.find(name, kind)
    if name.endswith((".in-addr.arpa", ".ip6.arpa")):
        address = _reverse_address(name)
        found = zone.reverse(address) if address else NOTHING
        return found if found.exists else None
    return None


async def _reply(
    zone: Zone, ttl_s: int, query: DNSRecord, name: str, kind: str, found: Found, forward: Forward
) -> DNSRecord:
    reply = query.reply(ra=1, aa=1)
    for _ in range(MAX_CNAMES):
        for record in found.records:
            reply.add_answer(_rr(record, ttl_s))
        aliases = [record.target for record in found.records if record.kind == "CNAME"]
        if not aliases or kind == "CNAME":
            break
        if not zone.contains(aliases[0]):
            await _append_forwarded(reply, query, aliases[0], forward)
            break
        found = zone.find(aliases[0], kind)
    for record in found.extra:
        reply.add_ar(_rr(record, ttl_s))
    if not reply.rr:
        reply.add_auth(_soa(zone, ttl_s))
        if name == zone.domain and kind == "SOA":
            reply.add_answer(_soa(zone, ttl_s))
        elif name == zone.domain and kind == "NS":
            reply.add_answer(
                RR(zone.domain, QTYPE.NS, rdata=NS(f"ns.dns.{zone.domain}"), ttl=ttl_s)
            )
        elif not found.exists:
            reply.header.rcode = RCODE.NXDOMAIN
    return reply


async def _append_forwarded(
    reply: DNSRecord, query: DNSRecord, target: str, forward: Forward
) -> None:
    """The records of an alias outside the cluster, as CoreDNS gives them with the CNAME."""
    onward = DNSRecord.question(target, str(QTYPE.get(query.q.qtype, "A")))
    raw = await forward(onward.pack())
    if raw is None:
        return
    try:
        for record in DNSRecord.parse(raw).rr:
            reply.add_answer(record)
    except DNSError:
        return


def _packed(query: DNSRecord, reply: DNSRecord, *, tcp: bool) -> bytes:
    asked = next((record for record in query.ar if record.rtype == QTYPE.OPT), None)
    limit = PLAIN_UDP_BYTES
    if asked is not None:
        limit = min(MAX_UDP_BYTES, max(PLAIN_UDP_BYTES, asked.edns_len))
        reply.add_ar(EDNS0(udp_len=MAX_UDP_BYTES))
    data: bytes = reply.pack()
    if tcp or len(data) <= limit:
        return data
    short = query.reply(ra=1, aa=1)
    short.header.tc = 1
    return bytes(short.pack())


def _rr(record: Record, ttl_s: int) -> RR:
    kind = getattr(QTYPE, record.kind)
    if record.kind == "SRV":
        data = SRV(priority=0, weight=100, port=record.port, target=record.target)
    else:
        data = _RDATA[record.kind](record.target)
    return RR(record.name, kind, rdata=data, ttl=ttl_s)


def _soa(zone: Zone, ttl_s: int) -> RR:
    data = SOA(f"ns.dns.{zone.domain}", f"hostmaster.{zone.domain}", (1, 7200, 1800, 86400, ttl_s))
    return RR(zone.domain, QTYPE.SOA, rdata=data, ttl=ttl_s)


def _refused(query: DNSRecord, rcode: int) -> bytes:
    reply = query.reply(ra=1, aa=0)
    reply.header.rcode = rcode
    return bytes(reply.pack())


def _format_error(packet: bytes) -> bytes:
    if len(packet) < 12 or packet[2] & 0x80:
        return b""
    header = DNSHeader(id=int.from_bytes(packet[:2]), qr=1, rcode=RCODE.FORMERR)
    return bytes(DNSRecord(header).pack())


def _reverse_address(name: str) -> str:
    try:
        if name.endswith(".in-addr.arpa"):
            return str(ipaddress.IPv4Address(".".join(reversed(name.split(".")[:-2]))))
        digits = "".join(reversed(name.split(".")[:-2]))
        return str(ipaddress.IPv6Address(bytes.fromhex(digits)))
    except ValueError:
        return ""
