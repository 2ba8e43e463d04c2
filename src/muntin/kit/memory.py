"""What the C library keeps of memory that is no longer used.

Once a block of some megabytes was freed, glibc takes the next such blocks from the heap, where
whatever is put behind them holds them there for good; with a fixed bound they go back at once.
What smaller blocks leave between others goes back when it is asked for.
Source: mallopt(3), M_MMAP_THRESHOLD; malloc_trim(3).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

LARGE_BYTES = 1024 * 1024
_M_MMAP_THRESHOLD = -3


def keep_large_apart() -> None:
    """Take blocks of more than LARGE_BYTES from the kernel, and give them back when freed."""
    if (mallopt := _function("mallopt")) is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)


def give_back() -> None:
    """Give the kernel the pages that are free; some milliseconds for a large process."""
    if (malloc_trim := _function("malloc_trim")) is not None:
        malloc_trim(0)


def _function(name: str) -> Callable[..., Any] | None:
    """A function of the C library; None where that has none of the name."""
    found: Callable[..., Any] | None = getattr(ctypes.CDLL(None), name, None)
    return found
