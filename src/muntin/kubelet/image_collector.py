"""Removes unused images when the node's disk is nearly full.

Source: kubernetes v1.34 pkg/kubelet/images/image_gc_manager.go, kubelet.go StartGarbageCollection.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable

from muntin.kit.errors import Internal, MuntinError
from muntin.kit.log import fields
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.context import Context
from muntin.kubelet.image_policy import (
    ImageRecord,
    bytes_to_free,
    removable,
    unused_too_long,
)
from muntin.kubelet.images import with_tag
from muntin.kubelet.node_files import closing
from muntin.seams.cri import Message

log = logging.getLogger(__name__)

PERIOD_S = 300.0


def space_of_node(config: KubeletConfig) -> tuple[int, int]:
    """Bytes of the node's disk, and those of them that are free.

    Raises:
        Internal: the disk cannot be asked.
    """
    folder = config.platform.root_dir
    try:
        os.close(config.files.make_folders(folder))
        with closing(config.files.open(folder, os.O_RDONLY | os.O_DIRECTORY)) as opened:
            status = os.fstatvfs(opened)
    except OSError as err:
        raise Internal(f"{folder}: {err.strerror or err}") from err
    return status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize


class ImageCollector:
    """The images of this node, and since when they are known and unused."""

    def __init__(
        self,
        context: Context,
        space: Callable[[], tuple[int, int]],
        volumes: Callable[[], Iterable[str]],
    ) -> None:
        """``space`` gives the bytes of the disk, and those of them that are free; ``volumes`` the
        images that are volumes of the node's pods."""
        self._context = context
        self._space = space
        self._volumes = volumes
        self._records: dict[str, ImageRecord] = {}
        self._started_at = context.clock.now()
        self._is_first = True
        self._has_failed = False

    async def run(self) -> None:
        """Collect periodically, until cancelled."""
        while True:
            await self.turn()
            await self._context.clock.sleep(PERIOD_S)

    async def turn(self) -> None:
        """Collect once. A failure is logged; from the second in a row on, there is an event."""
        try:
            await self.collect()
        except MuntinError as err:
            log.warning("image garbage collection failed", **fields(error=err))
            if self._has_failed:  # once may be for want of figures
                self._context.node_event("Warning", "ImageGCFailed", err.message)
            self._has_failed = True
        else:
            self._has_failed = False

    async def collect(self) -> None:
        """Remove images that are too old, then as many as the disk needs.

        Raises:
            Internal: too little could be removed.
        """
        context, policy = self._context, self._context.config.image_gc
        now = context.clock.now()
        await self._look(now)
        for record in unused_too_long(self._records.values(), now, self._started_at, policy):
            await self._remove(record)
        capacity, available = await asyncio.to_thread(self._space)
        wanted = bytes_to_free(capacity, available, policy)
        if not wanted:
            return
        freed = 0
        for record in removable(list(self._records.values()), now, policy):
            if freed >= wanted:
                break
            freed += await self._remove(record)
        log.info("images removed", **fields(wanted_bytes=wanted, freed_bytes=freed))
        if freed < wanted:
            text = (
                "Failed to garbage collect required amount of images. Attempted to free "
                f"{wanted} bytes, but only found {freed} bytes eligible to free."
            )
            context.node_event("Warning", "FreeDiskSpaceFailed", text)
            raise Internal(text)

    async def _look(self, now: float) -> None:
        """Bring the records up to date. Images that were there before the kubelet have no age."""
        cri = self._context.cri
        images: list[Message] = (await cri.ListImages()).get("images", [])
        containers: list[Message] = (await cri.ListContainers()).get("containers", [])
        used = {one.get("image_ref", "") for one in containers}
        used |= {one.get("image_id", "") for one in containers}
        for name in set(self._volumes()):
            image_status = (await cri.ImageStatus({"image": {"image": with_tag(name)}})).get(
                "image"
            )
            used.add((image_status or {}).get("id", ""))
        infra = self._context.config.infra_image
        kept = {}
        for image in images:
            seen = 0.0 if self._is_first else now
            record = self._records.get(image["id"]) or ImageRecord(
                id=image["id"], size=0, first_seen=seen
            )
            names = {image["id"], *image.get("repo_tags", []), *image.get("repo_digests", [])}
            record.size = int(image.get("size", 0))
            record.is_pinned = bool(image.get("pinned")) or infra in names
            if names & used:
                record.last_used = now
            kept[record.id] = record
        self._records = kept
        self._is_first = False

    async def _remove(self, record: ImageRecord) -> int:
        """The bytes that went with it; 0 if it stays."""
        try:
            await self._context.cri.RemoveImage({"image": {"image": record.id}})
        except MuntinError as err:
            log.warning("image not removed", **fields(image=record.id, error=err))
            return 0
        self._records.pop(record.id, None)
        log.info("image removed", **fields(image=record.id, bytes=record.size))
        return record.size
