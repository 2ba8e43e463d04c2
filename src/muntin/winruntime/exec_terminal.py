"""Runs a program in a container with a terminal of its own, for ``kubectl exec -it``."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import struct
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from muntin.kit.errors import TimedOut
from muntin.winruntime.exec import READ_BYTES, Prepared, Write, end, exit_code, prepared
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord

_TERMINAL_WAIT_S = 10.0


@dataclass(slots=True, kw_only=True)
class RunningOnTerminal:
    """A program and our end of its terminal."""

    prepared: Prepared
    process: asyncio.subprocess.Process
    fd: int

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program the size of its terminal."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def type(self, data: bytes) -> None:
        """Give the program input; one that has gone does not mind."""
        while data:
            try:
                data = data[os.write(self.fd, data) :]
            except BlockingIOError:
                await asyncio.sleep(0.01)  # it reads slower than anybody types
            except OSError:
                return

    async def show(self, write: Write) -> int:
        """Pass its output on until it has ended; gives its exit code.

        Raises:
            Unknown: the program could not be started, in the words of HCS.
        """
        ended = asyncio.ensure_future(self.process.wait())
        copy = asyncio.ensure_future(self._copy(write))
        try:
            await asyncio.wait({ended, copy}, return_when=asyncio.FIRST_COMPLETED)
            code = await ended
        finally:
            for task in (ended, copy):
                task.cancel()
            await asyncio.gather(ended, copy, return_exceptions=True)
        while data := self._read():
            await write(data)
        return exit_code(self.prepared, code)

    async def _copy(self, write: Write) -> None:
        loop, readable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.fd, readable.set)
        try:
            while True:
                await readable.wait()
                readable.clear()
                data = self._read()
                if not data:
                    return  # the last user of the terminal has gone
                await write(data)
        finally:
            loop.remove_reader(self.fd)

    def _read(self) -> bytes:
        try:
            return os.read(self.fd, READ_BYTES)
        except OSError:
            return b""


@asynccontextmanager
async def running_on_terminal(
    node: Node, container: ContainerRecord, words: Sequence[str]
) -> AsyncIterator[RunningOnTerminal]:
    """Start a program; it is killed if it still runs at the end of the block.

    Raises:
        Unknown: runc could not start it.
    """
    async with prepared(node, container, words, terminal=True) as ready:
        path = node.shims.socket_path(f"{ready.tag}.tty")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)
        listener.setblocking(False)
        process = await asyncio.create_subprocess_exec(
            *ready.command,
            "--console-socket",
            str(path),
            container.id,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        fd = -1
        try:
            try:
                fd = await _receive_terminal(listener, process, ready)
            finally:
                listener.close()
                path.unlink(missing_ok=True)
            _set_up(fd)
            yield RunningOnTerminal(prepared=ready, process=process, fd=fd)
        finally:
            await end(process, ready)
            if fd >= 0:
                os.close(fd)


def _set_up(fd: int) -> None:
    os.set_blocking(fd, False)
    attributes = termios.tcgetattr(fd)
    attributes[1] &= ~termios.ONLCR  # Wine ends lines with CR LF itself
    termios.tcsetattr(fd, termios.TCSANOW, attributes)


async def _receive_terminal(
    listener: socket.socket, process: asyncio.subprocess.Process, ready: Prepared
) -> int:
    accepting = asyncio.ensure_future(asyncio.get_running_loop().sock_accept(listener))
    ending = asyncio.ensure_future(process.wait())
    try:
        async with asyncio.timeout(_TERMINAL_WAIT_S):
            await asyncio.wait({accepting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not accepting.done():
                raise ready.failure(await process.stderr.read() if process.stderr else b"")
            return await _receive_fd(accepting.result()[0])
    except TimeoutError as err:
        raise TimedOut(f"runc gave no terminal within {_TERMINAL_WAIT_S:g} s") from err
    finally:
        for task in (accepting, ending):
            task.cancel()
        await asyncio.gather(accepting, ending, return_exceptions=True)


async def _receive_fd(peer: socket.socket) -> int:
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    with peer:
        loop.add_reader(peer, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(peer)
        with suppress(IndexError):
            return socket.recv_fds(peer, 4096, 1)[1][0]
    raise TimedOut("runc closed its console socket without a terminal")
