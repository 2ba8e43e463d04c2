"""Processes by pid, told apart from later ones with the same number by their start time."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from muntin.kit import numbers


def started(pid: int) -> str:
    """When the process was started, in the kernel's ticks; empty if there is none (or a zombie)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")  # names may be any bytes
        fields = text.rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ("Z", "X") else fields[19]


def is_alive(pid: int, start: str) -> bool:
    """Whether that very process is there."""
    return pid > 0 and bool(start) and started(pid) == start


def network_namespace(path: str) -> tuple[int, int]:
    """What tells the network namespace at ``path`` from others; zeroes if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def kill_in_namespace(namespace: tuple[int, int]) -> None:
    """End every process in a network namespace, by what :func:`network_namespace` gave."""
    for entry in Path("/proc").iterdir():
        if numbers.is_digits(entry.name) and network_namespace(f"{entry}/ns/net") == namespace != (
            0,
            0,
        ):
            with suppress(ProcessLookupError):
                os.kill(int(entry.name), signal.SIGKILL)


def kill(pid: int, start: str) -> None:
    """End that very process at once; gone is fine."""
    if is_alive(pid, start):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
