"""The CRI log: ``TIME stream P|F text`` lines, cut at 16 KiB, with a limit to the file's size.

Windows programs end lines with CR LF; the CR goes, as containerd does it.
Source: kubernetes design-proposals "CRI: Log management"; containerd v1.7 pkg/cri/io/logger.go.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from muntin.kit.errors import Invalid
from muntin.kit.safe_paths import make_folders, open_regular

MAX_LINE_BYTES = 16 * 1024


class CriLog:
    """The log ``path`` below the folder ``root``; ``path`` empty drops everything.

    Pods may rename and link below ``root``: the log is opened inside it, and is a regular file.
    When the file passes ``max_bytes`` it becomes ``path.old`` and a new one begins: a program
    that floods its output must not fill the disk while nobody rotates.
    """

    def __init__(self, root: str, path: str, max_bytes: int) -> None:
        self._root = Path(root)
        self._path = path
        self._max_bytes = max_bytes
        self._size = 0
        self._fd = self._folder = -1
        self._pending = {"stdout": b"", "stderr": b""}
        self._open()

    def reopen(self) -> None:
        """Continue in the file that is now at ``path``: the old one was renamed.

        Where none can be opened, the old one goes on: the program must not stop.
        """
        with suppress(OSError, Invalid):
            self._open()

    def _open(self) -> None:
        if not self._path:
            return
        parent, _, name = self._path.rpartition("/")
        folder = make_folders(self._root, parent)
        try:
            fd = open_regular(folder, name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
        except BaseException:
            os.close(folder)
            raise
        self._close()
        self._fd, self._folder = fd, folder
        self._size = os.fstat(fd).st_size

    def _close(self) -> None:
        for fd in (self._fd, self._folder):
            if fd >= 0:
                os.close(fd)
        self._fd = self._folder = -1

    def write(self, stream: str, data: bytes) -> None:
        """Log what ``stream`` ("stdout" or "stderr") said; unfinished lines wait for their end."""
        data = self._pending[stream] + data
        stamp = timestamp(time.time_ns())
        lines, at = [], 0
        while True:  # each byte is looked at and copied once, however short the lines are
            end = data.find(b"\n", at, at + MAX_LINE_BYTES + 1)
            if end >= 0:
                lines.append(_line(stamp, stream, b"F", data[at:end].removesuffix(b"\r")))
                at = end + 1
            elif len(data) - at > MAX_LINE_BYTES:
                lines.append(_line(stamp, stream, b"P", data[at : at + MAX_LINE_BYTES]))
                at += MAX_LINE_BYTES
            else:
                break
        self._pending[stream] = data[at:]
        self._append(b"".join(lines))

    def close(self) -> None:
        """Write unfinished lines as such, and end."""
        for stream, data in self._pending.items():
            if data:
                self._append(_line(timestamp(time.time_ns()), stream, b"P", data))
        self._close()

    def _append(self, data: bytes) -> None:
        if self._fd < 0 or not data:
            return
        if self._size + len(data) > self._max_bytes and self._size:
            self._set_aside()
        try:
            os.write(self._fd, data)
        except OSError:
            return  # a full disk must not stop the program
        self._size += len(data)

    def _set_aside(self) -> None:
        name = self._path.rpartition("/")[2]
        with suppress(OSError):
            os.rename(name, f"{name}.old", src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self.reopen()


def timestamp(nanoseconds: int) -> bytes:
    """RFC 3339 in UTC with nanoseconds."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode() + b".%09dZ" % rest


def _line(stamp: bytes, stream: str, tag: bytes, text: bytes) -> bytes:
    return b"%b %b %b %b\n" % (stamp, stream.encode(), tag, text)
