"""Version, Status, UpdateRuntimeConfig and RuntimeConfig."""

from __future__ import annotations

import orjson

from muntin.model.windows_releases import RUNTIME_VERSIONS
from muntin.seams.cri import Message
from muntin.winruntime.node import Node

_API_VERSION = "v1"
_PROTOCOL_VERSION = "0.1.0"


class StatusRpcs:
    """Who this runtime is, and whether it works."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def Version(self, _request: Message) -> Message:
        name = self._node.config.profile.runtime
        return {
            "version": _PROTOCOL_VERSION,
            "runtime_name": name,
            "runtime_version": RUNTIME_VERSIONS[name],
            "runtime_api_version": _API_VERSION,
        }

    async def Status(self, request: Message) -> Message:
        problem = await self._node.network.ready()
        network = {"type": "NetworkReady", "status": not problem}
        if problem:
            network |= {"reason": "NetworkPluginNotReady", "message": problem}
        response: Message = {
            "status": {"conditions": [{"type": "RuntimeReady", "status": True}, network]}
        }
        if request.get("verbose"):
            config = self._node.config
            about = {
                "emulated": True,
                "base": str(self._node.base.path),
                "build": config.profile.build,
            }
            response["info"] = {"config": orjson.dumps(about).decode()}
        return response

    async def UpdateRuntimeConfig(self, _request: Message) -> Message:
        """The pod CIDR has no use here: the CNI configuration is not made from a template."""
        return {}

    async def RuntimeConfig(self, _request: Message) -> Message:
        """Only Linux has a cgroup driver to tell."""
        return {}
