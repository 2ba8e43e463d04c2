"""A pod's network where HNS has no HCN: a compartment, and the sandbox hot-attached by CNI.

Docker made the compartment of such a pod when it made its first container; here the runtime does,
and tells the Host Networking Service which container is in it.
"""

from __future__ import annotations

from dataclasses import replace

from muntin.seams.cni.runner import Attachment
from muntin.seams.hns.errors import HnsNotFound
from muntin.winruntime.network import HnsNetwork, Namespace, attachment
from muntin.winruntime.records import SandboxRecord

_SANDBOX = "none"  # CNI_NETNS of the container that a pod begins with


class HnsV1Network(HnsNetwork):
    """See ``PodNetwork``."""

    async def create_namespace(self, namespace: Namespace) -> None:
        await self._hns.call("POST", "/namespaces/", {"ID": namespace.id})

    async def attach(self, sandbox: SandboxRecord) -> list[str]:
        resource = {"Type": "Container", "Data": {"ID": sandbox.id}}
        path = f"/namespaces/{sandbox.namespace_id}/addresource"
        await self._hns.call("POST", path, resource)
        return await super().attach(sandbox)

    async def delete_namespace(self, namespace_id: str) -> None:
        try:
            await self._hns.call("DELETE", f"/namespaces/{namespace_id}")
        except HnsNotFound:
            return

    def _attachment(self, sandbox: SandboxRecord) -> Attachment:
        return replace(attachment(sandbox), netns=_SANDBOX)
