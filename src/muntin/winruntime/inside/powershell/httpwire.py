"""HTTP/1.1 on a connected socket, the server's side: one request read, its body, no more."""

from __future__ import annotations

import socket
from typing import NamedTuple

HEAD_LIMIT = 32768
"""Bytes of request line and headers; http.sys takes 16 KiB by default and is often raised."""
BODY_LIMIT = 30_000_000
"""http.sys' usual limit of a request body."""
LINE_END = b"\r\n"


class BadRequest(Exception):
    """What came is no request; ``status`` and ``reason`` are the answer."""

    def __init__(self, status: int, reason: str) -> None:
        """As the status line has them."""
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Head(NamedTuple):
    """Request line and headers, names as sent."""

    method: str
    target: str
    version: str
    headers: list[tuple[str, str]]

    def get(self, name: str) -> str:
        """The header's value, several joined by commas, '' where there is none."""
        lower = name.lower()
        return ", ".join(value for key, value in self.headers if key.lower() == lower)


class Reader:
    """Buffered reading from one connection."""

    def __init__(self, sock: socket.socket) -> None:
        """``sock`` is connected; its timeout applies."""
        self.sock = sock
        self.buffer = b""

    def _more(self) -> bool:
        data = self.sock.recv(65536)
        self.buffer += data
        return bool(data)

    def head(self) -> Head | None:
        """The next request's head; None when the peer has closed.

        Raises:
            BadRequest: it is none, or too long.
        """
        while b"\r\n\r\n" not in self.buffer:
            if len(self.buffer) > HEAD_LIMIT:
                raise BadRequest(400, "Bad Request")
            if not self._more():
                return None
            self.buffer = self.buffer.lstrip(b"\r\n")
        raw, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if len(raw) > HEAD_LIMIT:
            raise BadRequest(400, "Bad Request")
        return _parse_head(raw.decode("latin-1"))

    def body(self, head: Head) -> bytes:
        """The request's body.

        Raises:
            BadRequest: framed wrongly, cut short, or too long.
        """
        if head.get("Transfer-Encoding").lower() == "chunked":
            return self._chunked()
        text = head.get("Content-Length")
        if not text:
            return b""
        if not text.isdigit():
            raise BadRequest(400, "Bad Request")
        return self._exactly(int(text))

    def _exactly(self, size: int) -> bytes:
        if size > BODY_LIMIT:
            raise BadRequest(413, "Request Entity Too Large")
        while len(self.buffer) < size:
            if not self._more():
                raise BadRequest(400, "Bad Request")
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def _line(self) -> bytes:
        while LINE_END not in self.buffer:
            if len(self.buffer) > HEAD_LIMIT or not self._more():
                raise BadRequest(400, "Bad Request")
        line, self.buffer = self.buffer.split(LINE_END, 1)
        return line

    def _chunked(self) -> bytes:
        body = b""
        while True:
            size = self._line().split(b";")[0].strip()
            try:
                length = int(size, 16)
            except ValueError:
                raise BadRequest(400, "Bad Request") from None
            if length == 0:
                while self._line():
                    pass
                return body
            body += self._exactly(length)
            if len(body) > BODY_LIMIT:
                raise BadRequest(413, "Request Entity Too Large")
            if self._line():
                raise BadRequest(400, "Bad Request")


def _parse_head(text: str) -> Head:
    first, *lines = text.split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or not parts[2].startswith("HTTP/"):
        raise BadRequest(400, "Bad Request")
    if parts[2] not in ("HTTP/1.0", "HTTP/1.1"):
        raise BadRequest(505, "HTTP Version Not Supported")
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequest(400, "Bad Request")
        headers.append((name, value.strip()))
    return Head(parts[0], parts[1], parts[2], headers)
