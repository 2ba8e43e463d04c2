"""Usage and limits in control groups, of either version (and of hosts that have both).

Source: Linux Documentation/admin-guide/cgroup-v1/memory.rst, cpuacct.rst and cgroup-v2.rst.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU time in nanoseconds, memory in use and its part that cannot be taken back, in bytes."""

    cpu_ns: int
    memory_bytes: int
    working_set_bytes: int


class CgroupReader:
    """Reads below ``root``, which tests may put elsewhere."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._is_v1 = (root / "memory").is_dir()

    def usage(self, path: str) -> Usage | None:
        """What the group uses now; None if it is gone."""
        try:
            return self._usage_v1(path) if self._is_v1 else self._usage_v2(path)
        except (OSError, ValueError):
            return None

    def oom_files(self, path: str) -> list[str]:
        """Files with a line ``oom_kill N``; the first that is there counts."""
        below = path.lstrip("/")
        return [
            str(self._root / "memory" / below / "memory.oom_control"),
            str(self._root / below / "memory.events"),
        ]

    def memory_files(self, path: str) -> dict[str, str]:
        """The files of usage, limit and parts; ``inactive`` names the part that can be freed."""
        below = path.lstrip("/")
        group = self._root / "memory" / below if self._is_v1 else self._root / below
        names = ("memory.usage_in_bytes", "memory.limit_in_bytes", "total_inactive_file")
        if not self._is_v1:
            names = ("memory.current", "memory.max", "inactive_file")
        return {
            "usage": str(group / names[0]),
            "limit": str(group / names[1]),
            "stat": str(group / "memory.stat"),
            "inactive": names[2],
        }

    def set_memory_limit(self, path: str, limit: int) -> None:
        """Change the limit of a running container, if it has not ended and does not use more."""
        with suppress(OSError):
            Path(self.memory_files(path)["limit"]).write_text(str(limit))

    def _usage_v1(self, path: str) -> Usage:
        memory, below = self._root / "memory" / path.lstrip("/"), path.lstrip("/")
        used = int((memory / "memory.usage_in_bytes").read_text())
        inactive = _field(memory / "memory.stat", "total_inactive_file")
        cpu = self._root / "cpuacct" / below / "cpuacct.usage"
        return Usage(int(cpu.read_text()), used, max(0, used - inactive))

    def _usage_v2(self, path: str) -> Usage:
        group = self._root / path.lstrip("/")
        used = int((group / "memory.current").read_text())
        inactive = _field(group / "memory.stat", "inactive_file")
        cpu_us = _field(group / "cpu.stat", "usage_usec")
        return Usage(cpu_us * 1000, used, max(0, used - inactive))


def _field(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
