"""A watch over a WebSocket: each event is one text message, as browsers read it.

Source: apimachinery v1.34 pkg/util/httpstream/wsstream, apiserver pkg/endpoints/handlers/watch.go
(HandleWS).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muntin.kit.http.messages import Push, Request, Upgrade

if TYPE_CHECKING:
    from muntin.seams.streams.websocket import WebSocket


def is_asked(request: Request) -> bool:
    """Whether ``request`` wants a WebSocket."""
    return request.upgrade and request.headers.get("upgrade", "").lower() == "websocket"


def answer(request: Request, push: Push) -> Upgrade:
    """A WebSocket that carries what ``push`` writes, a message a line."""
    from muntin.seams.streams import websocket  # a library that few watches need
    from muntin.seams.streams.duplex import StreamDuplex

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        socket = websocket.WebSocket(StreamDuplex(reader, writer))
        sender = asyncio.ensure_future(push(_Messages(socket, writer)))
        listener = asyncio.create_task(until_closed(socket), name="watch-websocket-close")
        try:
            await asyncio.wait((sender, listener), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sender, listener):
                task.cancel()
            await asyncio.gather(sender, listener, return_exceptions=True)
            socket.close()

    chosen = next(iter(websocket.offered(request.headers)), "")
    return Upgrade("websocket", run, websocket.accept_headers(request.headers, chosen))


async def until_closed(socket: WebSocket) -> None:
    """Return when the client, who has nothing to say, has gone."""
    while await socket.receive() is not None:
        pass


class _Messages:
    """The BodyWriter of a watch whose events are messages."""

    def __init__(self, socket: WebSocket, writer: asyncio.StreamWriter) -> None:
        self._socket = socket
        self._writer = writer

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            self._socket.push_text(line.decode())

    async def drain(self) -> None:
        await self._writer.drain()

    @property
    def buffered(self) -> int:
        size: int = self._writer.transport.get_write_buffer_size()
        return size

    def abort(self) -> None:
        self._writer.transport.abort()
