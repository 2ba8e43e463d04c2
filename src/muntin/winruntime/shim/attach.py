"""The shim's socket: users who attach, terminal sizes, and the request to reopen the log."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import struct
import termios
from collections.abc import Iterable
from contextlib import suppress

from muntin.winruntime.shim.frames import (
    MAX_LINE_BYTES,
    STDERR,
    STDIN,
    STDOUT,
    FrameReader,
    frame,
    line,
)
from muntin.winruntime.shim.log import CriLog

READ_BYTES = 64 * 1024
MAX_BEHIND_BYTES = 8 << 20
"""A user whose connection is that far behind is dropped: the program must not wait for it."""
MAX_INPUT_BYTES = 1 << 20
"""Bytes of input buffered for a program that does not read; beyond it, clients are not read."""


class _Client:
    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.connection = connection
        self.attached = False
        self.behind = b""
        self.head = b""
        self.frames = FrameReader()


class Attached:
    """Everyone who is connected to this container's shim."""

    def __init__(self, path: str, log: CriLog) -> None:
        self._path = path
        self._log = log
        self._input = -1
        self._terminal = False
        self._once = False
        self._pending_input = b""
        self._ending_input = False
        self._clients: dict[int, _Client] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - pathlib costs memory
        self._listener.bind(path)
        self._listener.listen(16)
        self._listener.setblocking(False)

    def take_input(self, fd: int, *, once: bool, terminal: bool = False) -> None:
        """Send what users type to ``fd``; ``once`` closes it when the first user's input ends."""
        self._input, self._once, self._terminal = fd, once, terminal

    def readers(self) -> list[int]:
        """Descriptors to wait on for reading; users type no faster than the program reads."""
        if len(self._pending_input) < MAX_INPUT_BYTES:
            return [self._listener.fileno(), *self._clients]
        others = [fd for fd, client in self._clients.items() if not client.attached]
        return [self._listener.fileno(), *others]

    def writers(self) -> list[int]:
        """Descriptors to wait on for writing."""
        fds = [fd for fd, client in self._clients.items() if client.behind]
        return [*fds, self._input] if self._pending_input and self._input >= 0 else fds

    def serve(self, readable: Iterable[int], writable: Iterable[int]) -> None:
        """Do what the ready descriptors ask for."""
        for fd in writable:
            if fd == self._input:
                self._write_input()
            elif client := self._clients.get(fd):
                self._send(client, b"")
        for fd in readable:
            if fd == self._listener.fileno():
                self._accept()
            elif client := self._clients.get(fd):
                self._read(client)

    def broadcast(self, stream: str, data: bytes) -> None:
        """Show output to all attached users."""
        message = frame(STDOUT if stream == "stdout" else STDERR, data)
        for client in list(self._clients.values()):
            if client.attached:
                self._send(client, message)

    def close(self) -> None:
        """End all connections and remove the socket."""
        for client in list(self._clients.values()):
            client.connection.setblocking(True)
            client.connection.settimeout(1.0)
            self._send(client, b"")
            self._drop(client)
        self._listener.close()
        with suppress(FileNotFoundError):
            os.unlink(self._path)  # noqa: PTH108 - as above

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        self._clients[connection.fileno()] = _Client(connection)

    def _drop(self, client: _Client) -> None:
        if self._clients.pop(client.connection.fileno(), None):
            client.connection.close()

    def _send(self, client: _Client, data: bytes) -> None:
        client.behind += data
        try:
            while client.behind:
                client.behind = client.behind[client.connection.send(client.behind) :]
        except BlockingIOError:
            if len(client.behind) > MAX_BEHIND_BYTES:
                self._drop(client)
        except OSError:
            self._drop(client)

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            if client.attached and self._once:
                self._end_input()
            self._drop(client)
        elif client.attached:
            self._take_frames(client, data)
        else:
            self._take_head(client, data)

    def _take_head(self, client: _Client, data: bytes) -> None:
        client.head += data
        head, newline, rest = client.head.partition(b"\n")
        if not newline:
            if len(client.head) > MAX_LINE_BYTES:
                self._drop(client)
            return
        request = json.loads(head)
        if request["op"] == "attach":
            client.attached = True
            self._send(client, line({"ok": True}))
            self._take_frames(client, rest)
        elif request["op"] == "resize":
            self._resize(request["columns"], request["rows"])
            self._send(client, line({"ok": True}))
        elif request["op"] == "reopen":
            self._log.reopen()
            self._send(client, line({"ok": True}))
        client.head = rest if not client.attached else b""

    def _take_frames(self, client: _Client, data: bytes) -> None:
        for kind, text in client.frames.feed(data):
            if kind == STDIN and text:
                self._pending_input += text
                self._write_input()
            elif kind == STDIN and self._once:
                self._end_input()

    def _resize(self, columns: int, rows: int) -> None:
        if self._terminal and self._input >= 0:
            fcntl.ioctl(self._input, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _end_input(self) -> None:
        self._ending_input = True
        self._write_input()

    def _write_input(self) -> None:
        if self._input < 0:
            self._pending_input = b""
            return
        try:
            while self._pending_input:
                self._pending_input = self._pending_input[
                    os.write(self._input, self._pending_input) :
                ]
        except OSError as err:
            if err.errno == errno.EAGAIN:
                return
            self._pending_input, self._ending_input = b"", True
        if self._ending_input and not self._terminal:
            os.close(self._input)
            self._input = -1
