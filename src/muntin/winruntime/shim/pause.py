"""The pause process of a sandbox: it lives in the pod's namespaces and does nothing.

It stands for the pause container of a real node, at the cost of some hundred kilobytes: Debian's
static busybox, waiting, in the pod's network namespace with the pod's host name.
"""

from __future__ import annotations

import os
import signal
import socket
from typing import Any

from muntin.winruntime.shim import kernel
from muntin.winruntime.shim.frames import line

_FOREVER_S = "2147483647"


def run(request: dict[str, Any], connection: socket.socket) -> None:
    """Become the pause process that ``request`` describes, after telling its pid."""
    kernel.join_network(request["netns"])
    kernel.leave_namespaces(kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC)
    kernel.set_hostname(request["hostname"])
    os.chdir("/")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    connection.sendall(line({"pid": os.getpid()}))
    connection.close()
    # `program` is a link named pause to busybox, which looks at its first argument.
    os.execv(request["program"], ["sleep", _FOREVER_S])
