"""One client connection: writes a request, parses the answer, hands it on with back-pressure.

After a ``101`` :meth:`Connection.streams` turns it into two plain streams of bytes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import httptools

from muntin.kit import errors
from muntin.kit.http.handed_over import GOODBYE_S, HandedOver

HIGH_WATER_BYTES = 256 * 1024
"""Unread body bytes at which the peer is made to wait; arbitrary, a few TLS records."""
HEAD_BYTES = 1024 * 1024
"""The longest header of an answer, interim answers and trailers included; Go's client takes ten
times as much."""


class Connection(asyncio.Protocol):
    """One socket and at most one exchange on it at a time."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.transport: asyncio.Transport = None  # type: ignore[assignment]  # set on connect
        self.answered = False
        self.reusable = False
        self.upgraded = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._complete = False
        self._pushed = 0
        self._unparsed = 0  # bytes that came while no body did
        self._head = asyncio.Event()
        self._data = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._paused = False
        self._lost: Exception | None = None
        self._closed = asyncio.Event()
        self._method = "GET"
        self._parser: Any = None

    # -- the request -------------------------------------------------------------------------

    def begin(self, method: str) -> None:
        """Get ready for one exchange; the connection must be idle."""
        self._method = method
        self._parser = httptools.HttpResponseParser(self)
        self._start_answer()
        self.answered = self.reusable = self._complete = False
        self._chunks.clear()
        self._buffered = self._unparsed = 0
        self._head.clear()
        self._data.clear()

    def write(self, data: bytes) -> None:
        self.transport.write(data)

    async def drain(self) -> None:
        """Return once the peer has taken most of what was written.

        Raises:
            Unavailable: the connection is gone.
        """
        await self._writable.wait()
        if self._lost is not None:
            raise self._lost_error()

    @property
    def is_closed(self) -> bool:
        """Whether the socket is."""
        return self._closed.is_set()

    @property
    def is_open(self) -> bool:
        return self._lost is None and not self.transport.is_closing()

    # -- the answer --------------------------------------------------------------------------

    async def head(self) -> None:
        """Return when status and headers are there.

        Raises:
            Unavailable: the connection went away before.
        """
        await self._head.wait()
        if not self.status or (self._lost is not None and not self.answered):
            raise self._lost_error()

    async def chunk(self) -> bytes:
        """The next bytes of the body, ``b""`` at its end.

        Raises:
            Unavailable: the connection broke before the end.
        """
        while True:
            if self._chunks:
                return self._take_all() if len(self._chunks) > 1 else self._take()
            if self._complete:
                return b""
            if self._lost is not None:
                raise self._lost_error()
            self._data.clear()
            await self._data.wait()

    def take_leftover(self) -> bytes:
        """All bytes that arrived and were not read yet, and no more after them."""
        return self._take_all() if self._chunks else b""

    def streams(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Leave HTTP after a 101: raw streams, the bytes received so far first in the reader."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=HIGH_WATER_BYTES, loop=loop)
        protocol = HandedOver(reader, self._closed.set)
        leftover = self.take_leftover()
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)
        if leftover:
            reader.feed_data(leftover)
        if self._complete:
            reader.feed_eof()
        if self._lost is not None:
            protocol.connection_lost(self._lost)
        return reader, asyncio.StreamWriter(self.transport, protocol, reader, loop)

    def abort(self) -> None:
        self.transport.abort()

    async def wait_closed(self) -> None:
        await self._closed.wait()

    async def let_go(self) -> None:
        """Of an upgraded connection that its owner has closed: wait for the peer's goodbye, and
        only for it."""
        if not self.transport.is_closing():
            return
        try:
            async with asyncio.timeout(GOODBYE_S):
                await self._closed.wait()
        except TimeoutError:
            if not self.transport.get_write_buffer_size():
                self.transport.abort()
                await self._closed.wait()

    def _take(self) -> bytes:
        data = self._chunks.popleft()
        self._buffered -= len(data)
        self._resume()
        return data

    def _take_all(self) -> bytes:
        data = b"".join(self._chunks)
        self._chunks.clear()
        self._buffered = 0
        self._resume()
        return data

    def _resume(self) -> None:
        if self._paused and self._buffered < HIGH_WATER_BYTES:
            self._paused = False
            if not self.transport.is_closing():
                self.transport.resume_reading()

    def _lost_error(self) -> errors.Unavailable:
        reason = str(self._lost) if self._lost and str(self._lost) else "connection closed"
        error = errors.Unavailable(f"{self.peer}: {reason}")
        error.__cause__ = self._lost
        return error

    # -- asyncio.Protocol --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # a stream transport

    def data_received(self, data: bytes) -> None:
        if self.upgraded:
            self._push(data)
            return
        if self._parser is None or self._complete:
            self.transport.abort()  # bytes that nobody asked for
            return
        pushed = self._pushed
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as up:
            self.upgraded = True
            rest = data[up.args[0] :]
            if rest:
                self._push(rest)
        except httptools.HttpParserError as err:
            self._fail(errors.Unavailable(f"malformed HTTP response: {err}"))
            self.transport.abort()
        if self._pushed != pushed:
            self._unparsed = 0
        else:
            self._unparsed += len(data)
            if self._unparsed > HEAD_BYTES and not self._complete:
                text = f"the header of the answer has more than {HEAD_BYTES} bytes"
                self._fail(errors.Unavailable(text))
                self.transport.abort()

    def eof_received(self) -> bool:
        if self.upgraded:
            self._finish()
            return True  # the other direction stays open
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()
        if self.upgraded or (exc is None and self.answered and self._until_eof()):
            self._finish()
        self._fail(exc or ConnectionResetError("connection closed by the peer"))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # -- httptools callbacks -----------------------------------------------------------------

    def _start_answer(self) -> None:
        self.status = 0
        self.headers = {}
        self._repeated: dict[str, list[str]] = {}

    def on_message_begin(self) -> None:
        self._start_answer()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.answered:
            return  # a trailer field: the header was handed on already
        key = name.decode("latin-1").lower()
        text = value.decode("latin-1")
        if key in self.headers:  # joined at the end: many would be copied again and again
            self._repeated.setdefault(key, [self.headers[key]]).append(text)
        else:
            self.headers[key] = text

    def on_headers_complete(self) -> None:
        for key, texts in self._repeated.items():
            self.headers[key] = ", ".join(texts)
        self.status = self._parser.get_status_code()
        if self.status < 200 and self.status != 101:
            return  # an interim answer: the real one follows
        self.answered = True
        if self.status == 101:
            self.upgraded = True
        elif self._method == "HEAD":
            self._finish()  # lengths are named, no body follows; the parser cannot know
        self._head.set()

    def on_body(self, data: bytes) -> None:
        self._push(data)

    def on_message_complete(self) -> None:
        if self.status < 200 or self.upgraded:
            return
        self.reusable = self._parser.should_keep_alive()
        self._finish()

    def _until_eof(self) -> bool:
        return (
            "content-length" not in self.headers
            and "chunked" not in self.headers.get("transfer-encoding", "").lower()
        )

    def _push(self, data: bytes) -> None:
        self._pushed += 1
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered >= HIGH_WATER_BYTES and not self._paused:
            self._paused = True
            if not self.transport.is_closing():
                self.transport.pause_reading()
        self._data.set()

    def _finish(self) -> None:
        self._complete = True
        self._data.set()

    def _fail(self, exc: Exception) -> None:
        if self._lost is None:
            self._lost = exc
        self._head.set()
        self._data.set()
        self._writable.set()
