"""A component's side of its health check: its event loop regularly reports that it runs.

Reports overwrite a file of fixed size that was created before the component started. So they need
no room on a full disk, and a supervisor that starts later can read them.
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
    """Report the health of this process' event loop in ``path``; called before the loop starts.

    Without room for the file the process is not watched.
    """
    global _file
    with suppress(OSError):
        _file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.posix_fallocate(_file, 0, _BYTES)
        os.pwrite(_file, b" " * _BYTES, 0)


async def tell() -> None:
    """Report every ``PERIOD_S`` that the loop runs, until cancelled; no-op if not watched."""
    if _file < 0:
        return
    for count in itertools.count(1):
        with suppress(OSError):
            os.pwrite(_file, f"{os.getpid()} {count}".encode().ljust(_BYTES), 0)
        await asyncio.sleep(PERIOD_S)
