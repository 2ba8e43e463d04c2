"""Runs a program in a container with a terminal of its own, for ``kubectl exec -it``.

runc makes the program's terminal and copies between it and its own, which is ours.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from muntin.winruntime import child
from muntin.winruntime.child import Child
from muntin.winruntime.exec import READ_BYTES, Prepared, Write, end, exit_code, prepared
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord

_LOOK_S = 0.003


@dataclass(slots=True, kw_only=True)
class RunningOnTerminal:
    """A program and our end of its terminal."""

    prepared: Prepared
    process: Child
    fd: int

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program the size of its terminal."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

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
                while data := self._read():
                    await write(data)
        finally:
            loop.remove_reader(self.fd)

    def _read(self) -> bytes:
        """What is there now, if anything."""
        try:
            return os.read(self.fd, READ_BYTES)
        except OSError:
            return b""


@asynccontextmanager
async def running_on_terminal(
    node: Node, container: ContainerRecord, words: Sequence[str]
) -> AsyncIterator[RunningOnTerminal]:
    """Start a program; it is killed if it still runs at the end of the block."""
    async with prepared(node, container, words, terminal=True) as ready:
        ours, theirs = os.openpty()
        try:
            os.set_blocking(ours, False)
            _pass_as_is(theirs)
            try:
                files = [theirs, theirs, theirs, *ready.files]
                process = child.start(ready.command, files, new_session=True)
            finally:
                os.close(theirs)
            try:
                if not ready.is_inside:
                    await _prepare_for_wine(process, ready)
                yield RunningOnTerminal(prepared=ready, process=process, fd=ours)
            finally:
                await end(process, ready)
        finally:
            os.close(ours)


async def _prepare_for_wine(process: Child, ready: Prepared) -> None:
    """What is typed before Wine has set up the terminal keeps its CR and is not shown twice.

    The program may have put anything else at its descriptor 0 by now: opening must not block.
    """
    while process.returncode is None:
        try:
            pid = int(ready.pid_file.read_text())
        except (OSError, ValueError):  # not there yet, or not whole
            await asyncio.sleep(_LOOK_S)
            continue
        with suppress(OSError, termios.error):
            flags = os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK
            _set_for_wine(os.open(f"/proc/{pid}/fd/0", flags))
        return


def _set_for_wine(fd: int) -> None:
    """Change the terminal ``fd``, and close it."""
    try:
        attributes = termios.tcgetattr(fd)
        attributes[0] &= ~termios.ICRNL
        attributes[3] &= ~termios.ECHO  # consoles of Windows show what they read
        termios.tcsetattr(fd, termios.TCSANOW, attributes)
    finally:
        os.close(fd)


def _pass_as_is(fd: int) -> None:
    """Wine ends lines with CR LF itself: no other CR is wanted."""
    attributes = termios.tcgetattr(fd)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
