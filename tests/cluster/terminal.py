"""Runs a program on a terminal and types when something is seen."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def typed(
    command: Sequence[str],
    environment: Mapping[str, str],
    keys: Sequence[tuple[str, str]],
    *,
    cwd: Path | None = None,
    patience_s: float = 90,
) -> tuple[int, str]:
    """Exit code and screen of ``command``; each key is typed after a text is seen."""
    terminal, inner = pty.openpty()
    try:
        process = subprocess.Popen(
            command, env=environment, cwd=cwd, stdin=inner, stdout=inner, stderr=inner,
            start_new_session=True,
        )  # fmt: skip
    finally:
        os.close(inner)
    screen, waiting, end = "", list(keys), time.monotonic() + patience_s
    done = 0  # how much of the screen was waited for
    try:
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            screen += data.decode(errors="replace")
            while waiting and waiting[0][0] in screen[done:]:
                seen, text = waiting.pop(0)
                done = screen.index(seen, done) + len(seen)
                _await_raw(terminal)
                os.write(terminal, text.encode())
        else:
            process.kill()
            raise AssertionError(f"still waiting for {waiting} in {screen!r}")
    finally:
        os.close(terminal)
        code = process.wait()
    return code, screen


def _await_raw(terminal: int, patience_s: float = 3) -> None:
    """Return when the program reads key by key; one that reads lines is not waited for long.

    kubectl asks for Enter before it does so, and a terminal that reads lines turns the Enter of
    somebody very fast into a line feed, which the console of Windows takes for Ctrl+J.
    """
    end = time.monotonic() + patience_s
    while termios.tcgetattr(terminal)[3] & termios.ICANON and time.monotonic() < end:
        time.sleep(0.01)
