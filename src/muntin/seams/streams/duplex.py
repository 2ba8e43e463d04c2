"""An upgraded connection as this seam sees it: bytes both ways."""

from __future__ import annotations

import asyncio
from typing import Protocol

from muntin.kit.errors import Unavailable

READ_BYTES = 64 * 1024


class Duplex(Protocol):
    """A raw connection."""

    async def read(self) -> bytes:
        """The next bytes, ``b""`` when the peer has sent its last."""

    def write(self, data: bytes) -> None:
        """Queue ``data``; a peer that has gone is noticed by :meth:`drain`."""

    async def drain(self) -> None:
        """Return once the peer keeps up.

        Raises:
            Unavailable: the connection is gone.
        """

    def close(self) -> None:
        """Close once what was written is sent."""


class StreamDuplex:
    """A :class:`Duplex` over the reader and writer that the HTTP server and client give."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        """The next bytes; ``b""`` also when the connection broke."""
        try:
            return await self._reader.read(READ_BYTES)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        """Queue ``data``."""
        if not self._writer.is_closing():
            self._writer.write(data)

    async def drain(self) -> None:
        """Return once the peer keeps up, or raise Unavailable."""
        try:
            await self._writer.drain()
        except OSError as err:
            raise Unavailable("the peer of the stream is gone") from err

    def close(self) -> None:
        """Close once what was written is sent; again does nothing."""
        if not self._writer.is_closing():  # closed twice, asyncio's TLS can be aborted no more
            self._writer.close()


async def relay(one: Duplex, other: Duplex) -> None:
    """Carry bytes both ways until both sides have ended, or one connection breaks."""

    async def copy(source: Duplex, target: Duplex) -> None:
        try:
            while data := await source.read():
                target.write(data)
                await target.drain()
        except Unavailable:
            pass
        finally:
            target.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(copy(one, other))
        group.create_task(copy(other, one))
