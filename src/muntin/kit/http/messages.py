"""What a handler of :mod:`muntin.kit.http.server` gets and returns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol


@dataclass(slots=True)
class Request:
    """One whole request.

    ``path`` is still percent-encoded; ``query`` lacks the ``?``. Header names are lower case and
    the values of a repeated header are joined with ``", "``. ``peer_certificate`` is what
    ``ssl.SSLSocket.getpeercert`` gives for a verified client certificate, else None;
    ``peer_certificate_der`` is the same certificate's bytes.
    ``remote`` is the peer's address, empty for a Unix socket. Without ``complete`` only the header
    is here, and a :data:`Gate` is asked; ``known`` is what it found out about the sender.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer_certificate: Mapping[str, Any] | None = None
    peer_certificate_der: bytes = b""
    remote: str = ""
    upgrade: bool = False
    complete: bool = True
    known: Any = None


class BodyWriter(Protocol):
    """The open end of a response body, for a body that is pushed rather than pulled."""

    def write(self, data: bytes) -> None:
        """Send ``data`` soon; never blocks. Writing after the client left does nothing."""

    async def drain(self) -> None:
        """Return when the peer has taken enough for more to be written."""

    @property
    def buffered(self) -> int:
        """Bytes written and not yet taken by the kernel."""

    def abort(self) -> None:
        """Drop the connection now: the body ends broken."""


Push = Callable[[BodyWriter], Awaitable[None]]


@dataclass(slots=True)
class Response:
    """An answer. ``body`` is whole bytes, pieces to pull with back-pressure, or a :data:`Push`.

    A Push is awaited with the writer, and the body ends when it returns; it is cancelled when the
    client goes. Content-Length, Transfer-Encoding, Date and Connection are the server's to set.
    """

    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | AsyncIterable[bytes] | Push = b""


Duplex = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Upgrade:
    """Answer 101 and leave HTTP: ``run`` gets the connection, with the bytes read so far in it.

    ``protocol`` is the Upgrade header of the answer. The connection is closed when ``run`` returns.
    ``writer.transport`` is the raw transport for one who wants to set a protocol of their own.
    """

    protocol: str
    run: Duplex
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = Response | Upgrade
Handler = Callable[[Request], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Passed:
    """The body of a request may come: on whose budget it is, and what a handler need not find out
    again (:attr:`Request.known`)."""

    user: str
    known: Any = None


Gate = Callable[[Request], Awaitable[Passed | Answer]]
"""Called with a header before its long body is received; an Answer refuses the request."""
