"""Keeps container logs small: a full one is renamed, the runtime opens a new one, old ones go.

Source: kubernetes v1.34 pkg/kubelet/logs/container_log_manager.go (10 MiB, five files).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

from muntin.kit.errors import Invalid, MuntinError
from muntin.kit.log import fields
from muntin.kubelet.context import Context
from muntin.kubelet.logs import LogFile
from muntin.kubelet.node_files import closing

log = logging.getLogger(__name__)

MAX_BYTES = 10 * 1024 * 1024
MAX_FILES = 5
INTERVAL_S = 10.0


def surplus(rotated: Iterable[str], keep: int = MAX_FILES - 1) -> list[str]:
    """The oldest of the rotated files beyond ``keep``; their names sort by time."""
    names = sorted(rotated)
    return names[: max(0, len(names) - keep)]


def is_full(file: LogFile, max_bytes: int = MAX_BYTES) -> bool:
    """Whether the log is due for rotation."""
    try:
        with file.open() as opened:
            return os.fstat(opened.fileno()).st_size > max_bytes
    except (OSError, Invalid):
        return False


async def rotate(context: Context, file: LogFile, container_id: str) -> None:
    """Move the full log aside and have the runtime write a new one."""
    stamp = datetime.fromtimestamp(context.clock.now(), UTC).strftime("%Y%m%d-%H%M%S")
    aside = f"{file.name}.{stamp}"
    try:
        with closing(file.directory()) as folder:
            _move(folder, file.name, aside)
            try:
                await context.cri.ReopenContainerLog({"container_id": container_id})
            except MuntinError:
                _move(folder, aside, file.name)  # the runtime still writes to it
                raise
            _remove_surplus(folder, file.name)
    except (MuntinError, OSError) as err:
        log.warning("log not rotated", **fields(container=container_id, error=err))


def _move(folder: int, name: str, target: str) -> None:
    os.rename(name, target, src_dir_fd=folder, dst_dir_fd=folder)


def _remove_surplus(folder: int, name: str) -> None:
    rotated = (entry for entry in os.listdir(folder) if entry.startswith(f"{name}."))
    for old in surplus(rotated):
        with suppress(FileNotFoundError):
            os.unlink(old, dir_fd=folder)
