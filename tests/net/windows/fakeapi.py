"""An API server's list and watch for Services and EndpointSlices, in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from muntin.kit.errors import NotFound
from muntin.seams.kube import ObjectList, WatchEvent


class FakeApi:
    """Holds objects; every change reaches every watch. Events that are created are kept."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], dict] = {}
        self.revision = 1
        self.log: list[tuple[int, str, WatchEvent]] = []
        self.changed = asyncio.Condition()
        self.created: list[dict] = []

    async def put(self, plural: str, obj: dict) -> None:
        key = (plural, f"{obj['metadata']['namespace']}/{obj['metadata']['name']}")
        kind = "MODIFIED" if key in self.objects else "ADDED"
        await self._record(plural, kind, obj)
        self.objects[key] = obj

    async def remove(self, plural: str, name: str) -> None:
        await self._record(plural, "DELETED", self.objects.pop((plural, name)))

    async def _record(self, plural: str, kind: str, obj: dict) -> None:
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        obj["metadata"].setdefault("uid", f"uid-{obj['metadata']['name']}")
        copy = {**obj, "metadata": dict(obj["metadata"])}
        async with self.changed:
            self.log.append((self.revision, plural, WatchEvent(kind, copy)))
            self.changed.notify_all()

    async def list(self, resource, namespace=None, *, label_selector="", field_selector=""):
        items = [obj for (plural, _), obj in self.objects.items() if plural == resource.plural]
        copies = [{**obj, "metadata": dict(obj["metadata"])} for obj in items]
        return ObjectList(str(self.revision), copies)

    async def watch(
        self, resource, namespace=None, *, resource_version, label_selector="", field_selector=""
    ) -> AsyncIterator[WatchEvent]:
        at, seen = int(resource_version), 0
        while True:
            async with self.changed:
                while len(self.log) == seen:
                    await self.changed.wait()
                new, seen = self.log[seen:], len(self.log)
            for revision, plural, event in new:
                if revision > at and plural == resource.plural:
                    yield event

    async def create(self, resource, obj, namespace=None, *, subresource=""):
        self.created.append(obj)
        return obj

    async def get(self, resource, name, namespace=None):
        raise NotFound(name)


def service(name: str, address: str, *, port: int = 80, target: int = 8080, **spec) -> dict:
    protocol = spec.pop("protocol", "TCP")
    node_port = spec.pop("node_port", 0)
    ports = [{"port": port, "targetPort": target, "protocol": protocol, "name": "main"}]
    if node_port:
        ports[0]["nodePort"] = node_port
        spec.setdefault("type", "NodePort")
    return {
        "metadata": {"namespace": "default", "name": name},
        "spec": {"clusterIP": address, "clusterIPs": [address], "ports": ports, **spec},
    }


def slice_of(name: str, endpoints: dict[str, str], *, port: int = 8080, protocol="TCP") -> dict:
    """``endpoints`` maps addresses to node names."""
    return {
        "metadata": {
            "namespace": "default",
            "name": f"{name}-1",
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "ports": [{"name": "main", "port": port, "protocol": protocol}],
        "endpoints": [
            {"addresses": [address], "nodeName": node, "conditions": {"ready": True}}
            for address, node in endpoints.items()
        ],
    }


async def eventually(check, timeout_s: float = 15.0) -> None:
    """Await ``check`` until it is true; what it last said when it never is."""
    last = None
    try:
        async with asyncio.timeout(timeout_s):
            while not (last := await check()):  # noqa: ASYNC110 - packets give no event
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"still {last!r} after {timeout_s} s") from None
