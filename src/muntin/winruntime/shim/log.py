"""The CRI log: ``TIME stream P|F text`` lines, cut at 16 KiB, with a limit to the file's size.

Windows programs end lines with CR LF; the CR goes, as containerd does it.
Source: kubernetes design-proposals "CRI: Log management"; containerd v1.7 pkg/cri/io/logger.go.
"""

from __future__ import annotations

import os
import time

MAX_LINE_BYTES = 16 * 1024


class CriLog:
    """One log file; ``path`` empty drops everything.

    When the file passes ``max_bytes`` it becomes ``path.old`` and a new one begins: a program
    that floods its output must not fill the disk while nobody rotates.
    """

    def __init__(self, path: str, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._size = 0
        self._fd = -1
        self._pending = {"stdout": b"", "stderr": b""}
        self.reopen()

    def reopen(self) -> None:
        """Continue in the file that is now at ``path``: the old one was renamed."""
        if not self._path:
            return
        if self._fd >= 0:
            os.close(self._fd)
        os.makedirs(os.path.dirname(self._path), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib costs memory
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o640)
        self._size = os.fstat(self._fd).st_size

    def write(self, stream: str, data: bytes) -> None:
        """Log what ``stream`` ("stdout" or "stderr") said; unfinished lines wait for their end."""
        data = self._pending[stream] + data
        stamp = timestamp(time.time_ns())
        lines = []
        while True:
            end = data.find(b"\n", 0, MAX_LINE_BYTES + 1)
            if end >= 0:
                text, data = data[:end], data[end + 1 :]
                lines.append(_line(stamp, stream, b"F", text.removesuffix(b"\r")))
            elif len(data) > MAX_LINE_BYTES:
                text, data = data[:MAX_LINE_BYTES], data[MAX_LINE_BYTES:]
                lines.append(_line(stamp, stream, b"P", text))
            else:
                break
        self._pending[stream] = data
        self._append(b"".join(lines))

    def close(self) -> None:
        """Write unfinished lines as such, and end."""
        for stream, data in self._pending.items():
            if data:
                self._append(_line(timestamp(time.time_ns()), stream, b"P", data))
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _append(self, data: bytes) -> None:
        if self._fd < 0 or not data:
            return
        if self._size + len(data) > self._max_bytes and self._size:
            os.rename(self._path, self._path + ".old")  # noqa: PTH104 - pathlib costs memory
            self.reopen()
        try:
            os.write(self._fd, data)
        except OSError:
            return  # a full disk must not stop the program
        self._size += len(data)


def timestamp(nanoseconds: int) -> bytes:
    """RFC 3339 in UTC with nanoseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode() + b".%09dZ" % rest


def _line(stamp: bytes, stream: str, tag: bytes, text: bytes) -> bytes:
    return b"%b %b %b %b\n" % (stamp, stream.encode(), tag, text)
