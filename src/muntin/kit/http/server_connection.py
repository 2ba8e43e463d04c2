"""One connection of the HTTP server: bytes in, requests queued, answers written in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, cast

import httptools

from muntin.kit.http.budget import STRANGER, Budget
from muntin.kit.http.handed_over import HandedOver
from muntin.kit.http.messages import (
    Answer,
    Gate,
    Handler,
    Passed,
    Push,
    Request,
    Response,
    Upgrade,
)
from muntin.kit.log import fields
from muntin.kit.numbers import int_or_none

log = logging.getLogger(__name__)

PIECE = 256 * 1024  # one write of a large body: bigger ones page-fault, smaller ones cost calls
MOST_FRAMING = 8  # bytes of chunk sizes and line ends for each byte of a body; chunks may be tiny
FREE = 16 * 1024
"""Bytes of a header or a body that are held for anybody, as the connection itself costs more."""
SHARED = 16 * 1024
"""Pieces of this size are handed to the transport as they are, not copied into a chunk."""
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BUSY = "the server holds too many bytes of requests now: try again later"
TOO_LARGE = "431 Request Header Fields Too Large"
REASONS = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes a client may send before it is refused, how long it may sit idle or take nothing of
    a whole answer, how long it may take for the handshake of TLS and to send one request, and how
    long what was written may wait for it when all is said. ``held`` and ``held_of_user`` are the
    bytes of bodies and headers above FREE that are held at once."""

    body: int = 3 * 1024 * 1024  # kube-apiserver's own limit of a request body
    head: int = 1024 * 1024 + 4096  # as Go's server reads, whose buffer is on top
    pipeline: int = 16
    idle_s: float = 300.0
    receive_s: float = 60.0
    handshake_s: float = 30.0
    linger_s: float = 3600.0  # a pager may hold the end of a log
    backlog: int = 1024
    connections: int = 100_000
    held: int = 128 * 1024 * 1024
    held_of_user: int = 48 * 1024 * 1024


OF_COMPONENT = Limits(
    body=64 * 1024, connections=1000, held=16 * 1024 * 1024, held_of_user=8 * 1024 * 1024
)
"""For servers of which some programs ask something now and then: kubelet, probes, metrics."""

Refusal = Callable[[int, str], Response]


def plain_refusal(status: int, text: str) -> Response:
    """The answer to what cannot be read as a request, in plain text."""
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return Response(status, headers, text.encode() + b"\n")


@dataclass(frozen=True, slots=True)
class _Queued:
    request: Request
    keep_alive: bool
    chunkable: bool
    held: tuple[str | None, int] | None  # of the budget


class Connection(asyncio.Protocol):
    """The asyncio protocol; also the parser callbacks of httptools (``on_*``)."""

    def __init__(
        self,
        handler: Handler,
        limits: Limits,
        refusal: Refusal,
        opened: Callable[[Connection], None],
        closed: Callable[[Connection], None],
        *,
        budget: Budget,
        gate: Gate | None = None,
    ) -> None:
        self._handler = handler
        self._limits = limits
        self._refusal = refusal
        self._budget = budget
        self._gate = gate
        self._passed: Passed | None = None
        self._gating: asyncio.Task[None] | None = None  # of the request that is being received
        self._held: tuple[str | None, int] | None = None  # of the budget, for that request
        self._length: int | None = 0  # of its body; None: chunked
        self._expects = False
        self._asking = False  # the gate, and nothing is read until it answers
        self._opened = opened
        self._closed = closed
        self._parser: Any = httptools.HttpRequestParser(self)
        self._requests: deque[_Queued] = deque()
        self._ready: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._finishing = False
        self._refused: Response | None = None
        self._gone = False
        self._streaming = False
        self._pushing = False
        self._raw: bytearray | None = None  # bytes after an upgrade request
        self._reading_paused = False
        self._url = b""
        self._headers: dict[str, str] = {}
        self._repeated: dict[str, list[str]] = {}
        self._body: list[bytes] = []
        self._body_size = 0
        self._head_size = 0  # of its lines that are here
        self._unfinished = 0  # bytes of a header or of framing whose end is not here
        self._heads = 0
        self._in_head = False
        self._receiving_since = 0.0  # 0 while no request is half here
        self._full_since = 0.0  # of the transport's buffer; only while it is not writable

    # -- transport ---------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # a stream's, as the server makes it
        self.transport.set_write_buffer_limits(high=PIECE)
        self._certificate: Mapping[str, Any] | None = transport.get_extra_info("peercert") or None
        tls = transport.get_extra_info("ssl_object") if self._certificate else None
        self._certificate_der: bytes = (tls.getpeercert(binary_form=True) or b"") if tls else b""
        peer = transport.get_extra_info("peername")
        self._remote = str(peer[0]) if isinstance(peer, tuple) and peer else ""
        self._loop = asyncio.get_running_loop()
        self._last_used = self._loop.time()
        self.closed = self._loop.create_future()
        """Done when the socket is."""
        self._idle = self._loop.call_later(self._check_interval_s, self._check_idle)
        self.task = self._loop.create_task(self._answer_all())
        self._opened(self)

    def data_received(self, data: bytes) -> None:
        if self._raw is not None:
            self._raw += data
            if len(self._raw) > PIECE:
                self._pause_reading()
            return
        if self._finishing:
            return
        heads, was_in_head, held = self._heads, self._in_head, self._body_size
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._raw = bytearray(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            if self._refused is None:
                self._refuse(400, f"malformed HTTP request: {error}")
        if heads == self._heads and self._receiving_since and was_in_head == self._in_head:
            self._unfinished += len(data) - (self._body_size - held)
            if self._unfinished > self._limits.head + MOST_FRAMING * self._body_size:
                self._refuse(431, TOO_LARGE)
        if self._receiving_since and self._refused is None:
            self._check_held(self._unfinished if heads == self._heads else len(data))

    def _check_held(self, unfinished: int) -> None:
        """Of a request that is not whole yet: hold no more of it than its sender may have."""
        if self._in_head:
            if unfinished + self._head_size > FREE and self._held is None:
                self._hold(STRANGER, self._limits.head)
        elif self._gating is None and self._gate is not None:
            if (self._length or self._body_size) > FREE:
                self._pause_reading()
                self._asking = True
                self._gating = self._loop.create_task(self._ask(self._gate))
        elif self._gate is None and self._held is None and self._body_size > FREE:
            self._hold(None, self._longest)

    @property
    def _longest(self) -> int:
        """Bytes that the body being received may have."""
        return self._limits.body if self._length is None else self._length

    def _hold(self, user: str | None, size: int) -> None:
        if self._budget.take(user, size):
            self._held = user, size
        else:
            self._refuse(429, BUSY)

    def _let_go(self, held: tuple[str | None, int] | None) -> None:
        if held is not None:
            self._budget.give_back(*held)

    async def _ask(self, gate: Gate) -> None:
        """Whether the rest of the body may come."""
        request = self._request(b"", complete=False)
        try:
            found = await gate(request)
        except Exception:
            log.exception("gate failed", **fields(method=request.method, path=request.path))
            found = Response(500, {"Content-Type": "text/plain"}, b"internal error\n")
        self._asking = False
        if self._gone:
            return
        if isinstance(found, Passed):
            self._passed = found
            self._hold(found.user, self._longest)
            if self._expects and self._refused is None:
                self.transport.write(CONTINUE)
        elif isinstance(found, Response) and isinstance(found.body, bytes):
            self._refuse_with(found)
        else:
            self._refuse(503, "the request was not complete")
        self._resume_reading()

    def eof_received(self) -> bool:
        """A client that only stopped sending still gets the answers that are due."""
        idle = self.is_idle and not self._requests
        if idle or self._streaming or self.transport.get_extra_info("ssl_object") is not None:
            return False
        self.finish_soon()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone = True
        self._has_closed()
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self.task.cancel()

    def _has_closed(self) -> None:
        self._idle.cancel()
        self._closed(self)
        self._forget()
        if not self.closed.done():
            self.closed.set_result(None)

    def _forget(self) -> None:
        """Leave nothing to the garbage collector, which comes seldom: the parser refers to us."""
        self._parser = None
        if self._gating is not None:
            self._gating.cancel()
            self._gating = None
        self._let_go(self._held)
        self._held = None
        for queued in self._requests:
            self._let_go(queued.held)
        self._requests.clear()
        self._url, self._headers, self._repeated, self._body = b"", {}, {}, []

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()
        self._full_since = self._loop.time()

    def resume_writing(self) -> None:
        if self._writable is not None:
            if not self._writable.done():
                self._writable.set_result(None)
            self._writable = None

    def _pause_reading(self) -> None:
        if not self._reading_paused:
            self._reading_paused = True
            self.transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._reading_paused and not self._gone and not self._asking:
            self._reading_paused = False
            self.transport.resume_reading()

    @property
    def _check_interval_s(self) -> float:
        return min(self._limits.idle_s, self._limits.receive_s) / 2

    @property
    def _is_stuck(self) -> bool:
        """Whether the client takes nothing of a whole answer; of a stream it may take a break."""
        return self._writable is not None and not self._streaming

    def _check_idle(self) -> None:
        """Close a connection that nobody uses, refuse a request that does not come to its end,
        and cut off who takes nothing of an answer."""
        now, limits = self._loop.time(), self._limits
        if self._receiving_since:
            if now - self._receiving_since >= limits.receive_s:
                self._refuse(408, "the request was not complete in time")
        elif self.is_idle and now - self._last_used >= limits.idle_s:
            self._close()
            return
        elif self._is_stuck and now - self._full_since >= limits.idle_s:
            self.abort()
            return
        self._idle = self._loop.call_later(self._check_interval_s, self._check_idle)

    # -- parser ------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._url, self._headers, self._body = b"", {}, []
        self._repeated = {}
        self._body_size = self._head_size = self._unfinished = 0
        self._heads += 1
        self._in_head = True
        self._passed = self._gating = self._held = None
        self._length, self._expects = 0, False
        self._receiving_since = self._loop.time()

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._head_size += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value) + 4  # the colon, a space, the line's end
        if self._head_size > self._limits.head:
            self._refuse(431, TOO_LARGE)
            return
        if not self._in_head:
            return  # a trailer field: it must not add to the header that authentication reads
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        if key in self._headers:  # joined at the end: many would be copied again and again
            self._repeated.setdefault(key, [self._headers[key]]).append(text)
        else:
            self._headers[key] = text

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._unfinished = 0
        for key, texts in self._repeated.items():
            self._headers[key] = ", ".join(texts)
        self._let_go(self._held)
        self._held = None
        chunked = "transfer-encoding" in self._headers
        self._length = None if chunked else int_or_none(self._headers.get("content-length")) or 0
        if self._length is not None and self._length > self._limits.body:
            self._refuse_large()
        elif self._headers.get("expect", "").lower() == "100-continue" and not self._requests:
            self._expects = True
            if self._gate is None or (self._length is not None and self._length <= FREE):
                self.transport.write(CONTINUE)

    def on_body(self, data: bytes) -> None:
        self._body_size += len(data)
        if self._body_size > self._limits.body:
            self._refuse_large()
        elif self._refused is None:
            self._body.append(data)

    def on_message_complete(self) -> None:
        self._receiving_since = 0.0
        if self._refused is not None:
            return
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        if self._held is None and len(body) > FREE:  # it came at once
            self._hold(None, len(body))
            if self._refused is not None:
                return
        request = self._request(body, complete=True)
        held, self._held, self._body = self._held, None, []
        chunkable = self._parser.get_http_version() != "1.0"
        keep_alive = chunkable and self._parser.should_keep_alive()
        self._requests.append(_Queued(request, keep_alive, chunkable, held))
        if len(self._requests) >= self._limits.pipeline or held is not None:
            self._pause_reading()
        self._wake()

    def _request(self, body: bytes, *, complete: bool) -> Request:
        """The request whose header is here."""
        path, _, query = self._url.decode("latin-1").partition("?")
        if not path.startswith("/"):  # absolute form, as proxies send it
            path = "/" + path.partition("://")[2].partition("/")[2]
        return Request(
            method=self._parser.get_method().decode("ascii"),
            path=path,
            query=query.partition("#")[0],
            headers=self._headers,
            body=body,
            peer_certificate=self._certificate,
            peer_certificate_der=self._certificate_der,
            remote=self._remote,
            upgrade=self._parser.should_upgrade(),
            complete=complete,
            known=self._passed.known if self._passed is not None else None,
        )

    def _refuse_large(self) -> None:
        self._refuse(413, f"limit is {self._limits.body}")

    def _refuse(self, status: int, text: str) -> None:
        """Answer what was asked before, then ``status``, then close: framing is lost from here."""
        self._refuse_with(self._refusal(status, text))

    def _refuse_with(self, answer: Response) -> None:
        if self._refused is None:
            self._refused = answer
            self._body = []
            self._let_go(self._held)
            self._held = None
            self.finish_soon()

    # -- answers -----------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """No request is being answered."""
        return self._ready is not None

    def _wake(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    def finish_soon(self) -> None:
        """Close after the answers that are due; a pushed body, which has no end, ends now."""
        self._finishing = True
        if self._pushing:
            self.task.cancel()
        self._wake()

    def abort(self) -> None:
        """Drop the connection now."""
        self._gone = True
        self.transport.abort()
        self.task.cancel()

    async def _answer_all(self) -> None:
        try:
            while not self._gone:
                if not self._requests:
                    if self._finishing:
                        break
                    self._ready = self._loop.create_future()
                    await self._ready
                    self._ready = None
                    continue
                queued = self._requests.popleft()
                if len(self._requests) < self._limits.pipeline and self._raw is None:
                    self._resume_reading()
                try:
                    if not await self._answer_one(queued):
                        break
                finally:
                    self._let_go(queued.held)
                del queued  # an idle connection holds no body
                self._last_used = self._loop.time()
            if self._refused is not None and not self._gone:
                self._forget()
                await self._refuse_now(self._refused)
        except asyncio.CancelledError:
            self.transport.abort()
        except Exception:
            log.exception("connection failed", **fields(remote=self._remote))
            self.transport.abort()
        finally:
            self._close()

    def _close(self) -> None:
        """Send what is left and TLS's goodbye; who does not take them is cut off in the end."""
        if not self.closed.done():
            self._idle.cancel()
            self._idle = self._loop.call_later(self._limits.linger_s, self.transport.abort)
        if not self.transport.is_closing():  # closed twice, asyncio's TLS can be aborted no more
            self.transport.close()

    async def _refuse_now(self, refusal: Response) -> None:
        """Send the refusal, then let the peer read it: closing on unread input would reset it."""
        assert isinstance(refusal.body, bytes)
        await self._write_whole(refusal, refusal.body, keep_alive=False)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        await asyncio.sleep(1.0)

    async def _answer_one(self, queued: _Queued) -> bool:
        """Answer one request; False when the connection is to be closed."""
        request = queued.request
        answer = await self._call(request)
        if isinstance(answer, Upgrade):
            if self._raw is not None:
                await self._hand_over(answer)
                return False
            answer = Response(400, {}, b"this request did not ask for an upgrade\n")
        keep_alive = queued.keep_alive and not self._finishing and not request.upgrade
        if isinstance(answer.body, bytes):
            body = b"" if request.method == "HEAD" else answer.body
            await self._write_whole(answer, body, keep_alive)
            return keep_alive
        framing = "Transfer-Encoding: chunked\r\n" if queued.chunkable else ""
        self.transport.write(self._head(answer, framing, keep_alive))
        if request.method != "HEAD":
            await self._write_stream(answer.body, queued.chunkable)
        return keep_alive

    async def _call(self, request: Request) -> Answer:
        try:
            return await self._handler(request)
        except Exception:
            log.exception("handler failed", **fields(method=request.method, path=request.path))
            return Response(500, {"Content-Type": "text/plain"}, b"internal error\n")

    def _head(self, answer: Response | Upgrade, framing: str, keep_alive: bool) -> bytes:
        status = answer.status if isinstance(answer, Response) else 101
        lines = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
        close = "" if keep_alive else "Connection: close\r\n"
        first = f"HTTP/1.1 {status} {REASONS.get(status, '')}\r\nDate: {_date()}\r\n"
        return f"{first}{lines}{framing}{close}\r\n".encode("latin-1", "replace")

    async def _write_whole(self, answer: Response, body: bytes, keep_alive: bool) -> None:
        bodiless = answer.status in (204, 304)
        size = len(answer.body) if isinstance(answer.body, bytes) else len(body)
        framing = "" if bodiless else f"Content-Length: {size}\r\n"
        head = self._head(answer, framing, keep_alive)
        if bodiless or not body:
            self.transport.write(head)
        elif len(body) <= PIECE:
            self.transport.write(head + body)
        else:
            self.transport.write(head)
            for start in range(0, len(body), PIECE):
                self.transport.write(body[start : start + PIECE])
                await self.drain()
        if self._writable is not None:
            await self._writable

    async def _write_stream(self, body: AsyncIterable[bytes] | Push, chunked: bool) -> None:
        writer = _Writer(self, chunked)
        self._streaming = True
        if isinstance(body, AsyncIterable):
            async for piece in body:
                writer.write(piece)
                await self.drain()
        else:
            await self._push(body, writer)
        self._streaming = False
        if chunked and not self._gone:
            self.transport.write(b"0\r\n\r\n")

    async def _push(self, body: Push, writer: _Writer) -> None:
        self._pushing = True
        try:
            await body(writer)
        except asyncio.CancelledError:
            if self._gone or not self._finishing:
                raise
            self.task.uncancel()  # by finish_soon: end the body as if it had ended itself
        finally:
            self._pushing = False

    async def drain(self) -> None:
        """Wait while the transport's buffer is full; always lets others run once."""
        if self._writable is not None:
            await self._writable
        else:
            await asyncio.sleep(0)

    async def _hand_over(self, upgrade: Upgrade) -> None:
        framing = f"Connection: Upgrade\r\nUpgrade: {upgrade.protocol}\r\n"
        self.transport.write(self._head(upgrade, framing, True))
        reader = asyncio.StreamReader(limit=PIECE, loop=self._loop)
        protocol = HandedOver(reader, self._has_closed)
        self._idle.cancel()
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)
        if self._raw:
            reader.feed_data(bytes(self._raw))
        self._resume_reading()
        writer = asyncio.StreamWriter(self.transport, protocol, reader, self._loop)
        try:
            await upgrade.run(reader, writer)
        finally:
            self._close()


class _Writer:
    """The BodyWriter of one response."""

    def __init__(self, connection: Connection, chunked: bool) -> None:
        self._connection = connection
        self._transport = connection.transport
        self._chunked = chunked

    def write(self, data: bytes) -> None:
        if not data or self._transport.is_closing():
            return
        if not self._chunked:
            self._transport.write(data)
        elif len(data) < SHARED:
            self._transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        else:  # many watchers may wait for the same bytes: each must not have a copy
            self._transport.writelines([b"%x\r\n" % len(data), data, b"\r\n"])

    async def drain(self) -> None:
        await self._connection.drain()

    @property
    def buffered(self) -> int:
        return self._transport.get_write_buffer_size()

    def abort(self) -> None:
        self._connection.abort()


_date_cache = (0, "")


def _date() -> str:
    global _date_cache
    now = int(time.time())
    if _date_cache[0] != now:
        _date_cache = (now, formatdate(now, usegmt=True))
    return _date_cache[1]
