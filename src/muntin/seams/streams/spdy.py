"""SPDY/3.1 over a duplex connection: streams to read and write, in both roles.

A stream that nobody reads makes the whole connection wait (Kubernetes' peers have no windows).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Mapping

from muntin.kit.errors import Invalid, Unavailable
from muntin.seams.streams.duplex import Duplex
from muntin.seams.streams.spdy_frames import (
    Data,
    GoneAway,
    Opened,
    Replied,
    Reset,
    SpdyFrames,
)

BUFFER_BYTES = 256 * 1024
CANCEL = 5


class SpdyStream:
    """One stream: ``headers`` are those it was opened with."""

    def __init__(self, connection: SpdyConnection, stream_id: int, headers: Mapping[str, str]):
        self.id = stream_id
        self.headers = headers
        self._connection = connection
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._changed = asyncio.Event()
        self.write_closed = False

    async def read(self) -> bytes:
        """The next bytes, ``b""`` once the peer has ended its half or is gone."""
        while not self._chunks:
            if self._ended:
                return b""
            self._changed.clear()
            await self._changed.wait()
        data = self._chunks.popleft()
        self._size -= len(data)
        self._changed.set()
        return data

    async def write(self, data: bytes) -> None:
        """Send ``data``.

        Raises:
            Unavailable: the connection is gone.
        """
        if not self.write_closed:
            await self._connection.send_data(self.id, data)

    async def close_write(self) -> None:
        """End our half; nothing happens if it has ended or the peer is gone."""
        if not self.write_closed:
            self.write_closed = True
            await self._connection.end_stream(self.id)

    async def feed(self, data: bytes) -> None:
        """For the connection: bytes arrived; waits while the buffer is full."""
        if data and not self._ended:
            self._chunks.append(data)
            self._size += len(data)
            self._changed.set()
        while self._size > BUFFER_BYTES and not self._ended:
            self._changed.clear()
            await self._changed.wait()

    def end(self) -> None:
        """For the connection: no more bytes will come."""
        self._ended = True
        self._changed.set()


class SpdyConnection:
    """``client`` opens odd streams, a server even ones. :meth:`run` must be running."""

    def __init__(self, duplex: Duplex, *, client: bool = False) -> None:
        self._duplex = duplex
        self._frames = SpdyFrames()
        self._streams: dict[int, SpdyStream] = {}
        self._next_id = 1 if client else 2
        self._last_peer_id = 0
        self._accepted: asyncio.Queue[SpdyStream | None] = asyncio.Queue()
        self.closed = asyncio.Event()

    async def run(self) -> None:
        """Carry frames until the peer ends the connection; a broken peer ends it as well."""
        try:
            while data := await self._duplex.read():
                for event in self._frames.receive(data):
                    await self._handle(event)
                self._duplex.write(bytes(self._frames.answers))
                self._frames.answers.clear()
                await self._duplex.drain()
        except (Invalid, Unavailable):
            self._duplex.close()
        finally:
            for stream in self._streams.values():
                stream.end()
            self._accepted.put_nowait(None)
            self.closed.set()

    async def _handle(self, event: Opened | Replied | Data | Reset | GoneAway) -> None:
        if isinstance(event, Opened):
            stream = SpdyStream(self, event.stream_id, event.headers)
            self._streams[event.stream_id] = stream
            self._last_peer_id = event.stream_id
            self._duplex.write(self._frames.reply(event.stream_id))
            if event.fin:
                stream.end()
            self._accepted.put_nowait(stream)
        elif isinstance(event, GoneAway):
            self._accepted.put_nowait(None)
        else:
            known = self._streams.get(event.stream_id)
            if known is None:
                return
            if isinstance(event, Data):
                await known.feed(event.data)
            if isinstance(event, Reset) or event.fin:
                known.end()
                if isinstance(event, Reset):
                    known.write_closed = True

    async def accept(self) -> AsyncIterator[SpdyStream]:
        """Streams that the peer opens, until it goes."""
        while (stream := await self._accepted.get()) is not None:
            yield stream

    async def open(self, headers: Mapping[str, str]) -> SpdyStream:
        """Open a stream; data may follow at once.

        Raises:
            Unavailable: the connection is gone.
        """
        stream = SpdyStream(self, self._next_id, headers)
        self._next_id += 2
        self._streams[stream.id] = stream
        self._duplex.write(self._frames.open(stream.id, headers))
        await self._drain()
        return stream

    async def send_data(self, stream_id: int, data: bytes) -> None:
        """For streams: DATA frames, waiting for the peer to keep up."""
        self._duplex.write(self._frames.data(stream_id, data))
        await self._drain()

    async def end_stream(self, stream_id: int) -> None:
        """For streams: an empty DATA frame that ends our half."""
        if not self.closed.is_set():
            self._duplex.write(self._frames.data(stream_id, b"", fin=True))
            with contextlib.suppress(Unavailable):
                await self._duplex.drain()

    def forget(self, stream: SpdyStream) -> None:
        """Drop a finished stream, resetting it if the peer may still send on it."""
        if self._streams.pop(stream.id, None) is not None and not stream.write_closed:
            self._duplex.write(self._frames.reset(stream.id, CANCEL))

    async def close(self) -> None:
        """Say goodbye and close the connection."""
        if not self.closed.is_set():
            self._duplex.write(self._frames.go_away(self._last_peer_id))
        self._duplex.close()

    async def _drain(self) -> None:
        if self.closed.is_set():
            raise Unavailable("the peer of the stream is gone")
        await self._duplex.drain()
