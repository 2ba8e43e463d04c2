"""The mount table of this process: what is mounted below a folder, and how to detach it."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One row of mountinfo; ``kind`` is the file system's type."""

    target: str
    kind: str


def parse(mountinfo: str) -> list[Mount]:
    """The rows of /proc/PID/mountinfo, in the order they were mounted. Source: proc(5)."""
    rows = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        target = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), left.split(" ")[4])
        rows.append(Mount(target.removesuffix("//deleted"), right.split(" ")[0]))
    return rows


def below(roots: Iterable[Path]) -> list[Mount]:
    """What is mounted on or below ``roots``, in the order it was mounted."""
    folders = tuple(str(root) for root in roots)
    table = parse(Path("/proc/self/mountinfo").read_text())
    return [
        row
        for row in table
        if any(row.target == folder or row.target.startswith(f"{folder}/") for folder in folders)
    ]


def detach(target: str) -> None:
    """Unmount ``target`` now and free it with its last user; not mounted is fine."""
    if _libc.umount2(os.fsencode(target), _MNT_DETACH):
        number = ctypes.get_errno()
        if number not in (2, 22):  # ENOENT, EINVAL: gone already
            raise OSError(number, f"unmount {target}: {os.strerror(number)}")
