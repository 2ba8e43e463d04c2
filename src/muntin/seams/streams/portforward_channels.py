"""Port-forward in channels of a WebSocket, carried to a server that speaks SPDY.

Each port of the request has two channels, 2n for data and 2n + 1 for an error's text; the first
message of each is the port in two bytes, little end first. Client libraries use this form.
Source: kubernetes v1.34 staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from muntin.kit import numbers
from muntin.kit.errors import Invalid, Unavailable
from muntin.seams.streams import channels as wire
from muntin.seams.streams.channels import Channels
from muntin.seams.streams.duplex import Duplex
from muntin.seams.streams.spdy import SpdyConnection, SpdyStream
from muntin.seams.streams.websocket import WebSocket, accept_headers

PROTOCOLS = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io", "")


def parse_ports(texts: Sequence[str]) -> list[int]:
    """The ports of a query's ``ports``, each one number or several with commas between.

    Raises:
        Invalid: there is none, or one is no port.
    """
    if not texts:
        raise Invalid('query parameter "port" is required')
    words = [word for text in texts for word in text.split(",")]
    ports = []
    for word in words:
        port = numbers.int_or_none(word, 1, 65535)
        if port is None:
            raise Invalid(f'unable to parse "{word[:40]}" as a port')
        ports.append(port)
    return ports


def accept(headers: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """The subprotocol for a request with ``headers``, and the headers of the 101.

    Raises:
        Invalid: it offers none that we speak.
    """
    protocol = wire.choose(headers, PROTOCOLS)
    if protocol is None:
        raise Invalid(f"port-forward over a WebSocket needs one of {', '.join(PROTOCOLS[:-1])}")
    return protocol, accept_headers(headers, protocol)


async def bridge(duplex: Duplex, protocol: str, ports: Sequence[int], upstream: Duplex) -> None:
    """Serve the user at ``duplex`` from the SPDY server at ``upstream`` until either has ended."""
    channels = Channels(WebSocket(duplex), protocol)
    connection = SpdyConnection(upstream, client=True)
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(connection.run())]
    try:
        pairs = [await _open(connection, channels, *row) for row in enumerate(ports)]
        tasks.append(asyncio.ensure_future(_inward(channels, [data for data, _ in pairs])))
        outward = [
            _outward(channels, 2 * index + offset, stream)
            for index, pair in enumerate(pairs)
            for offset, stream in enumerate(pair)
        ]
        tasks.append(asyncio.gather(*outward))
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    except Unavailable:
        pass  # one side is gone; closing tells the other
    finally:
        channels.close()
        await connection.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _open(
    connection: SpdyConnection, channels: Channels, index: int, port: int
) -> tuple[SpdyStream, SpdyStream]:
    headers = {"port": str(port), "requestid": str(index)}
    error = await connection.open({**headers, "streamtype": "error"})
    await error.close_write()
    data = await connection.open({**headers, "streamtype": "data"})
    for channel in (2 * index, 2 * index + 1):
        await channels.send(channel, port.to_bytes(2, "little"))
    return data, error


async def _inward(channels: Channels, streams: Sequence[SpdyStream]) -> None:
    while (message := await channels.receive()) is not None:
        channel, data = message
        if channel % 2 == 0 and 0 <= channel < 2 * len(streams) and data:
            await streams[channel // 2].write(data)


async def _outward(channels: Channels, channel: int, stream: SpdyStream) -> None:
    with contextlib.suppress(Unavailable):
        while data := await stream.read():
            await channels.send(channel, data)
