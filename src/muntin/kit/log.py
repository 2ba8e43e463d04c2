"""One logging set-up for every process: constant messages, values as ``key=value`` fields.

Use ``logging.getLogger(__name__)`` and pass values by ``extra={"fields": {...}}`` through
:func:`fields`, e.g. ``log.info("pod started", **fields(pod="default/a", node="win01"))``.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any


def fields(**values: object) -> dict[str, Any]:
    """Keyword arguments for a logging call that carry ``values`` as fields."""
    return {"extra": {"fields": values}}


def object_ref(obj: dict[str, Any]) -> str:
    """``namespace/name`` of an API object, or its name where it has no namespace."""
    meta = obj.get("metadata") or {}
    namespace = meta.get("namespace")
    return f"{namespace}/{meta.get('name')}" if namespace else str(meta.get("name"))


class _TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        head = f"{stamp}.{int(record.msecs):03d}Z {record.levelname[0]} {record.name}"
        values = getattr(record, "fields", {})
        tail = "".join(f" {key}={_text(value)}" for key, value in values.items())
        line = f"{head}: {record.getMessage()}{tail}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        row = {
            "ts": record.created,
            "level": record.levelname,
            "logger": record.name,
            "msg": record.getMessage(),
            **{key: str(value) for key, value in getattr(record, "fields", {}).items()},
        }
        if record.exc_info:
            row["error"] = self.formatException(record.exc_info)
        return json.dumps(row)


def _text(value: object) -> str:
    text = str(value)
    return json.dumps(text) if not text or any(c in text for c in ' "\n') else text


def setup(*, level: str = "INFO", form: str = "text") -> None:
    """Send all loggers of this process to stderr, as ``text`` or ``json`` lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
