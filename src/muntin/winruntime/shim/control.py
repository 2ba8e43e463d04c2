"""How a container's programs report to the runtime: a socket and a file that they inherit.

They have no names inside the container, so they cannot be replaced by links or FIFOs. A program has
the descriptors ``CONTROL_FD`` (one end of a SOCK_SEQPACKET pair) and, under Wine, ``START_FD`` (a
sealed file that says what wcinit.exe is to start). The container may write whatever it likes to the
socket: it is read without blocking, a few short messages at most.

Messages of wcinit.exe: ``started N`` (0, or the Windows error) once the program is ready to run;
wcinit waits for an answer of one byte before it lets the program run. ``N`` or ``failed N`` at
the end.
"""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
from collections.abc import Sequence

CONTROL_FD, START_FD = 3, 4
MAX_MESSAGE_BYTES = 64
MAX_MESSAGES = 256
"""More than these are not looked at: a container may send without end."""

_STATUS = re.compile(r"(?:failed )?[0-9]{1,10}")
_STARTED = re.compile(r"started ([0-9]{1,10})")
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL


class Control:
    """The runtime's end of a program's control socket; ``theirs`` is for the program."""

    def __init__(self) -> None:
        kind = socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC
        self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, kind)
        self._ours.setblocking(False)
        self._left = MAX_MESSAGES
        self._status = ""

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._ours.fileno()

    def take_started(self) -> int | None:
        """The error number of a ``started`` message that has come; None if there is none yet.

        Raises:
            EOFError: nothing more will come, or the program sends too much.
        """
        while (message := self._receive()) is not None:
            if found := _STARTED.fullmatch(message):
                return int(found[1])
        return None

    def go_on(self) -> None:
        """Let a program run that has said that it is ready."""
        try:
            self._ours.send(b"+")
        except OSError:
            return  # it has ended

    def status(self) -> str:
        """The last message that is a status, when the program has ended; empty if none came."""
        try:
            while self._receive() is not None:
                pass
        except EOFError:
            pass
        return self._status

    def close(self) -> None:
        """Close both ends."""
        self._ours.close()
        self.theirs.close()

    def _receive(self) -> str | None:
        if not self._left:
            raise EOFError
        try:
            data = self._ours.recv(MAX_MESSAGE_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self._left = 0
            raise EOFError
        self._left -= 1
        message = data.decode("ascii", "replace").strip()
        if _STATUS.fullmatch(message):
            self._status = message
        return message


def sealed(data: bytes) -> int:
    """A descriptor of a sealed, immutable file in memory with ``data``."""
    fd = os.memfd_create("start", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd


def spawn(words: Sequence[str], files: Sequence[int], *, new_session: bool = False) -> int:
    """Start a program whose descriptor i is ``files[i]``; returns its pid.

    It inherits no other descriptor that is close-on-exec, as all of Python's are.

    Raises:
        OSError: it cannot be executed.
    """
    copies: list[int] = []
    try:
        # Above all targets, so that no copy is overwritten before it is used.
        copies.extend(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, len(files)) for fd in files)
        actions = [(os.POSIX_SPAWN_DUP2, copy, number) for number, copy in enumerate(copies)]
        return os.posix_spawn(
            words[0],
            list(words),
            os.environ,
            file_actions=actions,
            setsid=new_session,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
        )
    finally:
        for copy in copies:
            os.close(copy)
