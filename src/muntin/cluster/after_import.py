"""The CRI of a Linux node: waits for images that are imported, mounts those that are volumes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from muntin.cluster.image_volumes import ImageVolumes
from muntin.seams.cri import Message
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.tables import Rpc

_NEED_IMAGES = frozenset({"RunPodSandbox", "ImageStatus", "PullImage", "CreateContainer"})


class AfterImport(CriClient):
    """A CRI client whose calls about images wait until ``imported`` is set.

    A node that comes back knows its pods at once: without the wait it would say in events that the
    image of their sandbox is missing. ``volumes`` stands in for a runtime that cannot mount images.
    """

    def __init__(
        self, socket_path: str, imported: asyncio.Event, volumes: ImageVolumes | None = None
    ) -> None:
        super().__init__(socket_path)
        self._imported = imported
        self._volumes = volumes

    async def _call(self, rpc: Rpc, request: Mapping[str, Any], timeout_s: float | None) -> Message:
        if rpc.name in _NEED_IMAGES:
            await self._imported.wait()
        if self._volumes is not None and rpc.name == "CreateContainer":
            request = await self._volumes.with_paths(request)
        if self._volumes is not None and rpc.name == "RemoveImage":
            await self._volumes.forget(request["image"]["image"])
        return await super()._call(rpc, request, timeout_s)
