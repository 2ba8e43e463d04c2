"""Connections that have left HTTP after a 101."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

GOODBYE_S = 0.2  # for peers to say the goodbye of TLS; idle ones do not


class HandedOver(asyncio.StreamReaderProtocol):
    """The protocol of raw streams; ``closed`` is called when the socket is."""

    def __init__(self, reader: asyncio.StreamReader, closed: Callable[[], object]) -> None:
        super().__init__(reader)
        self._has_closed = closed

    def connection_lost(self, exc: Exception | None) -> None:
        """End the streams, and say so."""
        super().connection_lost(exc)
        self._has_closed()
