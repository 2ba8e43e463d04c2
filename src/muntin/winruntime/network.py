"""A pod's network: an HCN namespace, and CNI ADD into it. Nothing here knows what is below HNS."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from muntin.kit import netns
from muntin.kit.errors import MuntinError, NotFound
from muntin.seams.cni.conf import NetworkConf, load
from muntin.seams.cni.runner import Attachment, CniRunner
from muntin.seams.hns import HnsClient, Kind
from muntin.seams.hns.errors import HnsNotFound
from muntin.winruntime.records import SandboxRecord


@dataclass(frozen=True, slots=True)
class Namespace:
    """An HCN namespace: its GUID, and the Linux namespace that carries it."""

    id: str
    netns: str


class PodNetwork(Protocol):
    """What sandboxes need of the network."""

    async def ready(self) -> str:
        """Empty when pods can be attached, else why not."""

    def new_namespace(self) -> Namespace:
        """The identity of a namespace that is not made yet."""

    async def create_namespace(self, namespace: Namespace) -> None:
        """Make it, empty."""

    async def attach(self, sandbox: SandboxRecord) -> list[str]:
        """Attach the pod to the network; gives its addresses."""

    async def detach(self, sandbox: SandboxRecord) -> None:
        """Undo :meth:`attach`; not attached is fine."""

    async def delete_namespace(self, namespace_id: str) -> None:
        """Remove a namespace; absent is fine."""


class HnsNetwork:
    """The network of a node that has HNS and CNI plugins."""

    def __init__(self, hns: HnsClient, cni: CniRunner, conf_dir: Path, netns_prefix: str) -> None:
        self._hns = hns
        self._cni = cni
        self._conf_dir = conf_dir
        self._netns_prefix = netns_prefix

    async def ready(self) -> str:
        """See ``PodNetwork``; the words are containerd's."""
        try:
            load(self._conf_dir)
        except MuntinError:
            return "Network plugin returns error: cni plugin not initialized"
        return ""

    def new_namespace(self) -> Namespace:
        """See ``PodNetwork``."""
        namespace_id = str(uuid.uuid4())
        path = netns.path_of(self._netns_prefix + namespace_id)
        return Namespace(namespace_id.upper(), str(path))

    async def create_namespace(self, namespace: Namespace) -> None:
        """See ``PodNetwork``."""
        await self._hns.create(Kind.NAMESPACE, {"ID": namespace.id})

    async def attach(self, sandbox: SandboxRecord) -> list[str]:
        """See ``PodNetwork``."""
        result = await self._cni.add(self._network(), self._attachment(sandbox))
        return [str(address.interface.ip) for address in result.addresses]

    async def detach(self, sandbox: SandboxRecord) -> None:
        """See ``PodNetwork``."""
        with suppress(NotFound):
            await self._cni.delete(self._network(), self._attachment(sandbox))

    async def delete_namespace(self, namespace_id: str) -> None:
        """See ``PodNetwork``."""
        with suppress(HnsNotFound):
            await self._hns.delete(Kind.NAMESPACE, namespace_id)

    def _attachment(self, sandbox: SandboxRecord) -> Attachment:
        return attachment(sandbox)

    def _network(self) -> NetworkConf:
        return load(self._conf_dir)


def attachment(sandbox: SandboxRecord) -> Attachment:
    """The pod as CNI plugins are told of it.

    Source: containerd v1.7 pkg/cri/server/sandbox_run.go (cniNamespaceOpts).
    """
    meta = sandbox.metadata
    args = {
        "IgnoreUnknown": "1",
        "K8S_POD_NAMESPACE": str(meta.get("namespace", "")),
        "K8S_POD_NAME": str(meta.get("name", "")),
        "K8S_POD_INFRA_CONTAINER_ID": sandbox.id,
        "K8S_POD_UID": str(meta.get("uid", "")),
    }
    return Attachment(
        container_id=sandbox.id,
        netns=sandbox.namespace_id,
        args=args,
        capability_args=_capabilities(sandbox.config),
    )


def _capabilities(config: Mapping[str, Any]) -> dict[str, Any]:
    dns = config.get("dns_config") or {}
    capabilities: dict[str, Any] = {}
    if dns:
        capabilities["dns"] = {
            "servers": list(dns.get("servers") or ()),
            "searches": list(dns.get("searches") or ()),
            "options": list(dns.get("options") or ()),
        }
    mappings = [
        {
            "hostPort": m["host_port"],
            "containerPort": m.get("container_port", 0),
            "protocol": ("tcp", "udp", "sctp")[m.get("protocol", 0)],
            "hostIP": m.get("host_ip", ""),
        }
        for m in config.get("port_mappings") or ()
        if m.get("host_port")
    ]
    if mappings:
        capabilities["portMappings"] = mappings
    return capabilities
