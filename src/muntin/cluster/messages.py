"""What the supervisor tells ``muntin up`` while it starts: JSON lines on a pipe."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import IO

from muntin.kit import errors
from muntin.kit.errors import Internal, MuntinError


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``kind`` is "begin" or "end" of a step, "note" within one, "up" or "error" at the last."""

    kind: str
    text: str = ""
    seconds: float = 0.0
    error: str = ""


class Reporter:
    """The writing end. Losing the reader is no reason to stop."""

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd

    def send(self, report: Report) -> None:
        if self._fd is not None:
            try:
                os.write(self._fd, json.dumps(asdict(report)).encode() + b"\n")
            except BrokenPipeError:
                self.close()

    def fail(self, error: BaseException) -> None:
        """Say why the start failed; unexpected errors keep their class's name."""
        if isinstance(error, MuntinError):
            self.send(Report(kind="error", text=error.message, error=type(error).__name__))
        else:
            text = f"{type(error).__name__}: {error}"
            self.send(Report(kind="error", text=text, error=Internal.__name__))

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def read(pipe: IO[bytes]) -> Iterator[Report]:
    """Reports up to the last.

    Raises:
        MuntinError: the start failed; the class is the one that was raised there.
    """
    for line in pipe:
        report = Report(**json.loads(line))
        if report.kind == "error":
            raise getattr(errors, report.error, Internal)(report.text)
        yield report
