"""Child processes that end with the process that started them, however it ends."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> Callable[[], None]:
    """A ``preexec_fn`` that has the kernel kill the child when its parent ends.

    A parent that is killed runs no ``finally``. To the kernel, the parent is the thread that
    started the child: it has to be one that stays.
    """
    parent = os.getpid()

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it has ended already
            os._exit(1)

    return prepare
