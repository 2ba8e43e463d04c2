"""The host's network namespace, for components that run in another one.

The descriptor is opened before a component leaves the host's namespace, so it stays valid after
the supervisor, whose process id could name the namespace too, has been killed.
"""

from __future__ import annotations

import os

from muntin.kit import netns

_fd = -1


def leave_for(namespace: str) -> None:
    """Move this process into ``namespace`` for good, and remember where it came from."""
    global _fd
    _fd = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    netns.enter_for_good(namespace)


def path() -> str:
    """The host's network namespace, by a name of ``kit.netns`` that holds in this process."""
    return f"/proc/self/fd/{_fd}" if _fd >= 0 else "/proc/self/ns/net"


def return_to() -> None:
    """Move this process back into the host's network for good."""
    netns.enter_for_good(path())
