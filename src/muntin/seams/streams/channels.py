"""Messages of several channels in one WebSocket: the first byte says which, plain or in base64.

Source: kubernetes v1.34 staging/src/k8s.io/apimachinery/pkg/util/httpstream/wsstream.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping

from muntin.seams.streams.websocket import WebSocket, offered

_ZERO = ord("0")


def choose(headers: Mapping[str, str], known: Collection[str]) -> str | None:
    """The first subprotocol that the request offers and that is ``known``; None when none is.

    A request that offers none at all asks for ``""``.
    """
    return next((name for name in offered(headers) or [""] if name in known), None)


class Channels:
    """Channels 0 to 255 over ``socket``, in the encoding that ``protocol`` has by its name."""

    def __init__(self, socket: WebSocket, protocol: str) -> None:
        self._socket = socket
        self._base64 = "base64" in protocol

    async def receive(self) -> tuple[int, bytes] | None:
        """The next message as (channel, data); None when the peer has closed."""
        while (message := await self._socket.receive()) is not None:
            if not message:
                continue
            if not self._base64:
                return message[0], message[1:]
            try:
                return message[0] - _ZERO, base64.b64decode(message[1:])
            except ValueError:
                continue  # as upstream, which drops what it cannot read
        return None

    async def send(self, channel: int, data: bytes) -> None:
        """Send ``data``, which may be empty, on ``channel``.

        Raises:
            Unavailable: the connection is gone.
        """
        message = self._message(channel, data)
        if isinstance(message, str):
            await self._socket.send_text(message)
        else:
            await self._socket.send(message)

    def close(self, channel: int = 0, data: bytes = b"") -> None:
        """Close the WebSocket, after a last message if there is ``data``."""
        self._socket.close(last=self._message(channel, data) if data else None)

    def _message(self, channel: int, data: bytes) -> bytes | str:
        if self._base64:
            return chr(_ZERO + channel) + base64.b64encode(data).decode()
        return bytes((channel,)) + data
