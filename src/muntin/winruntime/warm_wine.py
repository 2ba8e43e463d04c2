"""Keeps Wine up for a while in containers whose own program does not need it.

Without it, each ``exec`` of a Windows program there would start Wine (0.3 s) and then wait for
Wine's services to end, which hold the program's output open (0.5 s).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import orjson

from muntin.kit.clock import Clock
from muntin.kit.errors import Unavailable
from muntin.winruntime.cgroups import CgroupReader
from muntin.winruntime.launch import linger_process
from muntin.winruntime.runc import Runc
from muntin.winruntime.shim.control import Control
from muntin.winruntime.shim.memory import WINE_START_BYTES

LINGER_S = 60
_RENEW_S = 30
_START_LIMIT_S = 20.0
_MOST_BYTES = 96 << 20
"""What Wine may have taken; the container's own program may grow beside it meanwhile."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one container: ``asked`` is its limit, 0 for none."""

    cgroups: CgroupReader
    cgroup: str
    asked: int

    def used(self) -> int:
        """The working set; 0 for a container that has ended."""
        usage = self.cgroups.usage(self.cgroup)
        return usage.working_set_bytes if usage else 0

    def limit(self, wine: int) -> None:
        """Let the container have its limit and ``wine`` bytes."""
        if self.asked:
            self.cgroups.set_memory_limit(self.cgroup, self.asked + wine)


class WarmWine:
    """Remembers until when Wine stays up in each container."""

    def __init__(self, runc: Runc, clock: Clock) -> None:
        self._runc = runc
        self._clock = clock
        self._until: dict[str, float] = {}
        self._bytes: dict[str, int] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ensure(
        self, container_id: str, netns: str, folder: Path, user: str, uid: int, memory: Memory
    ) -> None:
        """Return once Wine is up in the container, and will be for the next half minute.

        Raises:
            Unavailable: it did not come up.
        """
        async with self._locks[container_id]:
            if self._until.get(container_id, 0.0) - self._clock.monotonic() > _RENEW_S:
                return
            before, taken = memory.used(), self._bytes.get(container_id, 0)
            memory.limit(WINE_START_BYTES)
            try:
                await self._start(container_id, netns, folder, user, uid)
            finally:
                taken = max(taken, min(memory.used() - before, _MOST_BYTES))
                memory.limit(taken)
            self._bytes[container_id] = taken
            self._until[container_id] = self._clock.monotonic() + LINGER_S

    def bytes(self, container_id: str) -> int:
        """The memory that Wine takes in the container while it is kept up."""
        if self._until.get(container_id, 0.0) < self._clock.monotonic():
            return 0
        return self._bytes.get(container_id, 0)

    def forget(self, container_id: str) -> None:
        """The container is removed."""
        self._until.pop(container_id, None)
        self._bytes.pop(container_id, None)
        self._locks.pop(container_id, None)

    async def _start(
        self, container_id: str, netns: str, folder: Path, user: str, uid: int
    ) -> None:
        process_file = folder / "linger.json"
        process = linger_process(user, uid, LINGER_S)
        process_file.write_bytes(orjson.dumps(process.document()))
        control = Control()
        try:
            control_fd = control.theirs.fileno()
            await self._runc.exec_detached(container_id, netns, process_file, control_fd)
            control.theirs.close()
            async with asyncio.timeout(_START_LIMIT_S):
                failure = await _started(control)
        except TimeoutError:
            failure = True
        finally:
            control.close()
        if failure:
            raise Unavailable(f"Wine did not start in container {container_id}")


async def _started(control: Control) -> bool:
    """Wait until the program reports that it runs; returns whether it failed."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(control.fileno(), readable.set)
    try:
        while (number := control.take_started()) is None:
            readable.clear()
            await readable.wait()
        return number != 0
    except EOFError:
        return True
    finally:
        loop.remove_reader(control.fileno())
