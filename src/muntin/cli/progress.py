"""Steps on the screen: one line each, with a tick and its time; plain text off a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_PLAIN_NOTE_EVERY_S = 5.0


class ScreenProgress:
    """A :class:`muntin.cluster.progress.Progress` on ``stream``."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._current = ""
        self._noted_at = 0.0

    def begin(self, text: str) -> None:
        """Show that ``text`` goes on."""
        self._current = text
        self._noted_at = time.monotonic()
        if self._live:
            self._write(f"\r\033[K \033[33m•\033[0m {text} ...")

    def note(self, text: str) -> None:
        """Say more of the current step."""
        now = time.monotonic()
        if self._live:
            self._write(f"\r\033[K \033[33m•\033[0m {self._current}: {text} ...")
        elif now - self._noted_at > _PLAIN_NOTE_EVERY_S:
            self._noted_at = now
            self._write(f"   {self._current}: {text}\n")

    def end(self, text: str, seconds: float) -> None:
        """Tick ``text`` off."""
        if self._live:
            self._write(f"\r\033[K \033[32m✓\033[0m {text} \033[2m({seconds:.2f} s)\033[0m\n")
        else:
            self._write(f" ok {text} ({seconds:.2f} s)\n")
        self._current = ""

    def clear(self) -> None:
        """Take away the line of a step that did not end."""
        if self._live and self._current:
            self._write("\r\033[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
