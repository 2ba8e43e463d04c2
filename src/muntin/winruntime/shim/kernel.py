"""Linux calls that Python 3.11 has no word for."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNET = 0x40000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NAME = 15
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, action: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")


def become_subreaper() -> None:
    """Adopt the orphans among this process' descendants."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def set_name(name: str) -> None:
    """Change what ``ps`` calls this process (15 characters)."""
    _check(_libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0), "prctl")


def join_network(path: str) -> None:
    """Move this process into the network namespace at ``path``."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(fd, CLONE_NEWNET), f"setns {path}")
    finally:
        os.close(fd)


def leave_namespaces(flags: int) -> None:
    """Give this process namespaces of its own."""
    _check(_libc.unshare(flags), "unshare")


def set_hostname(name: str) -> None:
    """Name the machine of this UTS namespace."""
    data = name.encode()
    _check(_libc.sethostname(data, len(data)), "sethostname")
