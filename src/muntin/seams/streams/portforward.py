"""Port-forward as a server speaks it: pairs of SPDY streams, raw or inside a WebSocket.

A client opens an error and a data stream for each connection, both with headers ``port`` and
``requestid``. Text on the error stream fails that connection alone.
Source: kubernetes v1.34 staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward, KEP-4006.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from muntin.kit import numbers
from muntin.kit.errors import Invalid, MuntinError, Unavailable
from muntin.seams.streams.duplex import READ_BYTES, Duplex
from muntin.seams.streams.spdy import SpdyConnection, SpdyStream
from muntin.seams.streams.websocket import MessageDuplex, WebSocket, accept_headers, offered

PROTOCOL = "portforward.k8s.io"
TUNNEL = "SPDY/3.1+portforward.k8s.io"

Dial = Callable[[int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Connects to a port inside the pod; raises a MuntinError that the user sees."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """How to answer a port-forward request: the 101's headers, then ``serve`` it."""

    protocol: str
    headers: Mapping[str, str]
    serve: Callable[[Duplex, Dial], Awaitable[None]]


def accept(headers: Mapping[str, str]) -> Accepted:
    """Choose the carrier that the request's ``headers`` (lower-case names) ask for.

    Raises:
        Invalid: no upgrade, or no protocol that we speak.
    """
    upgrade = headers.get("upgrade", "").lower()
    if upgrade == "websocket":
        if TUNNEL not in offered(headers):
            raise Invalid(f"port-forward over a WebSocket needs the subprotocol {TUNNEL}")

        async def tunnelled(duplex: Duplex, dial: Dial) -> None:
            await _serve(MessageDuplex(WebSocket(duplex)), dial)

        return Accepted("websocket", accept_headers(headers, TUNNEL), tunnelled)
    if upgrade == "spdy/3.1":
        names = headers.get("x-stream-protocol-version", "")
        if PROTOCOL not in [name.strip() for name in names.split(",")]:
            raise Invalid(f"port-forward needs the stream protocol {PROTOCOL}")
        return Accepted("SPDY/3.1", {"X-Stream-Protocol-Version": PROTOCOL}, _serve)
    raise Invalid("port-forward needs an upgrade to websocket or SPDY/3.1")


async def _serve(duplex: Duplex, dial: Dial) -> None:
    connection = SpdyConnection(duplex)
    waiting: dict[str, dict[str, SpdyStream]] = {}
    async with asyncio.TaskGroup() as group:
        group.create_task(connection.run())
        async for stream in connection.accept():
            key = stream.headers.get("requestid") or stream.headers.get("port", "")
            pair = waiting.setdefault(key, {})
            pair[stream.headers.get("streamtype", "")] = stream
            if pair.keys() >= {"error", "data"}:
                del waiting[key]
                group.create_task(_forward(connection, pair, dial))


async def _forward(connection: SpdyConnection, pair: Mapping[str, SpdyStream], dial: Dial) -> None:
    data, error = pair["data"], pair["error"]
    text = data.headers.get("port", "")
    try:
        port = numbers.int_or_none(text, 1, 65535)
        if port is None:
            raise Invalid(f"{text[:40]!r} is not a port: it must be a number from 1 to 65535")
        reader, writer = await dial(port)
        try:
            await _copy(data, reader, writer)
        finally:
            writer.close()
    except MuntinError as err:
        with contextlib.suppress(Unavailable):
            await error.write(f"error forwarding port {text}: {err.message}".encode())
    finally:
        await error.close_write()
        await data.close_write()
        connection.forget(data)
        connection.forget(error)


async def _copy(
    data: SpdyStream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Both ways until the pod's side ends; the user's end of input is passed on as such."""

    async def inward() -> None:
        with contextlib.suppress(OSError):
            while piece := await data.read():
                writer.write(piece)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()

    pump = asyncio.ensure_future(inward())
    try:
        with contextlib.suppress(OSError, Unavailable):
            while piece := await reader.read(READ_BYTES):
                await data.write(piece)
    finally:
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)
