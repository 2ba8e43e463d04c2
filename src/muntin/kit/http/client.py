"""An HTTP/1.1 client: keep-alive per origin, whole or streamed answers, raw upgrades.

Give it absolute URLs; with ``unix_socket`` every URL is reached through that socket and its host
is only a header. An answer of any status is an answer; no answer is ``Unavailable`` or
``TimedOut``, with the operating system's error as its cause.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from muntin.kit import errors, urls
from muntin.kit.http.addresses import resolve
from muntin.kit.http.client_connection import Connection

IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
IDLE_PER_ORIGIN = 16
"""Idle connections kept for one origin; more are closed when their answer has been read."""

MOST_BYTES = 16 * 1024 * 1024
"""The longest body that ``request`` reads by default; arbitrary."""

Body = bytes | AsyncIterator[bytes]
Headers = Mapping[str, str | tuple[str, ...]]
"""A tuple is one header line for each of its values."""


class TooLong(errors.Unavailable):
    """An answer's body is longer than the caller reads."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A whole answer; header names are lower case, repeated ones joined with a comma."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class StreamedResponse:
    """An answer whose body is read as it comes; the peer waits while nobody reads."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


@dataclass(slots=True)
class Upgraded:
    """A switched connection: the answer's headers, and the raw bytes both ways.

    What the peer sent right after its headers is the first thing ``reader`` gives;
    ``writer.transport`` is there for one who wants to set a protocol of their own.
    """

    headers: Mapping[str, str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass(frozen=True, slots=True)
class _Origin:
    tls: bool
    host: str
    port: int

    @property
    def text(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


class HttpClient:
    """Connections to any number of origins, used by one event loop."""

    def __init__(
        self,
        *,
        tls: ssl.SSLContext | None = None,
        server_hostname: str = "",
        unix_socket: str = "",
        connect_timeout_s: float = 10.0,
        keep_alive: bool = True,
        resend: bool = False,
        guarded: bool = False,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """``resend``: requests may be sent twice whatever their method, so one that met a kept
        connection just being closed is sent again. ``guarded``: hosts are untrusted, so only
        addresses that ``addresses.is_global_unicast`` allows are dialled. ``most_bytes``: the
        longest body of a response that is not streamed."""
        self._tls = tls
        self._server_hostname = server_hostname
        self._unix_socket = unix_socket
        self._connect_timeout_s = connect_timeout_s
        self._keep_alive = keep_alive
        self._resend = resend
        self._guarded = guarded
        self._most_bytes = most_bytes
        self._idle: dict[_Origin, list[Connection]] = {}
        self._busy: set[Connection] = set()
        self._upgraded: set[Connection] = set()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Headers | None = None,
        body: Body = b"",
        timeout_s: float | None = None,
    ) -> HttpResponse:
        """The whole answer, within ``timeout_s`` from now.

        Raises:
            Invalid: ``url`` or a header cannot be sent.
            Unavailable: no connection, or it broke before the answer was whole.
            TooLong: the answer has more than ``most_bytes``.
            TimedOut: ``timeout_s`` passed.
        """
        try:
            async with asyncio.timeout(timeout_s):
                async with self.stream(method, url, headers=headers, body=body) as answer:
                    whole = await read_whole(answer.chunks, self._most_bytes)
                return HttpResponse(answer.status, answer.headers, whole)
        except TimeoutError as err:
            raise errors.TimedOut(f"{method} {url}: no answer within {timeout_s} s") from err

    @contextlib.asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Headers | None = None,
        body: Body = b"",
        timeout_s: float | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        """An answer to read piece by piece; ``timeout_s`` holds until its headers are there."""
        connection, origin = await self._exchange(method, url, headers, body, timeout_s)
        try:
            yield StreamedResponse(connection.status, connection.headers, _chunks(connection))
        finally:
            self._release(origin, connection)

    async def upgrade(
        self,
        method: str,
        url: str,
        *,
        headers: Headers,
        body: bytes = b"",
        timeout_s: float | None = None,
    ) -> Upgraded | HttpResponse:
        """Ask to switch protocols; ``headers`` hold Connection and Upgrade.

        Any other status than 101 is given back as an ordinary answer. The writer is the caller's
        to close.
        """
        connection, origin = await self._exchange(method, url, headers, body, timeout_s)
        if connection.status == 101:
            self._busy.discard(connection)
            self._upgraded = {known for known in self._upgraded if not known.is_closed}
            self._upgraded.add(connection)
            return Upgraded(connection.headers, *connection.streams())
        try:
            whole = await read_whole(_chunks(connection), self._most_bytes)
            return HttpResponse(connection.status, connection.headers, whole)
        finally:
            self._release(origin, connection)

    async def close(self) -> None:
        """Drop all connections, also those in use, but not upgraded ones, which are their owners'
        to close."""
        connections = [*self._busy, *(c for idle in self._idle.values() for c in idle)]
        self._idle.clear()
        self._busy.clear()
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.wait_closed()
        await asyncio.gather(*(connection.let_go() for connection in self._upgraded))

    async def _exchange(
        self,
        method: str,
        url: str,
        headers: Headers | None,
        body: Body,
        timeout_s: float | None,
    ) -> tuple[Connection, _Origin]:
        origin, target = _split(url)
        head = _request_head(method, target, origin, headers or {}, body)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._send(method, origin, head, body), origin
        except TimeoutError as err:
            raise errors.TimedOut(f"{method} {url}: no answer within {timeout_s} s") from err

    async def _send(self, method: str, origin: _Origin, head: bytes, body: Body) -> Connection:
        """Send the request; one that met a kept connection just being closed is sent anew."""
        while True:
            connection, kept = await self._acquire(origin)
            try:
                await _send_request(connection, method, head, body)
                return connection
            except errors.Unavailable:
                self._drop(connection)
                again = self._resend or method in IDEMPOTENT
                if not (kept and again and isinstance(body, bytes)):
                    raise
            except BaseException:
                self._drop(connection)
                raise

    async def _acquire(self, origin: _Origin) -> tuple[Connection, bool]:
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            if connection.is_open:
                self._busy.add(connection)
                return connection, True
        connection = await self._connect(origin)
        self._busy.add(connection)
        return connection, False

    async def _connect(self, origin: _Origin) -> Connection:
        peer = self._unix_socket or origin.text
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                if self._guarded and not self._unix_socket:
                    return await self._connect_guarded(origin)
                return await self._connect_to(origin, origin.host, origin.port)
        except TimeoutError as err:
            raise errors.Unavailable(
                f"{peer}: no connection within {self._connect_timeout_s} s"
            ) from err
        except (OSError, ValueError) as err:  # ValueError: a label that no name can have
            raise errors.Unavailable(f"{peer}: {err}") from err

    async def _connect_guarded(self, origin: _Origin) -> Connection:
        """Dial the addresses that were judged, one after another: a name asked for twice may
        resolve differently."""
        failure: OSError | None = None
        for _, address, port in await resolve(origin.host, origin.port):
            try:
                return await self._connect_to(origin, address, port)
            except OSError as err:
                failure = failure or err
        assert failure is not None
        raise failure

    async def _connect_to(self, origin: _Origin, host: str, port: int) -> Connection:
        loop = asyncio.get_running_loop()
        connection = Connection(self._unix_socket or origin.text)
        tls = (self._tls or ssl.create_default_context()) if origin.tls else None
        name = (self._server_hostname or origin.host) if origin.tls else None
        if self._unix_socket:
            await loop.create_unix_connection(
                lambda: connection, self._unix_socket, ssl=tls, server_hostname=name
            )
        else:
            await loop.create_connection(
                lambda: connection, host, port, ssl=tls, server_hostname=name
            )
        return connection

    def _release(self, origin: _Origin, connection: Connection) -> None:
        """Keep a connection whose answer was read to its end, close any other."""
        idle = self._idle.setdefault(origin, [])
        if (
            self._keep_alive
            and connection.reusable
            and connection.is_open
            and connection in self._busy
            and len(idle) < IDLE_PER_ORIGIN
        ):
            self._busy.discard(connection)
            connection.take_leftover()
            idle.append(connection)
        else:
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._busy.discard(connection)
        connection.abort()


async def _send_request(connection: Connection, method: str, head: bytes, body: Body) -> None:
    connection.begin(method)
    if isinstance(body, bytes):
        connection.write(head + body if body else head)
    else:
        connection.write(head)
        async for part in body:
            if connection.answered:
                break  # refused before it was all sent
            if part:
                connection.write(b"%x\r\n%b\r\n" % (len(part), part))
                await connection.drain()
        else:
            connection.write(b"0\r\n\r\n")
    await connection.head()


async def _chunks(connection: Connection) -> AsyncIterator[bytes]:
    while data := await connection.chunk():
        yield data


async def read_whole(chunks: AsyncIterator[bytes], most_bytes: int) -> bytes:
    """All of a body.

    Raises:
        TooLong: it has more than ``most_bytes``.
    """
    parts, size = [], 0
    async for part in chunks:
        size += len(part)
        if size > most_bytes:
            raise TooLong(f"the response has more than {most_bytes} bytes")
        parts.append(part)
    return b"".join(parts)


async def paced(chunks: AsyncIterator[bytes], stall_s: float) -> AsyncIterator[bytes]:
    """``chunks``, each of which comes within ``stall_s`` of the one before.

    Raises:
        TimedOut: one does not.
    """
    while True:
        try:
            async with asyncio.timeout(stall_s):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        except TimeoutError as err:
            raise errors.TimedOut(f"the response stalled for {stall_s} s") from err
        yield chunk


def _split(url: str) -> tuple[_Origin, str]:
    parts = urls.split(url)
    port = parts.port
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise errors.Invalid(f"{url!r} is not an absolute http or https URL")
    tls = parts.scheme == "https"
    target = parts.path or "/"
    if parts.query:
        target = f"{target}?{parts.query}"
    return _Origin(tls, parts.hostname, (443 if tls else 80) if port is None else port), target


def _request_head(method: str, target: str, origin: _Origin, headers: Headers, body: Body) -> bytes:
    names = {name.lower() for name in headers}
    lines = [f"{method} {target} HTTP/1.1"]
    if "host" not in names:
        lines.append(f"Host: {origin.text}")
    for name, value in headers.items():
        values = (value,) if isinstance(value, str) else value
        lines += [f"{name}: {text}" for text in values]
    if not isinstance(body, bytes):
        lines.append("Transfer-Encoding: chunked")
    elif "content-length" not in names and (body or method in ("POST", "PUT", "PATCH")):
        lines.append(f"Content-Length: {len(body)}")
    if any("\r" in line or "\n" in line for line in lines):
        raise errors.Invalid(f"{method} {target!r}: the target or a header holds a line break")
    try:
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    except UnicodeEncodeError as err:
        character = err.object[err.start]
        text = f"{method} {target!r}: {character!r} in the target or a header is not Latin-1"
        raise errors.Invalid(text) from err
