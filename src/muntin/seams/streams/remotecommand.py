"""Exec and attach as a server speaks them, whichever carrier the client chose.

The carriers differ, the session does not: a :class:`Session` has stdin, terminal sizes, stdout,
stderr and a final Status. WebSocket: one byte of channel before each message (0 stdin, 1 stdout,
2 stderr, 3 status, 4 resize; in v5 also 255, then the channel that the client closes). Before v4
the status is an error's plain text, or nothing. SPDY: one stream each, named by the header
``streamtype``.
Sources: kubernetes v1.34 staging/src/k8s.io/apimachinery/pkg/util/remotecommand/constants.go,
staging/src/k8s.io/kubelet/pkg/cri/streaming/remotecommand/websocket.go.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from muntin.kit import depth
from muntin.kit.errors import Invalid, Unavailable
from muntin.seams.streams.channels import Channels, choose
from muntin.seams.streams.duplex import Duplex
from muntin.seams.streams.spdy import SpdyConnection, SpdyStream
from muntin.seams.streams.websocket import WebSocket, accept_headers, offered

STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
TRANSLATED = "v5.channel.k8s.io"
"""The protocol that API servers translate, where older ones are passed on to kubelets."""
WEBSOCKET_PROTOCOLS = (
    TRANSLATED,
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "channel.k8s.io",
    "base64.channel.k8s.io",
    "",
)
SPDY_PROTOCOLS = ("v4.channel.k8s.io", "v3.channel.k8s.io")
STREAM_SETUP_S = 30.0
"""How long a SPDY client may take to open its streams, as upstream's streaming server waits."""

SUCCESS: dict[str, Any] = {"metadata": {}, "status": "Success"}


@dataclass(frozen=True, slots=True)
class Options:
    """Which streams the client asked for; with ``tty`` there is no stderr of its own."""

    stdin: bool = False
    stdout: bool = False
    stderr: bool = False
    tty: bool = False


class Session(Protocol):
    """One exec or attach, as the process' side sees it."""

    def stdin(self) -> AsyncIterator[bytes]:
        """What the user types, until its end."""

    def sizes(self) -> AsyncIterator[tuple[int, int]]:
        """Sizes of the user's terminal as (columns, rows)."""

    async def stdout(self, data: bytes) -> None:
        """Show ``data``; raises Unavailable when the user is gone."""

    async def stderr(self, data: bytes) -> None:
        """Show ``data`` as error output; raises Unavailable when the user is gone."""

    async def finish(self, status: Mapping[str, Any]) -> None:
        """Send the final metav1.Status, :func:`exit_status` or an error's, and end."""


Handler = Callable[[Session], Awaitable[None]]


def exit_status(code: int) -> dict[str, Any]:
    """The Status of a command that ended with ``code``."""
    if code == 0:
        return SUCCESS
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def error_status(message: str) -> dict[str, Any]:
    """The Status of a command that could not be run."""
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "InternalError",
        "message": message,
        "code": 500,
        "details": {"causes": [{"message": message}]},
    }


def parse_size(data: bytes) -> tuple[int, int] | None:
    """``{"Width": 80, "Height": 24}`` as (80, 24); None if it is not one."""
    try:
        size = depth.loads(data)
        width, height = int(size["Width"]), int(size["Height"])
    except (ValueError, KeyError, TypeError, OverflowError, Invalid):
        return None
    return (width, height) if 0 <= width < 2**16 and 0 <= height < 2**16 else None


@dataclass(frozen=True, slots=True)
class Accepted:
    """How to answer an exec or attach request: the 101's headers, then ``serve`` the session."""

    protocol: str
    headers: Mapping[str, str]
    serve: Callable[[Duplex, Handler], Awaitable[None]]


def accept(
    headers: Mapping[str, str],
    options: Options,
    protocols: Sequence[str] = WEBSOCKET_PROTOCOLS,
) -> Accepted:
    """Choose the carrier that the request's ``headers`` (lower-case names) ask for.

    ``protocols`` are what is spoken over a WebSocket.

    Raises:
        Invalid: no upgrade, or no protocol that we speak.
    """
    upgrade = headers.get("upgrade", "").lower()
    if upgrade == "websocket":
        protocol = choose(headers, protocols)
        if protocol is None:
            raise Invalid(
                f"no WebSocket subprotocol in {offered(headers)}: "
                f"offer {' or '.join(protocols[:2])}"
            )

        async def serve_ws(duplex: Duplex, handler: Handler) -> None:
            await _serve_websocket(duplex, handler, options, protocol)

        return Accepted("websocket", accept_headers(headers, protocol), serve_ws)
    if upgrade == "spdy/3.1":
        names = [part.strip() for part in headers.get("x-stream-protocol-version", "").split(",")]
        chosen = next((name for name in SPDY_PROTOCOLS if name in names), None)
        if chosen is None:
            raise Invalid(f"no stream protocol in {names}: offer {' or '.join(SPDY_PROTOCOLS)}")

        async def serve(duplex: Duplex, handler: Handler) -> None:
            await _serve_spdy(duplex, handler, options)

        return Accepted("SPDY/3.1", {"X-Stream-Protocol-Version": chosen}, serve)
    raise Invalid("exec and attach need an upgrade to websocket or SPDY/3.1")


class _WebSocketSession:
    def __init__(self, channels: Channels, protocol: str) -> None:
        self._channels = channels
        self._says_status = protocol.startswith("v")
        self._stdin: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=16)
        self._sizes: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()

    async def receive(self) -> None:
        """Sort the client's messages until it is gone."""
        try:
            while (message := await self._channels.receive()) is not None:
                channel, data = message
                if channel == STDIN and data:
                    await self._stdin.put(data)
                elif channel == RESIZE and (size := parse_size(data)):
                    self._sizes.put_nowait(size)
                elif (channel, data[:1]) == (CLOSE, bytes((STDIN,))):
                    await self._stdin.put(None)
        finally:
            self._sizes.put_nowait(None)
        await self._stdin.put(None)

    async def stdin(self) -> AsyncIterator[bytes]:
        while (data := await self._stdin.get()) is not None:
            yield data

    async def sizes(self) -> AsyncIterator[tuple[int, int]]:
        while (size := await self._sizes.get()) is not None:
            yield size

    async def stdout(self, data: bytes) -> None:
        await self._channels.send(STDOUT, data)

    async def stderr(self, data: bytes) -> None:
        await self._channels.send(STDERR, data)

    async def finish(self, status: Mapping[str, Any]) -> None:
        text = ""
        if self._says_status:
            text = json.dumps(status)
        elif status.get("status") != "Success":
            text = str(status.get("message", ""))
        self._channels.close(STATUS, text.encode())


async def _serve_websocket(
    duplex: Duplex, handler: Handler, options: Options, protocol: str
) -> None:
    channels = Channels(WebSocket(duplex), protocol)
    session = _WebSocketSession(channels, protocol)
    first = STDOUT if options.stdout else STDERR if options.stderr else STATUS
    await channels.send(first, b"")  # clients wait for a first, empty message
    await _run(session.receive(), handler, session)


class _SpdySession:
    def __init__(self, streams: Mapping[str, SpdyStream]) -> None:
        self._streams = streams

    async def stdin(self) -> AsyncIterator[bytes]:
        stream = self._streams.get("stdin")
        while stream is not None and (data := await stream.read()):
            yield data

    async def sizes(self) -> AsyncIterator[tuple[int, int]]:
        stream = self._streams.get("resize")
        decoder, text = json.JSONDecoder(), ""
        while stream is not None and (data := await stream.read()):
            text += data.decode("utf-8", "replace")
            while text := text.lstrip():
                try:
                    _, end = decoder.raw_decode(text)
                except ValueError:
                    break  # the rest of it is still to come
                if size := parse_size(text[:end].encode()):
                    yield size
                text = text[end:]

    async def stdout(self, data: bytes) -> None:
        await self._write("stdout", data)

    async def stderr(self, data: bytes) -> None:
        await self._write("stderr", data)

    async def _write(self, name: str, data: bytes) -> None:
        if stream := self._streams.get(name):
            await stream.write(data)

    async def finish(self, status: Mapping[str, Any]) -> None:
        await self._write("error", json.dumps(status).encode())
        for name in ("stdout", "stderr", "error"):
            if stream := self._streams.get(name):
                await stream.close_write()


async def _serve_spdy(duplex: Duplex, handler: Handler, options: Options) -> None:
    connection = SpdyConnection(duplex)

    async def handle() -> None:
        streams = await _expected_streams(connection, options)
        if streams is not None:
            await handler(_SpdySession(streams))

    runner = asyncio.ensure_future(connection.run())
    worker = asyncio.ensure_future(handle())
    try:
        await asyncio.wait({runner, worker}, return_when=asyncio.FIRST_COMPLETED)
        if worker.done():
            await worker
            await _until(connection.closed, timeout_s=2.0)  # the client hangs up when it has read
    finally:
        await connection.close()
        for task in (worker, runner):
            task.cancel()
        await asyncio.gather(worker, runner, return_exceptions=True)


async def _expected_streams(
    connection: SpdyConnection, options: Options
) -> dict[str, SpdyStream] | None:
    wanted = {"error"}
    wanted |= {name for name in ("stdin", "stdout") if getattr(options, name)}
    if options.stderr and not options.tty:
        wanted.add("stderr")
    if options.tty:
        wanted.add("resize")
    streams: dict[str, SpdyStream] = {}
    try:
        async with asyncio.timeout(STREAM_SETUP_S):
            async for stream in connection.accept():
                streams[stream.headers.get("streamtype", "")] = stream
                if wanted <= streams.keys():
                    return streams
    except TimeoutError:
        pass
    return None


async def _until(event: asyncio.Event, *, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await event.wait()
    except TimeoutError:
        pass


async def _run(receiving: Awaitable[None], handler: Handler, session: Session) -> None:
    """Run ``handler`` beside the reader; it is cancelled when the client is gone."""
    reader = asyncio.ensure_future(receiving)
    worker = asyncio.ensure_future(handler(session))
    try:
        await asyncio.wait({reader, worker}, return_when=asyncio.FIRST_COMPLETED)
        if worker.done():
            await worker
    except Unavailable:
        pass  # nobody is left to tell
    finally:
        for task in (reader, worker):
            task.cancel()
        await asyncio.gather(reader, worker, return_exceptions=True)
