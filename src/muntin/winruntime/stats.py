"""ContainerStats and ListContainerStats, from the containers' control groups."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import NotFound
from muntin.kit.trees import tree_usage
from muntin.seams.cri import Message
from muntin.seams.cri.enums import ContainerState
from muntin.winruntime.containers import memory_limit, state
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord, has_labels

_DISK_LIFE_NS = 10_000_000_000  # walking a writable layer is not free
_DISK_PART = 20
"""The maximum share of time spent on walking files, however many a container creates."""
_FS_MOUNT = "C:\\"
_LEAST_BYTES = 4096  # one page


@dataclass(frozen=True, slots=True)
class _Disk:
    """What a walk found ``at`` a time, in nanoseconds; it holds ``until``."""

    at: int
    size: int
    count: int
    until: int


class StatsRpcs:
    """What containers use."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._disk: dict[str, _Disk] = {}
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
        wine = container.wine_bytes + self._node.warm_wine.bytes(container.id)
        working_set = without_wine(usage.working_set_bytes, wine)
        memory = {
            "timestamp": now,
            "working_set_bytes": {"value": working_set},
            "usage_bytes": {"value": without_wine(usage.memory_bytes, wine)},
        }
        if limit := memory_limit(container):
            memory["available_bytes"] = {"value": max(0, limit - working_set)}
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

    def _nano_cores(self, container_id: str, now: int, cpu_ns: int) -> int:
        """CPU time per second since the last call."""
        then, before = self._cpu.get(container_id, (0, 0))
        self._cpu[container_id] = (now, cpu_ns)
        if not then or now <= then:
            return 0
        return max(0, (cpu_ns - before) * 1_000_000_000 // (now - then))

    async def _disk_usage(self, container: ContainerRecord, now: int) -> tuple[int, int, int]:
        kept = self._disk.get(container.id)
        if kept is None or now > kept.until:
            upper = self._node.containers.folder(container.id) / "upper"
            size, count = await asyncio.to_thread(tree_usage, upper)
            took = self._node.now_ns() - now
            life = max(_DISK_LIFE_NS, _DISK_PART * took)
            kept = self._disk[container.id] = _Disk(now, size, count, now + life)
        return kept.at, kept.size, kept.count


def without_wine(used: int, wine: int) -> int:
    """What the program uses; no running program uses nothing."""
    return max(_LEAST_BYTES, used - wine)
