"""The starter: ``python3 -ISE shim LISTENER_FD``; forks a shim or a pause process per request.

The node process holds the listening socket too, so requests wait while no starter runs; the
starter ends by itself when nothing has been asked for a while.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import sys
from contextlib import suppress

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "../../..")))  # noqa: PTH100, PTH118, PTH120 - pathlib costs memory

from muntin.winruntime.shim import container, kernel, pause
from muntin.winruntime.shim.frames import MAX_LINE_BYTES, line

IDLE_S = 10.0


def main(listener_fd: int) -> None:
    """Serve requests until none has come for ``IDLE_S``."""
    listener = socket.socket(fileno=listener_fd)
    kernel.set_name("muntin-starter")
    gc.freeze()  # children must not touch the pages they share
    while select.select([listener], [], [], IDLE_S)[0]:
        connection, _ = listener.accept()
        if _fork_orphan():
            connection.close()
            continue
        listener.close()
        _serve(connection)
        os._exit(0)


def _fork_orphan() -> bool:
    """Fork a process that has no parent here; True in this process, False in the new one."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        return True
    os.setsid()
    if os.fork():
        os._exit(0)
    return False


def _serve(connection: socket.socket) -> None:
    try:
        request = json.loads(connection.makefile("rb").readline(MAX_LINE_BYTES))
        if request["op"] == "container":
            container.run(request["folder"], connection)
        elif request["op"] == "pause":
            pause.run(request, connection)
    except Exception as err:  # the node process must hear of it; this is its only way
        with suppress(OSError):
            connection.sendall(line({"error": f"{type(err).__name__}: {err}"}))
        raise


if __name__ == "__main__":
    main(int(sys.argv[1]))
