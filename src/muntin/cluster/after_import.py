"""The CRI of a Linux node whose images of this machine are still being imported."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from muntin.seams.cri import Message
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.tables import Rpc

_NEED_IMAGES = frozenset({"RunPodSandbox", "ImageStatus", "PullImage", "CreateContainer"})


class AfterImport(CriClient):
    """A CRI client whose calls about images wait until ``imported`` is set.

    A node that comes back knows its pods at once: without the wait it would say in events that the
    image of their sandbox is missing.
    """

    def __init__(self, socket_path: str, imported: asyncio.Event) -> None:
        super().__init__(socket_path)
        self._imported = imported

    async def _call(self, rpc: Rpc, request: Mapping[str, Any], timeout_s: float | None) -> Message:
        if rpc.name in _NEED_IMAGES:
            await self._imported.wait()
        return await super()._call(rpc, request, timeout_s)
