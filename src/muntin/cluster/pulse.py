"""A component's side of its health check: its event loop says again and again that it turns.

The words go into a file of a fixed size that was made before the component began, in place: this
needs no room on a full disk, and a supervisor that was started later can read it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from contextlib import suppress
from pathlib import Path

PERIOD_S = 2.0
_BYTES = 64
_file = -1


def path_of(run: Path, component: str) -> Path:
    """The file of ``component`` below the cluster's run folder."""
    return run / f"{component}.alive"


def prepare(path: Path) -> None:
    """Make this process one whose loop is watched by way of ``path``; called before it has a loop.

    Without room for the file it is not watched.
    """
    global _file
    with suppress(OSError):
        _file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.posix_fallocate(_file, 0, _BYTES)
        os.pwrite(_file, b" " * _BYTES, 0)


async def tell() -> None:
    """Say every ``PERIOD_S`` that the loop turns, until cancelled; nothing in other processes."""
    if _file < 0:
        return
    for count in itertools.count(1):
        with suppress(OSError):
            os.pwrite(_file, f"{os.getpid()} {count}".encode().ljust(_BYTES), 0)
        await asyncio.sleep(PERIOD_S)
