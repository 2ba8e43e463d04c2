"""Kill every process of the container but its init; the init then ends by itself."""

import contextlib
import os
import signal

os.setsid()
for pid in sorted((int(p) for p in os.listdir("/proc") if p.isdigit()), reverse=True):
    if pid not in (1, os.getpid(), os.getppid()):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
