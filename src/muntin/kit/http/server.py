"""An HTTP/1.1 server: ``HttpServer(handler)``, then ``await listen(sock, ssl)``.

One protocol object per connection feeds httptools and queues whole requests; one task per
connection answers them in order, so pipelined requests are answered in order too. TLS may ask
for client certificates; a handler may answer with :class:`Upgrade` and take the connection over.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl as ssl_module
from pathlib import Path

from muntin.kit.http.budget import Budget
from muntin.kit.http.handed_over import GOODBYE_S
from muntin.kit.http.limits import OF_COMPONENT, Limits, Refusal, plain_refusal
from muntin.kit.http.messages import (
    Answer,
    BodyWriter,
    Gate,
    Handler,
    Passed,
    Push,
    Request,
    Response,
    Upgrade,
)
from muntin.kit.http.server_connection import Connection

__all__ = [
    "OF_COMPONENT",
    "Answer",
    "BodyWriter",
    "Gate",
    "Handler",
    "HttpServer",
    "Limits",
    "Passed",
    "Push",
    "Request",
    "Response",
    "Upgrade",
]

log = logging.getLogger(__name__)


class HttpServer:
    """Serves ``handler`` on any number of listening sockets."""

    def __init__(
        self,
        handler: Handler,
        limits: Limits | None = None,
        refusal: Refusal = plain_refusal,
        gate: Gate | None = None,
    ) -> None:
        """``gate`` is asked before a long body is received."""
        self._handler = handler
        self._gate = gate
        self._refusal = refusal
        self._limits = limits or Limits()
        self.budget = Budget(self._limits.held, self._limits.held_of_user)
        self._servers: list[asyncio.AbstractServer] = []
        self._connections: set[Connection] = set()
        self._closing = False

    async def listen(self, sock: socket.socket, ssl: ssl_module.SSLContext | None = None) -> None:
        """Serve on ``sock`` (bound TCP or Unix stream socket); it belongs to the server now."""
        loop = asyncio.get_running_loop()
        if sock.family == socket.AF_UNIX:
            server = await loop.create_unix_server(self._protocol, sock=sock, ssl=ssl)
        else:
            server = await loop.create_server(
                self._protocol,
                sock=sock,
                ssl=ssl,
                backlog=self._limits.backlog,
                ssl_handshake_timeout=self._limits.handshake_s if ssl is not None else None,
            )
        self._servers.append(server)

    async def listen_tcp(
        self, host: str, port: int, ssl: ssl_module.SSLContext | None = None
    ) -> int:
        """Bind ``host``:``port`` (0 = any free one), serve there and return the port."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
            sock.setblocking(False)
            await self.listen(sock, ssl)
        except BaseException:
            sock.close()
            raise
        return int(sock.getsockname()[1])

    async def listen_unix(self, path: str) -> None:
        """Bind the Unix socket ``path`` and serve there; the caller removes a stale file first.

        Only its owner can connect.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _bind_private(sock, path)
            sock.setblocking(False)
            await self.listen(sock)
        except BaseException:
            sock.close()
            raise

    async def close(self, grace_s: float = 2.0) -> None:
        """Stop listening, let running answers end for ``grace_s`` seconds, then cut the rest.

        No socket of the server is open afterwards.
        """
        self._closing = True
        for server in self._servers:
            server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.finish_soon()
        if connections:
            tasks = [connection.task for connection in connections]
            closed = [connection.closed for connection in connections]
            await asyncio.wait(tasks, timeout=grace_s)
            for connection in connections:
                if not connection.task.done():
                    connection.abort()
            await asyncio.wait(closed, timeout=GOODBYE_S)
            for connection in connections:
                if not connection.closed.done():
                    connection.abort()
            await asyncio.wait([*tasks, *closed])
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    def _protocol(self) -> Connection:
        return Connection(
            self._handler,
            self._limits,
            self._refusal,
            self._opened,
            self._connections.discard,
            budget=self.budget,
            gate=self._gate,
        )

    def _opened(self, connection: Connection) -> None:
        self._connections.add(connection)
        if self._closing or len(self._connections) > self._limits.connections:
            connection.abort()


def _bind_private(sock: socket.socket, path: str) -> None:
    sock.bind(path)
    Path(path).chmod(0o600)  # before it listens: no client can connect earlier
