"""TcpClient and TcpListener."""

from __future__ import annotations

import socket
from typing import Any

from . import values as v
from .addresses import IPEndPoint, to_address
from .errors import NetError


def _socket_error(err: OSError, where: str) -> NetError:
    code = 10000 + (err.errno or 0)
    message = err.strerror or str(err)
    if isinstance(err, ConnectionRefusedError):
        code = 10061
        message = "No connection could be made because the target machine actively refused it"
    elif isinstance(err, TimeoutError):
        code = 10060
        message = (
            "A connection attempt failed because the connected party did not properly respond "
            "after a period of time"
        )
    elif isinstance(err, socket.gaierror):
        code, message, where = 11001, "No such host is known", ""
    text = f"{message} {where}".rstrip()
    return NetError("System.Net.Sockets.SocketException", text, ErrorCode=code)


class NetworkStream(v.NetObject):
    """Bytes of a connection."""

    net_name = "System.Net.Sockets.NetworkStream"
    CanRead = True
    CanWrite = True

    def __init__(self, sock: socket.socket) -> None:
        """Over a connected socket."""
        self._sock = sock

    def Read(self, buffer: Any, offset: Any, count: Any) -> int:
        """Into ``buffer``; how many bytes, 0 at the end."""
        try:
            data = self._sock.recv(v.to_int(count))
        except OSError as err:
            raise NetError("System.IO.IOException", f"Unable to read data: {err}") from err
        start = v.to_int(offset)
        buffer[start : start + len(data)] = data
        return len(data)

    def Write(self, data: Any, offset: Any = 0, count: Any = None) -> None:
        """From ``data``."""
        raw = bytes(data)
        start = v.to_int(offset)
        part = raw[start:] if count is None else raw[start : start + v.to_int(count)]
        try:
            self._sock.sendall(part)
        except OSError as err:
            raise NetError("System.IO.IOException", f"Unable to write data: {err}") from err

    def take(self, count: int | None = None) -> bytes:
        """For a reader: up to ``count`` bytes, all to the end for None."""
        if count is not None:
            return self._sock.recv(count)
        parts = []
        while data := self._sock.recv(65536):
            parts.append(data)
        return b"".join(parts)

    @property
    def DataAvailable(self) -> bool:
        """Whether reading would not wait."""
        import select

        return bool(select.select([self._sock], [], [], 0)[0])

    def Flush(self) -> None:
        """Nothing is held back."""

    def Close(self) -> None:
        """End the connection."""
        self._sock.close()

    Dispose = Close


class TcpClient(v.NetObject):
    """System.Net.Sockets.TcpClient."""

    net_name = "System.Net.Sockets.TcpClient"

    def __init__(self, host: Any = None, port: Any = None) -> None:
        """Connected at once if told where."""
        self._sock: socket.socket | None = None
        self.ReceiveTimeout = 0
        self.SendTimeout = 0
        if host is not None:
            self.Connect(host, port)

    @classmethod
    def of(cls, sock: socket.socket) -> TcpClient:
        """Over an accepted connection."""
        client = cls()
        client._sock = sock
        return client

    def Connect(self, host: Any, port: Any) -> None:
        """Connect."""
        where = (v.to_text(host), v.to_int(port))
        try:
            self._sock = socket.create_connection(where, timeout=21)
            self._sock.settimeout(None)
        except OSError as err:
            raise _socket_error(err, f"{where[0]}:{where[1]}") from err

    @property
    def Connected(self) -> bool:
        """Whether there is a connection."""
        return self._sock is not None and self._sock.fileno() >= 0

    def GetStream(self) -> NetworkStream:
        """Its bytes."""
        if self._sock is None:
            raise NetError(
                "System.InvalidOperationException",
                "The operation is not allowed on non-connected sockets.",
            )
        return NetworkStream(self._sock)

    def Close(self) -> None:
        """End the connection."""
        if self._sock is not None:
            self._sock.close()

    Dispose = Close


class TcpListener(v.NetObject):
    """System.Net.Sockets.TcpListener."""

    net_name = "System.Net.Sockets.TcpListener"

    def __init__(self, address: Any, port: Any = None) -> None:
        """At an address and a port, an end point, or a port alone."""
        if isinstance(address, IPEndPoint):
            address, port = address.Address, address.Port
        elif port is None:
            address, port = "0.0.0.0", address
        self._where = (to_address(address).ToString(), v.to_int(port))
        self._sock: socket.socket | None = None

    def Start(self, backlog: Any = 128) -> None:
        """Listen."""
        family = socket.AF_INET6 if ":" in self._where[0] else socket.AF_INET
        try:
            self._sock = socket.create_server(self._where, family=family, backlog=v.to_int(backlog))
        except OSError as err:
            raise NetError(
                "System.Net.Sockets.SocketException",
                "Only one usage of each socket address (protocol/network address/port) is normally "
                "permitted",
                ErrorCode=10048,
            ) from err

    @property
    def LocalEndpoint(self) -> IPEndPoint:
        """Where it listens."""
        name = self._sock.getsockname() if self._sock else self._where
        return IPEndPoint(name[0], name[1])

    def Pending(self) -> bool:
        """Whether a connection waits."""
        import select

        return bool(self._sock and select.select([self._sock], [], [], 0)[0])

    def AcceptTcpClient(self) -> TcpClient:
        """The next connection."""
        if self._sock is None:
            raise NetError(
                "System.InvalidOperationException",
                "Not listening. You must call the Start() method before calling this method.",
            )
        return TcpClient.of(self._sock.accept()[0])

    def Stop(self) -> None:
        """Listen no more."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None
