"""Container logs in the CRI format: reading them back, from any point, and following.

A line is ``<RFC 3339 nanoseconds> <stdout|stderr> <P|F> <text>``; P means that the line goes on.
Source: kubernetes v1.34 pkg/kubelet/kuberuntime/logs/logs.go.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from muntin.kit.clock import Clock, parse_rfc3339
from muntin.kit.safe_paths import open_regular
from muntin.kubelet.node_files import NodeFiles, closing

BLOCK = 32 * 1024
MAX_LINE_BYTES = 1024 * 1024
"""Runtimes split lines at 16 KiB; longer lines do not come from a runtime and are skipped."""
POLL_S = 0.1

Opener = Callable[[], BinaryIO]
"""Opens the log that has the name now."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """The log ``name`` in ``folder``, a path of the node. Each use resolves it inside the node's
    root, and takes regular files only."""

    files: NodeFiles
    folder: str
    name: str

    def open(self) -> BinaryIO:
        """
        Raises:
            OSError: it cannot be opened.
            Invalid: it is not a regular file.
        """
        with closing(self.directory()) as directory:
            return os.fdopen(open_regular(directory, self.name, os.O_RDONLY), "rb")

    def directory(self) -> int:
        """A descriptor of the folder."""
        return self.files.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Query of ``/containerLogs``; ``since`` is seconds since the epoch, 0 for all."""

    follow: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since: float = 0.0
    stream: str = "All"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file, ``partial`` when the program's own line goes on."""

    stamp: str
    stream: str
    partial: bool
    text: bytes


def parse_line(raw: bytes) -> Line | None:
    """The parts of one line, or None if it is not in the format."""
    parts = raw.rstrip(b"\n").split(b" ", 3)
    if len(parts) < 3 or parts[1] not in (b"stdout", b"stderr"):
        return None
    text = parts[3] if len(parts) > 3 else b""
    stamp, stream = parts[0].decode("ascii", "replace"), parts[1].decode("ascii")
    return Line(stamp, stream, parts[2].split(b":")[0] == b"P", text)


def render(line: Line, options: LogOptions, *, begins: bool = True) -> bytes:
    """What the reader gets of ``line``; only where one of the program's ``begins`` is the time."""
    if options.stream not in ("All", line.stream.capitalize()):
        return b""
    if options.since and _seconds(line.stamp) < options.since:
        return b""
    prefix = fixed(line.stamp).encode() + b" " if options.timestamps and begins else b""
    return prefix + line.text + (b"" if line.partial else b"\n")


def fixed(stamp: str) -> str:
    """All nine digits of the nanoseconds: runtimes leave out zeros at the end, kubelets do not."""
    digits = re.search(r"\.(\d+)", stamp)
    if digits:
        return stamp[: digits.start(1)] + digits[1].ljust(9, "0") + stamp[digits.end(1) :]
    return stamp[:19] + ".000000000" + stamp[19:]


def _seconds(stamp: str) -> float:
    """Nanoseconds are cut to what a float of the standard library can read."""
    head, dot, tail = stamp.partition(".")
    if not dot:
        return parse_rfc3339(stamp)
    digits = tail.rstrip("Z").partition("+")[0].partition("-")[0]
    return parse_rfc3339(f"{head}.{digits[:6]}{tail[len(digits) :]}")


def tail_offset(file: BinaryIO, lines: int) -> int:
    """Where the last ``lines`` lines of the file begin."""
    size = os.fstat(file.fileno()).st_size
    if lines <= 0:
        return size
    end, counted = size, 0
    while end > 0:
        start = max(0, end - BLOCK)
        file.seek(start)
        block = file.read(end - start)
        at = len(block)
        while (at := block.rfind(b"\n", 0, at)) >= 0:
            if start + at == size - 1:
                continue  # the newline that ends the last line
            counted += 1
            if counted == lines:
                return start + at + 1
        end = start
    return 0


async def read_log(
    opener: Opener, options: LogOptions, clock: Clock, ended: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    """The log as the options ask for it; following goes on until ``ended`` and the file's end."""
    left = options.limit_bytes
    begins = True
    async for line in _lines(opener, options.tail_lines, options.follow, clock, ended):
        data = render(line, options, begins=begins)
        if data:
            begins = not line.partial
        if left is not None:
            data = data[:left]
            left -= len(data)
        if data:
            yield data
        if left == 0:
            return


async def _lines(
    opener: Opener,
    tail: int | None,
    follow: bool,
    clock: Clock,
    ended: Callable[[], Awaitable[bool]],
) -> AsyncIterator[Line]:
    file = opener()
    try:
        file.seek(0 if tail is None else tail_offset(file, tail))
        rest = b""
        last_look = False
        while True:
            block = file.read(BLOCK)
            if block:
                *whole, rest = (rest + block).split(b"\n")
                rest = rest if len(rest) <= MAX_LINE_BYTES else b""
                for line in filter(None, map(parse_line, whole)):
                    yield line
                continue
            if not follow or last_look:
                return
            if (newer := _newer(opener, file)) is not None:
                file.close()
                file = newer
                continue
            last_look = await ended()
            if not last_look:
                await clock.sleep(POLL_S)
    finally:
        file.close()


def _newer(opener: Opener, file: BinaryIO) -> BinaryIO | None:
    """The file that has the name now, if it is another one."""
    try:
        newer = opener()
    except FileNotFoundError:
        return None
    if os.path.samestat(os.fstat(newer.fileno()), os.fstat(file.fileno())):
        newer.close()
        return None
    return newer


def last_lines(opener: Opener, *, lines: int, max_bytes: int) -> str:
    """The last ``lines`` lines as the program wrote them, at most ``max_bytes``."""
    return b"".join(_tail(opener, lines))[-max_bytes:].decode("utf-8", "replace")


def _tail(opener: Opener, lines: int) -> Iterator[bytes]:
    with opener() as file:
        file.seek(tail_offset(file, lines))
        rows = iter(lambda: file.readline(MAX_LINE_BYTES), b"")
        for line in filter(None, map(parse_line, rows)):
            yield render(line, LogOptions())
