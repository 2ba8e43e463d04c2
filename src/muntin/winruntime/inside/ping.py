"""ping.exe: echo requests over an unprivileged ICMP socket, worded as Windows words them.

Wine's own knows neither -t nor host names of the pod's search suffix.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
import time
from dataclasses import dataclass, field

USAGE = """
Usage: ping [-t] [-a] [-n count] [-l size] [-f] [-i TTL] [-w timeout] [-4] [-6]
            target_name

Options:
    -t             Ping the specified host until stopped.
    -a             Accepted, without effect.
    -n count       Number of echo requests to send.
    -l size        Send buffer size.
    -f             Set Don't Fragment flag in packet (IPv4-only).
    -i TTL         Time To Live.
    -w timeout     Timeout in milliseconds to wait for each reply.
    -4             Force using IPv4.
    -6             Force using IPv6.
"""
LIMITS = {"n": (1, 4294967295), "l": (0, 65500), "i": (1, 255), "w": (0, 4294967295)}
IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_RECVTTL = 10, 2, 12  # linux/in.h
INTERVAL_S = 1.0


@dataclass
class Options:
    """What the command line asks for."""

    target: str = ""
    forever: bool = False
    family: int = 0
    fragment: bool = True
    numbers: dict[str, int] = field(default_factory=lambda: {"n": 4, "l": 32, "i": 128, "w": 4000})


class Problem(Exception):
    """The command line is wrong; the text is what the user reads."""


@dataclass
class Tally:
    """What came back so far."""

    sent: int = 0
    times_ms: list[float] = field(default_factory=list)


def main(argv: list[str]) -> int:
    """0 if any reply came, else 1."""
    try:
        options = parse(argv)
    except Problem as err:
        _print(str(err))
        return 1
    found = _resolve(options)
    if found is None:
        _print(
            f"Ping request could not find host {options.target}. "
            "Please check the name and try again."
        )
        return 1
    family, address = found
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the caller ignores it
    tally = Tally()
    try:
        _ping(options, family, address, tally)
    except KeyboardInterrupt:
        _print("Control-C")
    _summary(address, tally)
    return 0 if tally.times_ms else 1


def parse(argv: list[str]) -> Options:
    """The options of a command line; raises Problem with the text for the user."""
    options, words = Options(), iter(argv)
    for word in words:
        if not word.startswith(("-", "/")):
            if options.target:
                raise Problem(f"Bad parameter {word}.")
            options.target = word
            continue
        name = word[1:].lower()
        if name in LIMITS:
            options.numbers[name] = _number(name, next(words, None))
        elif name == "t":
            options.forever = True
        elif name in ("4", "6"):
            options.family = socket.AF_INET if name == "4" else socket.AF_INET6
        elif name == "f":
            options.fragment = False
        elif name != "a":
            raise Problem(USAGE if name == "?" else f"Bad option {word}.\n{USAGE}")
    if not options.target:
        raise Problem(USAGE)
    return options


def _number(name: str, text: str | None) -> int:
    low, high = LIMITS[name]
    if text is None:
        raise Problem(f"Value must be supplied for option -{name}.")
    if not text.isdigit() or not low <= int(text) <= high:
        raise Problem(f"Bad value for option -{name}, valid range is from {low} to {high}.")
    return int(text)


def _resolve(options: Options) -> tuple[int, str] | None:
    try:
        found = socket.getaddrinfo(options.target, None, options.family, socket.SOCK_DGRAM)
    except OSError:
        return None
    found.sort(key=lambda row: row[0] != socket.AF_INET)
    return int(found[0][0]), str(found[0][4][0])


def _socket(family: int, options: Options) -> socket.socket:
    kind = socket.IPPROTO_ICMP if family == socket.AF_INET else socket.IPPROTO_ICMPV6
    try:
        sock = socket.socket(family, socket.SOCK_DGRAM, kind)
    except PermissionError:
        sock = socket.socket(family, socket.SOCK_RAW, kind)
    if family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, options.numbers["i"])
        sock.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        if not options.fragment:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, options.numbers["i"])
    return sock


def _ping(options: Options, family: int, address: str, tally: Tally) -> None:
    size = options.numbers["l"]
    shown = address if options.target == address else f"{options.target} [{address}]"
    _print("")
    _print(f"Pinging {shown} with {size} bytes of data:")
    payload = bytes(97 + at % 23 for at in range(size))
    with _socket(family, options) as sock:
        while options.forever or tally.sent < options.numbers["n"]:
            if tally.sent:
                time.sleep(INTERVAL_S)
            tally.sent += 1
            _print(_one(sock, family, address, tally, payload, options.numbers["w"] / 1000))


def _one(
    sock: socket.socket, family: int, address: str, tally: Tally, payload: bytes, wait_s: float
) -> str:
    """Send one request and wait for its reply; the line to show."""
    number = tally.sent & 0xFFFF
    request = _request(family, number, payload)
    started = time.monotonic()
    try:
        sock.sendto(request, (address, 0))
    except OSError as err:
        if err.strerror == "Message too long":
            return "Packet needs to be fragmented but DF set."
        return "PING: transmit failed. General failure."
    while (left := started + wait_s - time.monotonic()) > 0:
        if not select.select([sock], [], [], left)[0]:
            break
        data, ancillary, _, _ = sock.recvmsg(70000, 256)
        data = _without_ip_header(sock, family, data)
        is_reply = data[:1] == (b"\0" if family == socket.AF_INET else b"\x81")
        if len(data) < 8 or not is_reply or struct.unpack_from(">H", data, 6)[0] != number:
            continue
        took_ms = (time.monotonic() - started) * 1000
        tally.times_ms.append(took_ms)
        return _reply_line(family, address, len(data) - 8, took_ms, ancillary)
    return "Request timed out."


def _request(family: int, number: int, payload: bytes) -> bytes:
    kind = 8 if family == socket.AF_INET else 128
    head = struct.pack(">BBHHH", kind, 0, 0, os.getpid() & 0xFFFF, number)
    if family == socket.AF_INET6:
        return head + payload  # the kernel fills in the checksum
    check = _checksum(head + payload)
    return head[:2] + struct.pack(">H", check) + head[4:] + payload


def _checksum(data: bytes) -> int:
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _without_ip_header(sock: socket.socket, family: int, data: bytes) -> bytes:
    if sock.type == socket.SOCK_RAW and family == socket.AF_INET and data:
        return data[(data[0] & 15) * 4 :]
    return data


def _reply_line(
    family: int, address: str, size: int, took_ms: float, ancillary: list[tuple[int, int, bytes]]
) -> str:
    took = f"time={round(took_ms)}ms" if took_ms >= 1 else "time<1ms"
    if family == socket.AF_INET6:
        return f"Reply from {address}: {took}"
    ttl = next(
        (int.from_bytes(data[:4], sys.byteorder) for level, kind, data in ancillary
         if (level, kind) == (socket.IPPROTO_IP, socket.IP_TTL)),
        0,
    )  # fmt: skip
    return f"Reply from {address}: bytes={size} {took} TTL={ttl}"


def _summary(address: str, tally: Tally) -> None:
    got = len(tally.times_ms)
    lost = tally.sent - got
    _print("")
    _print(f"Ping statistics for {address}:")
    share = 100 * lost // tally.sent if tally.sent else 0
    _print(f"    Packets: Sent = {tally.sent}, Received = {got}, Lost = {lost} ({share}% loss),")
    if got:
        low, high, mean = min(tally.times_ms), max(tally.times_ms), sum(tally.times_ms) / got
        _print("Approximate round trip times in milli-seconds:")
        _print(f"    Minimum = {low:.0f}ms, Maximum = {high:.0f}ms, Average = {mean:.0f}ms")


def _print(text: str) -> None:
    sys.stdout.write(text.replace("\n", "\r\n") + "\r\n")
    sys.stdout.flush()
