"""ContainerStats and ListContainerStats, from the containers' control groups."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from muntin.kit.errors import NotFound
from muntin.seams.cri import Message
from muntin.seams.cri.enums import ContainerState
from muntin.winruntime.containers import state
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord, has_labels

_DISK_LIFE_NS = 10_000_000_000  # walking a writable layer is not free
_FS_MOUNT = "C:\\"


class StatsRpcs:
    """What containers use."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._disk: dict[str, tuple[int, int, int]] = {}
        self._cpu: dict[str, tuple[int, int]] = {}

    async def ContainerStats(self, request: Message) -> Message:
        container = self._node.containers.get(request.get("container_id", ""))
        stats = await self._stats(container)
        if stats is None:
            raise NotFound(f"container {container.id!r} is not running: it has no stats")
        return {"stats": stats}

    async def ListContainerStats(self, request: Message) -> Message:
        wanted = request.get("filter") or {}
        found = [
            await self._stats(container)
            for container in self._node.containers
            if container.id.startswith(wanted.get("id", ""))
            and container.sandbox_id.startswith(wanted.get("pod_sandbox_id", ""))
            and has_labels(container.config.get("labels") or {}, wanted.get("label_selector") or {})
        ]
        return {"stats": [stats for stats in found if stats is not None]}

    async def _stats(self, container: ContainerRecord) -> dict[str, Any] | None:
        """None for a container that does not run: Windows has no numbers for it."""
        if state(container) is not ContainerState.CONTAINER_RUNNING:
            self._disk.pop(container.id, None)
            self._cpu.pop(container.id, None)
            return None
        usage = self._node.cgroups.usage(self._node.cgroup(container.id))
        if usage is None:
            return None
        now = self._node.now_ns()
        disk_at, size, count = await self._disk_usage(container, now)
        memory_limit = self._limit(container)
        memory = {
            "timestamp": now,
            "working_set_bytes": {"value": usage.working_set_bytes},
            "usage_bytes": {"value": usage.memory_bytes},
        }
        if memory_limit:
            available = max(0, memory_limit - usage.working_set_bytes)
            memory["available_bytes"] = {"value": available}
        return {
            "attributes": {
                "id": container.id,
                "metadata": dict(container.metadata),
                "labels": container.config.get("labels") or {},
                "annotations": container.config.get("annotations") or {},
            },
            "cpu": {
                "timestamp": now,
                "usage_core_nano_seconds": {"value": usage.cpu_ns},
                "usage_nano_cores": {"value": self._nano_cores(container.id, now, usage.cpu_ns)},
            },
            "memory": memory,
            "writable_layer": {
                "timestamp": disk_at,
                "fs_id": {"mountpoint": _FS_MOUNT},
                "used_bytes": {"value": size},
                "inodes_used": {"value": count},
            },
        }

    def _limit(self, container: ContainerRecord) -> int:
        resources = (container.config.get("windows") or {}).get("resources") or {}
        return int(resources.get("memory_limit_in_bytes", 0))

    def _nano_cores(self, container_id: str, now: int, cpu_ns: int) -> int:
        """CPU time per second since the last call."""
        then, before = self._cpu.get(container_id, (0, 0))
        self._cpu[container_id] = (now, cpu_ns)
        if not then or now <= then:
            return 0
        return max(0, (cpu_ns - before) * 1_000_000_000 // (now - then))

    async def _disk_usage(self, container: ContainerRecord, now: int) -> tuple[int, int, int]:
        kept = self._disk.get(container.id)
        if kept is None or now - kept[0] > _DISK_LIFE_NS:
            upper = self._node.containers.folder(container.id) / "upper"
            size, count = await asyncio.to_thread(disk_usage, upper)
            kept = self._disk[container.id] = (now, size, count)
        return kept


def disk_usage(folder: Path) -> tuple[int, int]:
    """Bytes and number of files below ``folder``."""
    size = count = 0
    for root, _, names in os.walk(folder):
        for name in names:
            count += 1
            try:
                size += Path(root, name).lstat().st_size
            except OSError:
                continue
    return size, count
