"""Processes of the node's own that get more descriptors than standard streams.

asyncio's subprocesses cannot put a descriptor at a chosen number; runc passes on those from 3 on.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from muntin.winruntime.shim import control


class Child:
    """A started process; ``returncode`` is None while it runs, negative after a signal."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._fd = os.pidfd_open(pid)
        self._ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._fd, self._reap)

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        await self._ended.wait()
        assert self.returncode is not None
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal; a process that has ended is fine."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._fd, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _reap(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        ended = os.waitid(os.P_PIDFD, self._fd, os.WEXITED)
        assert ended is not None  # without WNOHANG it waits
        exited = ended.si_code == os.CLD_EXITED
        self.returncode = ended.si_status if exited else -ended.si_status
        os.close(self._fd)
        self._ended.set()


def start(words: Sequence[str], files: Sequence[int], *, new_session: bool = False) -> Child:
    """Start ``words`` with ``files[i]`` as descriptor i.

    Raises:
        OSError: it cannot be executed.
    """
    return Child(control.spawn(words, files, new_session=new_session))
