"""The receiving half of a server's connection: bytes to whole requests, within limits.

A long body is received only when the gate lets its sender pass, and as far as the budget goes.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httptools

from muntin.kit.http.budget import STRANGER, Budget
from muntin.kit.http.limits import FREE, Limits, Refusal
from muntin.kit.http.messages import Gate, Passed, Request, Response
from muntin.kit.log import fields
from muntin.kit.numbers import int_or_none

log = logging.getLogger(__name__)

MOST_FRAMING = 8  # bytes of chunk sizes and line ends for each byte of a body; chunks may be tiny
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BUSY = "the server's buffers for requests are full: try again later"
TOO_LARGE = "431 Request Header Fields Too Large"


@dataclass(frozen=True, slots=True)
class Queued:
    request: Request
    keep_alive: bool
    chunkable: bool
    held: tuple[str | None, int] | None  # of the budget


class Receiver(asyncio.Protocol):
    """Queues requests; also the parser callbacks of httptools (``on_*``)."""

    transport: asyncio.Transport
    _loop: asyncio.AbstractEventLoop
    _certificate: Mapping[str, Any] | None
    _certificate_der: bytes
    _remote: str

    def __init__(self, limits: Limits, refusal: Refusal, budget: Budget, gate: Gate | None) -> None:
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
        self._parser: Any = httptools.HttpRequestParser(self)
        self._requests: deque[Queued] = deque()
        self._finishing = False
        self._refused: Response | None = None
        self._gone = False
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

    @abstractmethod
    def _wake(self) -> None:
        """A request is queued."""

    @abstractmethod
    def finish_soon(self) -> None:
        """Close after the answers that are due."""

    def _feed(self, data: bytes) -> None:
        """Parse ``data``, and hold no more than is allowed."""
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
        """Limit the buffered bytes of an incomplete request to its sender's share."""
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
        """Call the gate, which decides whether the rest of the body is received."""
        request = self._request(b"", complete=False)
        try:
            verdict = await gate(request)
        except Exception:
            log.exception("gate failed", **fields(method=request.method, path=request.path))
            verdict = Response(500, {"Content-Type": "text/plain"}, b"internal error\n")
        self._asking = False
        if self._gone:
            return
        if isinstance(verdict, Passed):
            self._passed = verdict
            self._hold(verdict.user, self._longest)
            if self._expects and self._refused is None:
                self.transport.write(CONTINUE)
        elif isinstance(verdict, Response) and isinstance(verdict.body, bytes):
            self._refuse_with(verdict)
        else:
            self._refuse(503, "the request was not complete")
        self._resume_reading()

    def _forget(self) -> None:
        """Break the reference cycle with the parser, as garbage collection runs seldom."""
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

    def _pause_reading(self) -> None:
        if not self._reading_paused:
            self._reading_paused = True
            self.transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._reading_paused and not self._gone and not self._asking:
            self._reading_paused = False
            self.transport.resume_reading()

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
        self._requests.append(Queued(request, keep_alive, chunkable, held))
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
        """Answer earlier requests, then send ``status``, then close: framing is lost from here."""
        self._refuse_with(self._refusal(status, text))

    def _refuse_with(self, answer: Response) -> None:
        if self._refused is None:
            self._refused = answer
            self._body = []
            self._let_go(self._held)
            self._held = None
            self.finish_soon()
