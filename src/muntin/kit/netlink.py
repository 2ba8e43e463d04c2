"""The framing that every netlink family shares: headers, attributes, acknowledged requests, dumps.

Many messages travel in one datagram; each is acknowledged, and the first error is raised with the
message it belongs to. Source: netlink(7), linux/netlink.h.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

from muntin.kit import netns

NETLINK_ROUTE = 0
NETLINK_NETFILTER = 12
NLM_F_REQUEST = 1
NLM_F_ACK = 4
NLM_F_DUMP = 0x300
NLM_F_REPLACE = 0x100
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400
NLM_F_APPEND = 0x800
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_SO_SNDBUFFORCE = 32
_SO_RCVBUFFORCE = 33
_TIMEOUT_S = 20
_NESTED = 0x8000
_DATAGRAM_BYTES = 64 * 1024
HEADER = struct.Struct("=IHHII")


@dataclass(frozen=True, slots=True)
class Message:
    """One request: its ``type``, extra ``flags``, and ``body`` after the netlink header.

    ``what`` names it in errors. An errno in ``tolerate`` counts as success.
    """

    type: int
    flags: int
    body: bytes
    what: str = ""
    tolerate: frozenset[int] = frozenset()


def attr(kind: int, value: bytes) -> bytes:
    """One attribute, padded to four bytes."""
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def attr_text(kind: int, value: str) -> bytes:
    return attr(kind, value.encode() + b"\0")


def attr_u32(kind: int, value: int) -> bytes:
    return attr(kind, struct.pack("=I", value))


def attr_nested(kind: int, value: bytes) -> bytes:
    return attr(kind | _NESTED, value)


def attributes(data: bytes, offset: int = 0) -> dict[int, bytes]:
    """Attributes by number (the nested flag dropped); of a repeated one the last."""
    found = {}
    end = len(data)
    while offset + 4 <= end:
        size, kind = struct.unpack_from("=HH", data, offset)
        if size < 4:
            break
        found[kind & 0x3FFF] = data[offset + 4 : offset + size]
        offset += (size + 3) & ~3
    return found


class NetlinkSocket:
    """A socket of one netlink family that lives in namespace ``name`` (None: this one)."""

    def __init__(self, family: int, name: str | None = None) -> None:
        self.socket = netns.socket_in(name, socket.AF_NETLINK, socket.SOCK_RAW, family)
        self.socket.bind((0, 0))
        self.socket.settimeout(_TIMEOUT_S)
        self.sequence = 0

    def __enter__(self) -> NetlinkSocket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def reserve_buffers(self, send_bytes: int) -> None:
        """Let one datagram of ``send_bytes`` through, beyond the system's usual limit."""
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_SNDBUFFORCE, max(1 << 20, send_bytes * 2))
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 20)

    def request(self, *messages: Message) -> None:
        """Send ``messages`` in order and wait until each is acknowledged.

        Raises:
            OSError: the first that failed, by its ``what``; the later ones were still tried.
        """
        failures: list[OSError] = []
        for chunk in _chunks(messages):
            failures += self._request_chunk(chunk)
        if failures:
            raise failures[0]

    def _request_chunk(self, messages: Sequence[Message]) -> list[OSError]:
        datagram = bytearray()
        waiting: dict[int, Message] = {}
        for message in messages:
            self.sequence += 1
            waiting[self.sequence] = message
            flags = message.flags | NLM_F_REQUEST | NLM_F_ACK
            size = HEADER.size + len(message.body)
            datagram += HEADER.pack(size, message.type, flags, self.sequence, 0)
            datagram += message.body + b"\0" * (-size % 4)
        self.socket.send(datagram)
        failures = []
        while waiting:
            for kind, sequence, body in self.receive():
                message_or_none = waiting.pop(sequence, None) if kind == _NLMSG_ERROR else None
                if message_or_none is None:
                    continue
                number = -int(struct.unpack_from("=i", body)[0])
                if number and number not in message_or_none.tolerate:
                    failures.append(
                        OSError(number, f"{message_or_none.what}: {os.strerror(number)}")
                    )
        return failures

    def receive(self) -> Iterator[tuple[int, int, bytes]]:
        """The messages of one datagram as (type, sequence, body)."""
        data = self.socket.recv(1 << 20)
        offset = 0
        while offset + HEADER.size <= len(data):
            size, kind, _, sequence, _ = HEADER.unpack_from(data, offset)
            yield kind, sequence, data[offset + HEADER.size : offset + size]
            offset += (size + 3) & ~3

    def ask(self, message: Message) -> bytes:
        """The body of the one answer to a question.

        Raises:
            OSError: the kernel's refusal.
        """
        self.sequence += 1
        size = HEADER.size + len(message.body)
        flags = message.flags | NLM_F_REQUEST
        self.socket.send(HEADER.pack(size, message.type, flags, self.sequence, 0) + message.body)
        while True:
            for kind, answered, body in self.receive():
                if answered != self.sequence:
                    continue
                if kind == _NLMSG_ERROR:
                    number = -int(struct.unpack_from("=i", body)[0])
                    raise OSError(number, f"{message.what}: {os.strerror(number)}")
                return body

    def dump(self, message: Message) -> list[bytes]:
        """The bodies of all answers to a dump request."""
        self.sequence += 1
        sequence = self.sequence
        size = HEADER.size + len(message.body)
        flags = message.flags | NLM_F_REQUEST | NLM_F_DUMP
        self.socket.send(HEADER.pack(size, message.type, flags, sequence, 0) + message.body)
        bodies: list[bytes] = []
        while True:
            for kind, answered, body in self.receive():
                if answered != sequence:
                    continue
                if kind == _NLMSG_DONE:
                    return bodies
                if kind == _NLMSG_ERROR:
                    number = -int(struct.unpack_from("=i", body)[0])
                    raise OSError(number, f"{message.what}: {os.strerror(number)}")
                bodies.append(body)


def _chunks(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Runs of messages that fit one datagram each (and whose answers fit the receive buffer)."""
    start = size = 0
    for at, message in enumerate(messages):
        if at > start and (size + len(message.body) > _DATAGRAM_BYTES or at - start >= 200):
            yield messages[start:at]
            start, size = at, 0
        size += HEADER.size + len(message.body)
    if start < len(messages):
        yield messages[start:]
