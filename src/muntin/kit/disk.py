"""Detects full file systems, and the errors that they cause."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

_ROOM_BYTES = 64 * 1024
_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full_error(err: BaseException) -> bool:
    """Whether ``err`` says that a file system, or the share of its user, is used up."""
    return isinstance(err, OSError) and err.errno in _FULL


def is_full(folder: Path) -> bool:
    """Whether the file system of ``folder`` has no room for another 64 KiB; tried, not computed.

    Free blocks may be reserved for root, a quota may be used up, and delayed allocation may owe
    blocks: only the kernel's answer counts.
    """
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)
    except OSError as err:
        return is_full_error(err)
    return False
