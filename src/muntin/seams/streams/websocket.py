"""WebSocket over a duplex connection: binary messages both ways (wsproto does the protocol)."""

from __future__ import annotations

from collections.abc import Mapping

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, TextMessage
from wsproto.utilities import RemoteProtocolError, generate_accept_token

from muntin.seams.streams.duplex import Duplex

MAX_MESSAGE_BYTES = 16 * 1024 * 1024


def offered(headers: Mapping[str, str]) -> list[str]:
    """The subprotocols that a request offers, best first."""
    return [name.strip() for name in headers.get("sec-websocket-protocol", "").split(",") if name]


def accept_headers(headers: Mapping[str, str], subprotocol: str) -> dict[str, str]:
    """The answer's headers that accept the request's WebSocket with ``subprotocol``."""
    token = generate_accept_token(headers.get("sec-websocket-key", "").encode())
    answer = {"Sec-WebSocket-Accept": token.decode()}
    if subprotocol:
        answer["Sec-WebSocket-Protocol"] = subprotocol
    return answer


class WebSocket:
    """The server's end, or with ``client`` the client's, of an accepted WebSocket."""

    def __init__(self, duplex: Duplex, *, client: bool = False) -> None:
        self._duplex = duplex
        kind = ConnectionType.CLIENT if client else ConnectionType.SERVER
        self._connection = Connection(kind)
        self._messages: list[bytes] = []
        self._partial = bytearray()
        self._closed = False

    async def receive(self) -> bytes | None:
        """The next whole message, text as its UTF-8 bytes; None when the peer has closed."""
        while not self._messages:
            data = b"" if self._closed else await self._duplex.read()
            if not data:
                self._closed = True
                self._duplex.close()
                return None
            try:
                self._feed(data)
            except RemoteProtocolError:
                self._duplex.close()
                self._closed = True
        return self._messages.pop(0)

    def _feed(self, data: bytes) -> None:
        self._connection.receive_data(data)
        for event in self._connection.events():
            if isinstance(event, BytesMessage | TextMessage):
                part = event.data
                self._partial += part.encode() if isinstance(part, str) else bytes(part)
                if len(self._partial) > MAX_MESSAGE_BYTES:
                    raise RemoteProtocolError("message too large")
                if event.message_finished:
                    self._messages.append(bytes(self._partial))
                    self._partial.clear()
            elif isinstance(event, Ping):
                self._duplex.write(self._connection.send(event.response()))
            elif isinstance(event, CloseConnection):
                if not self._closed:
                    self._duplex.write(self._connection.send(event.response()))
                self._closed = True

    async def send(self, data: bytes) -> None:
        """Send one binary message.

        Raises:
            Unavailable: the connection is gone.
        """
        if not self._closed:
            self._duplex.write(self._connection.send(BytesMessage(data=data)))
        await self._duplex.drain()

    async def send_text(self, text: str) -> None:
        """Send one text message.

        Raises:
            Unavailable: the connection is gone.
        """
        self.push_text(text)
        await self._duplex.drain()

    def push_text(self, text: str) -> None:
        """Send one text message soon; nothing happens when the connection is gone."""
        if not self._closed:
            self._duplex.write(self._connection.send(TextMessage(data=text)))

    async def drain(self) -> None:
        """Return once the peer has taken most of what was sent.

        Raises:
            Unavailable: the connection is gone.
        """
        await self._duplex.drain()

    def close(self, code: int = 1000, reason: str = "", *, last: bytes | str | None = None) -> None:
        """Send the ``last`` message and a close frame, and end the connection.

        Both go out as one piece. A client may hang up once it has the last message; one that
        reads in a thread of its own (httpx-ws) is then not in the middle of reading the rest.
        """
        if not self._closed:
            self._closed = True
            message = b""
            if isinstance(last, str):
                message = self._connection.send(TextMessage(data=last))
            elif last is not None:
                message = self._connection.send(BytesMessage(data=last))
            end = self._connection.send(CloseConnection(code=code, reason=reason))
            self._duplex.write(message + end)
        self._duplex.close()


class MessageDuplex:
    """Bytes through binary messages: how SPDY is tunnelled in a WebSocket (KEP-4006)."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._pending: list[bytes] = []

    async def read(self) -> bytes:
        """The next message's bytes; ``b""`` at the end."""
        while (message := await self._socket.receive()) is not None:
            if message:
                return message
        return b""

    def write(self, data: bytes) -> None:
        """Queue ``data`` for :meth:`drain`."""
        self._pending.append(data)

    async def drain(self) -> None:
        """Send what was queued as one message."""
        pending, self._pending = b"".join(self._pending), []
        if pending:
            await self._socket.send(pending)

    def close(self) -> None:
        """Close the WebSocket."""
        self._socket.close()
