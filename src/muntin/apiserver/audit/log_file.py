"""The audit log as a file of JSON lines that is rotated by size.

Blocking: a line is with the operating system before the request is answered, so that a crash of
the process loses none. Batch: lines are written by a thread now and then. Source: apiserver v1.34
plugin/pkg/audit/log; rotated files are named as lumberjack names them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from muntin.apiserver.access_config import AuditLogConfig
from muntin.apiserver.audit.buffer import Buffer
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.kit.log import fields

log = logging.getLogger(__name__)

FLUSH_S = 0.25
STDOUT = "-"
_STAMP = "%Y-%m-%dT%H-%M-%S"
_DAY_S = 24 * 3600


class LogFile:
    """Appends whole lines to ``config.path``; ``-`` is standard output and is never rotated."""

    def __init__(self, config: AuditLogConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._path = Path(config.path)
        self._limit = config.max_size_mb * 1024 * 1024
        self._fd = -1
        self._size = 0

    def write(self, data: bytes) -> None:
        """Append ``data``, which ends with a line's end, to the file.

        Raises:
            OSError: it cannot be written.
        """
        if self._limit and self._size and self._size + len(data) > self._limit:
            self._rotate()
        if self._fd < 0:
            self._open()
        view = memoryview(data)
        while view:
            written = os.write(self._fd, view)
            self._size += written
            view = view[written:]

    def _open(self) -> None:
        if self._config.path == STDOUT:
            self._fd, self._limit = sys.stdout.fileno(), 0
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._fd).st_size

    def _rotate(self) -> None:
        self.close()
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        stamp = f"{now.strftime(_STAMP)}.{now.microsecond // 1000:03}"
        target = self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}")
        self._path.rename(target)
        self._size = 0
        self._prune()

    def _prune(self) -> None:
        """Remove rotated files that are too many or too old."""
        config = self._config
        pattern = f"{self._path.stem}-*{self._path.suffix}"
        rotated = sorted(self._path.parent.glob(pattern), reverse=True)
        gone = set(rotated[config.max_backups :]) if config.max_backups else set()
        if config.max_age_days:
            oldest = self._clock.now() - config.max_age_days * _DAY_S
            gone |= {path for path in rotated if path.stat().st_mtime < oldest}
        for path in gone:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; the next write opens it again."""
        if self._fd >= 0 and self._config.path != STDOUT:
            os.close(self._fd)
        self._fd = -1


class BlockingLog:
    """Writes each line at once; ``strict``: a line that cannot be written fails its request."""

    def __init__(self, config: AuditLogConfig, clock: Clock) -> None:
        self._file = LogFile(config, clock)
        self._strict = config.mode == "blocking-strict"

    def write(self, line: bytes) -> None:
        """Append one event.

        Raises:
            Unavailable: it cannot be written, and the mode is strict.
        """
        try:
            self._file.write(line + b"\n")
        except OSError as err:
            log.error("audit log cannot be written", **fields(error=err))
            if self._strict:
                raise errors.Unavailable("the audit log cannot be written") from err

    async def run(self) -> None:
        """There is nothing to do in the background."""

    async def close(self) -> None:
        """Close the file."""
        self._file.close()


class BatchLog:
    """Collects lines and lets a thread write them; what comes too fast is dropped."""

    def __init__(self, config: AuditLogConfig, clock: Clock) -> None:
        self._file = LogFile(config, clock)
        self._waiting = Buffer(clock, FLUSH_S)

    def write(self, line: bytes) -> None:
        """Append one event soon."""
        self._waiting.put(line)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self._waiting.due()
            await self._flush()

    async def _flush(self) -> None:
        lines = self._waiting.take()
        if not lines:
            return
        try:
            await asyncio.to_thread(self._file.write, b"\n".join(lines) + b"\n")
        except OSError as err:
            log.error("audit log cannot be written", **fields(error=err, lines=len(lines)))

    async def close(self) -> None:
        """Write what is left and close the file."""
        await self._flush()
        self._file.close()
