"""A client that costs little beside the server: TLS over plain sockets, and epoll for many.

Both servers are asked by the same code in the same process, so what it costs is the same for both.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

JSON = "application/json"
_RECORD = 16 * 1024  # the most that TLS sends and gives at once
_READ = 4 * _RECORD  # memory for much more is dear to get
_MARK = b'"mark":"'
_LENGTH = b"\r\ncontent-length:"


@dataclass(frozen=True, slots=True)
class Access:
    """Where a server listens, and as whom to speak to it: files of a certificate and its key."""

    port: int
    ca: Path
    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.ca))
        context.load_cert_chain(self.certificate, self.key)
        context.set_alpn_protocols(["http/1.1"])
        return context


def request(method: str, path: str, body: bytes = b"", kind: str = JSON) -> bytes:
    """The bytes of one request."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {JSON}\r\nUser-Agent: bench\r\n"
    if body:
        head += f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes


class Channel:
    """One connection, one request at a time."""

    def __init__(self, access: Access, context: ssl.SSLContext | None = None) -> None:
        raw = socket.create_connection(("127.0.0.1", access.port))
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = context or access.context()
        self.socket = context.wrap_socket(raw, server_hostname="localhost")
        self._buffer = bytearray(_READ)  # grows to the largest answer and stays: memory is dear
        self._view = memoryview(self._buffer)
        self._have = 0
        self._wanted = -1  # bytes of the whole answer; -1: not known yet, 0: chunked
        self._body = 0  # where it begins

    def call(self, data: bytes) -> Answer:
        """Send a request and wait for the whole answer."""
        self.send(data)
        while (found := self.receive()) is None:
            pass
        return found

    def send(self, data: bytes) -> None:
        """Send a request; one that fits into a record of TLS goes at once."""
        if len(data) <= _RECORD:
            self.socket.send(data)
        else:
            self.socket.sendall(data)

    def drain(self, data: bytes) -> int:
        """The status of an answer that is read to its end and not kept, however large."""
        self.send(data)
        while self._wanted < 0:
            if (found := self.receive()) is not None:
                return found.status
        read, last = self._have, bytes(self._buffer[: self._have][-5:])
        room = self._view[16:]  # the status stays
        while read < self._wanted or not (self._wanted or last == b"0\r\n\r\n"):
            count = self.socket.recv_into(room)
            if not count:
                raise ConnectionError("the server has closed the connection")
            read += count
            last = (last + bytes(room[:count][-5:]))[-5:]
        room.release()
        self._have, self._wanted = 0, -1
        return int(self._buffer[9:12])

    def receive(self) -> Answer | None:
        """Read once; the answer if it is all there now."""
        have = self._have
        read = self.socket.recv_into(self._view[have:] if have else self._view)
        if not read:
            raise ConnectionError("the server has closed the connection")
        have = self._have = have + read
        if self._wanted < 0:
            self._read_head()
        if have >= self._wanted > 0:
            body = bytes(self._view[self._body : have])
        elif not self._wanted and self._buffer.endswith(b"0\r\n\r\n", 0, have):
            pieces = _chunks(self._buffer, self._body)
            body = b"".join([self._view[begin:end] for begin, end in pieces])
        else:
            self._make_room()
            return None
        self._have, self._wanted = 0, -1
        return Answer(int(self._buffer[9:12]), body)

    def _make_room(self) -> None:
        if len(self._buffer) - self._have < _READ:
            self._view.release()
            self._buffer += bytes(len(self._buffer))
            self._view = memoryview(self._buffer)

    def _read_head(self) -> None:
        end = self._buffer.find(b"\r\n\r\n", 0, self._have)
        if end < 0:
            return
        head = self._buffer[:end].lower()
        _, found, rest = head.partition(_LENGTH)
        self._body = end + 4
        self._wanted = end + 4 + int(rest.partition(b"\r")[0]) if found else 0

    def close(self) -> None:
        self.socket.close()


def _chunks(data: bytearray, at: int) -> Iterator[tuple[int, int]]:
    """Where the chunks of a body that begins at ``at`` begin and end."""
    while True:
        end = data.index(b"\r\n", at)
        size = int(data[at:end], 16)
        if not size:
            return
        yield end + 2, end + 2 + size
        at = end + 4 + size


class Pool:
    """Requests over several connections at once."""

    def __init__(self, access: Access, connections: int) -> None:
        context = access.context()
        self._channels = {}
        self._poll = select.epoll()
        for _ in range(connections):
            channel = Channel(access, context)
            channel.socket.setblocking(False)
            self._channels[channel.socket.fileno()] = channel
            self._poll.register(channel.socket, select.EPOLLIN)

    def send(self, requests: Sequence[bytes]) -> list[float]:
        """Send all; the seconds that each took. Any answer but a success is an error."""
        todo, taken = iter(requests), []
        began: dict[int, float] = {}
        for number, channel in self._channels.items():
            self._start(number, channel, todo, began)
        while began:
            for number, _ in self._poll.poll():
                channel = self._channels[number]
                answer = self._read(channel)
                if answer is None:
                    continue
                if answer.status >= 300:
                    raise RuntimeError(f"{answer.status} {answer.body[:300]!r}")
                taken.append(time.perf_counter() - began.pop(number))
                self._start(number, channel, todo, began)
        return taken

    def _start(
        self, number: int, channel: Channel, todo: Iterator[bytes], began: dict[int, float]
    ) -> None:
        data = next(todo, None)
        if data is not None:
            began[number] = time.perf_counter()
            channel.socket.send(data)  # a few kilobytes: the socket takes them at once

    def _read(self, channel: Channel) -> Answer | None:
        """What is there, if it is the rest of an answer; of more epoll tells again."""
        try:
            return channel.receive()
        except ssl.SSLWantReadError:
            return None

    def close(self) -> None:
        self._poll.close()
        for channel in self._channels.values():
            channel.close()


class Watchers:
    """Many watches of one collection, whose objects carry a growing number: ``"mark": "7"``."""

    def __init__(self, access: Access, path: str, count: int) -> None:
        context = access.context()
        self._poll = select.epoll()
        self._sockets: dict[int, ssl.SSLSocket] = {}
        self._seen: dict[int, int] = {}
        self._tails: dict[int, bytes] = {}
        for _ in range(count):
            channel = Channel(access, context)
            channel.socket.sendall(request("GET", path))
            self._add(channel)
        self._writer = Channel(access, context)

    def _add(self, channel: Channel) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += channel.socket.recv(_READ)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"watch: {head[:300]!r}")
        channel.socket.setblocking(False)
        number = channel.socket.fileno()
        self._sockets[number] = channel.socket
        self._seen[number], self._tails[number] = 0, b""
        self._poll.register(number, select.EPOLLIN)

    def change(self, requests: Sequence[bytes], last: int) -> float:
        """Send ``requests`` one after the other; the seconds until all have seen mark ``last``."""
        writer, todo = self._writer.socket, iter(requests)
        writer.setblocking(False)
        self._poll.register(writer, select.EPOLLIN)
        began = time.perf_counter()
        writer.send(next(todo))
        left = len(self._sockets)
        answers = 0
        while left or answers < len(requests):
            for number, _ in self._poll.poll():
                if number != writer.fileno():
                    left -= self._read(number) >= last
                    continue
                answers += 1
                self._take_answer()
                if (data := next(todo, None)) is not None:
                    writer.send(data)
        self._poll.unregister(writer)
        writer.setblocking(True)
        return time.perf_counter() - began

    def _take_answer(self) -> None:
        answer = None
        while answer is None:
            try:
                answer = self._writer.receive()
            except ssl.SSLWantReadError:
                self._poll.poll(0.001)
        if answer.status >= 300:
            raise RuntimeError(f"{answer.status} {answer.body[:300]!r}")

    def _read(self, number: int) -> int:
        """The newest mark in what has come, 0 if it was there before."""
        try:
            data = self._sockets[number].recv(_READ)
        except ssl.SSLWantReadError:
            return 0
        if not data:
            raise ConnectionError("a watch has ended")
        text = self._tails[number] + data
        self._tails[number] = text[-24:]
        at = text.rfind(_MARK) + len(_MARK)
        end = text.find(b'"', at)
        if at < len(_MARK) or end < 0:  # none, or its end is to come
            return 0
        newest = int(text[at:end])
        if newest <= self._seen[number]:
            return 0
        self._seen[number] = newest
        return newest

    def close(self) -> None:
        self._poll.close()
        self._writer.close()
        for sock in self._sockets.values():
            sock.close()
