"""Follows running containers to their end, and takes them up again after a restart."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from functools import partial
from pathlib import Path

import orjson

from muntin.kit import supervised
from muntin.kit.log import fields
from muntin.winruntime import exit_codes
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord
from muntin.winruntime.shim.memory import read_wine_bytes
from muntin.winruntime.shims import Following

log = logging.getLogger(__name__)


class Lives:
    """One task per running container, in the group that it is given."""

    def __init__(self, node: Node, group: supervised.Group) -> None:
        self._node = node
        self._group = group
        self._ended: dict[str, asyncio.Event] = {}

    def follow(self, container: ContainerRecord, following: Following) -> None:
        """Write down the container's end when it comes."""
        self.ended(container.id)
        self._group.start_once("winruntime-container", partial(self._watch, container, following))

    def ended(self, container_id: str) -> asyncio.Event:
        """Set when the container has ended and its record says so."""
        return self._ended.setdefault(container_id, asyncio.Event())

    def forget(self, container_id: str) -> None:
        """The container is removed."""
        self._ended.pop(container_id, None)
        self._node.warm_wine.forget(container_id)

    async def _watch(self, container: ContainerRecord, following: Following) -> None:
        await following.ended()
        await self._finish(container)

    async def _finish(self, container: ContainerRecord) -> None:
        node = self._node
        try:
            result = orjson.loads(_result_file(node, container).read_bytes())
        except (OSError, ValueError):
            await node.runc.delete(container.id)  # without its shim nobody hears it
            end, finished_at = exit_codes.LOST, node.now_ns()
        else:
            end = exit_codes.ending(result, node.config.profile)
            finished_at = int(result["finished_at"])
        if node.containers.find(container.id) is None:
            return
        container.exit_code, container.reason = end.exit_code, end.reason
        container.message = end.message
        container.starting = False
        container.started_at = container.started_at or finished_at
        container.finished_at = finished_at
        node.containers.save(container)
        self.ended(container.id).set()
        log.info(
            "container ended",
            **fields(container=container.id, exit_code=end.exit_code, reason=end.reason),
        )

    async def adopt(self, leftovers: list[str]) -> None:
        """After a start: follow what still runs, write down what ended, remove leftovers."""
        for name in leftovers:
            await self._node.runc.delete(name)
            self._node.containers.remove(name)
        for container in list(self._node.containers):
            if container.finished_at or not (container.started_at or container.starting):
                continue
            following = await self._node.shims.follow(container.id)
            if following is None:
                await self._finish(container)
            else:
                _complete_start(self._node, container)
                self.follow(container, following)


def _complete_start(node: Node, container: ContainerRecord) -> None:
    """The node process was killed while the container was being started."""
    if container.starting:
        with suppress(OSError, ValueError):
            pid_file = node.containers.folder(container.id) / "init.pid"
            container.pid = int(pid_file.read_text())
            container.wine_bytes = read_wine_bytes(str(pid_file.parent))
            container.started_at = int(os.stat(pid_file).st_mtime_ns)  # noqa: PTH116 - one call
        container.starting = False
        container.started_at = container.started_at or node.now_ns()
        node.containers.save(container)


def _result_file(node: Node, container: ContainerRecord) -> Path:
    return node.containers.folder(container.id) / "exit.json"
