"""Keeps container logs small: a full one is renamed, the runtime opens a new one, old ones go.

Source: kubernetes v1.34 pkg/kubelet/logs/container_log_manager.go (10 MiB, five files).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from muntin.kit.errors import MuntinError
from muntin.kit.log import fields
from muntin.kubelet.context import Context

log = logging.getLogger(__name__)

MAX_BYTES = 10 * 1024 * 1024
MAX_FILES = 5
INTERVAL_S = 10.0


def surplus(rotated: Iterable[Path], keep: int = MAX_FILES - 1) -> list[Path]:
    """The oldest of the rotated files beyond ``keep``; their names sort by time."""
    names = sorted(rotated, key=lambda path: path.name)
    return names[: max(0, len(names) - keep)]


def is_full(path: Path, max_bytes: int = MAX_BYTES) -> bool:
    """Whether the log is due for rotation."""
    return path.is_file() and path.stat().st_size > max_bytes


async def rotate(context: Context, path: Path, container_id: str) -> None:
    """Move the full log aside and have the runtime write a new one."""
    stamp = datetime.fromtimestamp(context.clock.now(), UTC).strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.name}.{stamp}")
    _move(path, aside)
    try:
        await context.cri.ReopenContainerLog({"container_id": container_id})
    except MuntinError as err:
        _move(aside, path)  # the runtime still writes to it
        log.warning("log not rotated", **fields(container=container_id, error=err))
        return
    _remove_surplus(path)


def _move(path: Path, target: Path) -> None:
    path.rename(target)


def _remove_surplus(path: Path) -> None:
    for old in surplus(path.parent.glob(f"{path.name}.*")):
        old.unlink(missing_ok=True)
