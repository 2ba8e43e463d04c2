"""A DNS client with Windows' name rules: one suffix for names without a dot, none otherwise."""

from __future__ import annotations

import random
import socket
import struct
from typing import Any, NamedTuple

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28,
         "SRV": 33, "ANY": 255, "ALL": 255}  # fmt: skip
NAMES = {number: name for name, number in TYPES.items() if name != "ALL"}
PORT = 53
TIMEOUTS_S = (1.0, 1.0, 2.0, 4.0)
"""How long each attempt waits; Windows' resolver tries in this rhythm."""
SECTIONS = ("Answer", "Authority", "Additional")
_RCODES = {1: 9001, 2: 9002, 3: 9003, 4: 9004, 5: 9005}
_WORDS = {
    9001: "DNS server unable to interpret format",
    9002: "DNS server failure",
    9003: "DNS name does not exist",
    9004: "DNS request not supported by name server",
    9005: "DNS operation refused",
    9501: "No records found for given DNS query",
    1460: "This operation returned because the timeout period expired",
}
_IDS = {9002: "RCODE_SERVER_FAILURE", 9003: "DNS_ERROR_RCODE_NAME_ERROR", 1460: "ERROR_TIMEOUT"}


class Configuration(NamedTuple):
    """Servers and the one suffix."""

    servers: tuple[str, ...]
    suffix: str


class Record(NamedTuple):
    """One record of an answer; ``data`` by the names that Resolve-DnsName uses."""

    name: str
    type: str
    ttl: int
    section: str
    data: dict[str, Any]


class ResolveError(Exception):
    """No usable answer; ``code`` is Windows' error number."""

    def __init__(self, code: int) -> None:
        """``code`` as DnsQuery gives it."""
        super().__init__(_WORDS.get(code, f"DNS error {code}"))
        self.code = code
        known = _IDS.get(code, f"DNS_ERROR_{code}")
        self.error_id = f"{known},Microsoft.DnsClient.Commands.ResolveDnsName"


def configuration(path: str = "/etc/resolv.conf") -> Configuration:
    """The container's: only the first suffix counts, as a Windows adapter has one."""
    servers: list[str] = []
    suffix = ""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if len(words) > 1 and words[0] == "nameserver":
                    servers.append(words[1])
                elif len(words) > 1 and words[0] in ("search", "domain") and not suffix:
                    suffix = words[1].rstrip(".")
    except OSError:
        pass  # no resolver is configured
    return Configuration(tuple(servers), suffix)


def is_address(text: str) -> bool:
    """Whether ``text`` is an IP address."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, text)
        except (OSError, ValueError):
            continue
        return True
    return False


def reverse_name(address: str) -> str:
    """The name that a PTR record of ``address`` has."""
    if ":" in address:
        digits = socket.inet_pton(socket.AF_INET6, address).hex()
        return ".".join(reversed(digits)) + ".ip6.arpa"
    return ".".join(reversed(address.split("."))) + ".in-addr.arpa"


def candidates(name: str, suffix: str) -> list[str]:
    """The full names that Windows asks for: a name without a dot gets the suffix."""
    plain = name.rstrip(".")
    if "." in plain or name.endswith(".") or not suffix:
        return [plain]
    return [f"{plain}.{suffix}", plain]


def resolve(
    name: str, kind: str, *, servers: list[str] | None = None, tcp: bool = False
) -> list[Record]:
    """The records of ``name``; also the SOA where there is none of that kind.

    Raises:
        ResolveError: the name does not exist, or no server answers.
    """
    config = configuration()
    asked = servers or list(config.servers)
    error = ResolveError(9003)
    for full in candidates(name, config.suffix):
        try:
            return query(full, TYPES[kind], asked, tcp=tcp)
        except ResolveError as err:
            error = err
            if err.code not in (9003, 9501):
                break
    raise error


def query(name: str, number: int, servers: list[str], *, tcp: bool = False) -> list[Record]:
    """Ask the servers in turn for one full name.

    Raises:
        ResolveError: as :func:`resolve`.
    """
    packet = question(name, number)
    for timeout_s in TIMEOUTS_S:
        for server in servers:
            try:
                answer = None if tcp else _udp(packet, server, timeout_s)
                if answer is None or answer[2] & 2:
                    answer = _tcp(packet, server, timeout_s + 2)
            except (OSError, ValueError):
                continue
            code = answer[3] & 15
            if code:
                raise ResolveError(_RCODES.get(code, 9002))
            return parse(answer)
    raise ResolveError(1460)


def question(name: str, number: int) -> bytes:
    """A query packet with a random id."""
    labels = b"".join(
        bytes([len(part)]) + part for part in _ascii(name).split(b".") if part
    )  # fmt: skip
    head = struct.pack(">HHHHHH", random.SystemRandom().randrange(1 << 16), 0x0100, 1, 0, 0, 0)
    return head + labels + b"\0" + struct.pack(">HH", number, 1)


def _ascii(name: str) -> bytes:
    try:
        return name.encode("ascii")
    except UnicodeEncodeError:
        return name.encode("idna")


def _udp(packet: bytes, server: str, timeout_s: float) -> bytes:
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(timeout_s)
        sock.connect((server, PORT))
        sock.send(packet)
        while True:
            data = sock.recv(4096)
            if len(data) >= 12 and data[:2] == packet[:2]:
                return data


def _tcp(packet: bytes, server: str, timeout_s: float) -> bytes:
    with socket.create_connection((server, PORT), timeout=timeout_s) as sock:
        sock.sendall(struct.pack(">H", len(packet)) + packet)
        size = struct.unpack(">H", _exactly(sock, 2))[0]
        return _exactly(sock, size)


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ValueError("the connection ended early")
        data += part
    return data


def parse(data: bytes) -> list[Record]:
    """The records of an answer, by section."""
    counts = struct.unpack_from(">HHHH", data, 4)
    at = 12
    for _ in range(counts[0]):
        _name, at = _read_name(data, at)
        at += 4
    found: list[Record] = []
    for section, count in zip(SECTIONS, counts[1:], strict=True):
        for _ in range(count):
            name, at = _read_name(data, at)
            number, _klass, ttl, size = struct.unpack_from(">HHIH", data, at)
            at += 10
            if number != 41:
                kind = NAMES.get(number, str(number))
                found.append(Record(name, kind, ttl, section, _data(data, at, size, number)))
            at += size
    return found


def _read_name(data: bytes, at: int) -> tuple[str, int]:
    labels: list[str] = []
    end = 0
    for _ in range(128):
        size = data[at]
        if size & 0xC0:
            end = end or at + 2
            at = ((size & 0x3F) << 8) + data[at + 1]
        elif size == 0:
            return ".".join(labels), end or at + 1
        else:
            labels.append(data[at + 1 : at + 1 + size].decode("latin-1"))
            at += size + 1
    raise ValueError("a name in the answer does not end")


def _data(data: bytes, at: int, size: int, number: int) -> dict[str, Any]:
    raw = data[at : at + size]
    if number == 1:
        text = socket.inet_ntop(socket.AF_INET, raw)
        return {"IPAddress": text, "IP4Address": text}
    if number == 28:
        text = socket.inet_ntop(socket.AF_INET6, raw)
        return {"IPAddress": text, "IP6Address": text}
    if number in (2, 5, 12):
        return {"NameHost": _read_name(data, at)[0], "Server": _read_name(data, at)[0]}
    if number == 33:
        priority, weight, port = struct.unpack_from(">HHH", raw)
        return {"NameTarget": _read_name(data, at + 6)[0], "Priority": priority, "Weight": weight,
                "Port": port}  # fmt: skip
    if number == 15:
        return {"NameExchange": _read_name(data, at + 2)[0], "Preference": raw[1] + (raw[0] << 8)}
    if number == 16:
        return {"Strings": [raw[1 : 1 + raw[0]].decode("utf-8", "replace")]}
    if number == 6:
        primary, after = _read_name(data, at)
        admin, after = _read_name(data, after)
        serial, refresh, retry, expire, minimum = struct.unpack_from(">IIIII", data, after)
        return {"PrimaryServer": primary, "NameAdministrator": admin, "SerialNumber": serial,
                "TimeToZoneRefresh": refresh, "TimeToZoneFailureRetry": retry,
                "TimeToExpiration": expire, "DefaultTTL": minimum}  # fmt: skip
    return {"Data": raw.hex()}
