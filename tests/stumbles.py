"""What was logged with the stack of an unexpected exception: where a component stumbled."""

from __future__ import annotations

import logging

from muntin.kit.errors import MuntinError


class Stumbles(logging.Handler):
    """Collects what was logged with the stack of an exception that is none of our own errors."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, str], tuple[str, str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        info = record.exc_info
        err = info[1] if info else None
        if info and err is not None and not isinstance(err, MuntinError):
            text = logging.Formatter().formatException(info)
            self.seen[text.splitlines()[-3], repr(err)] = (record.getMessage(), text)
