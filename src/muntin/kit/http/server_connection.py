"""One connection of the HTTP server: bytes in, requests queued, answers written in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterable, Callable
from email.utils import formatdate
from http import HTTPStatus
from typing import cast

from muntin.kit.http.budget import Budget
from muntin.kit.http.handed_over import HandedOver
from muntin.kit.http.limits import Limits, Refusal
from muntin.kit.http.messages import Answer, Gate, Handler, Push, Request, Response, Upgrade
from muntin.kit.http.server_receiving import Queued, Receiver
from muntin.kit.log import fields

log = logging.getLogger(__name__)

PIECE = 256 * 1024  # one write of a large body: bigger ones page-fault, smaller ones cost calls
SHARED = 16 * 1024
"""Pieces of this size that must wait for the client are not copied into a chunk."""
REASONS = {status.value: status.phrase for status in HTTPStatus}


class Connection(Receiver):
    """The asyncio protocol."""

    def __init__(
        self,
        handler: Handler,
        limits: Limits,
        refusal: Refusal,
        opened: Callable[[Connection], None],
        closed: Callable[[Connection], None],
        *,
        budget: Budget | None = None,
        gate: Gate | None = None,
    ) -> None:
        budget = budget or Budget(limits.held, limits.held_of_user)
        super().__init__(limits, refusal, budget, gate)
        self._handler = handler
        self._opened = opened
        self._closed = closed
        self._ready: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._streaming = False
        self._pushing = False
        self._full_since = 0.0  # of the transport's buffer; only while it is not writable

    # -- transport ---------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # a stream's, as the server makes it
        self.transport.set_write_buffer_limits(high=PIECE)
        self._certificate = transport.get_extra_info("peercert") or None
        tls = transport.get_extra_info("ssl_object") if self._certificate else None
        self._certificate_der = (tls.getpeercert(binary_form=True) or b"") if tls else b""
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
        if not self._finishing:
            self._feed(data)

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

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()
        self._full_since = self._loop.time()

    def resume_writing(self) -> None:
        if self._writable is not None:
            if not self._writable.done():
                self._writable.set_result(None)
            self._writable = None

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

    async def _answer_one(self, queued: Queued) -> bool:
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
        elif len(data) < SHARED or not self.buffered:
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
