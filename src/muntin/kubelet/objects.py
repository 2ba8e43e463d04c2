"""The objects that this node's pods refer to (ConfigMaps, Secrets, claims), read when needed.

A Secret's data is decoded from base64 on the way in, so that readers see bytes.
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from typing import Any

from muntin.kit.clock import Clock
from muntin.kit.errors import NotFound
from muntin.model.resources import (
    CONFIG_MAPS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    SECRETS,
)
from muntin.seams.kube import KubeClient, Object

_RESOURCES = {
    "ConfigMap": CONFIG_MAPS,
    "Node": NODES,
    "PersistentVolume": PERSISTENT_VOLUMES,
    "PersistentVolumeClaim": PERSISTENT_VOLUME_CLAIMS,
    "Secret": SECRETS,
}


@dataclass(slots=True)
class _Entry:
    read_at: float
    obj: Object | None


class ObjectCache:
    """Objects as they are, or as they were up to ``lifetime_s`` ago for who can live with that."""

    def __init__(self, client: KubeClient, clock: Clock, lifetime_s: float) -> None:
        self._client = client
        self._clock = clock
        self._lifetime_s = lifetime_s
        self._entries: dict[tuple[str, str, str], _Entry] = {}
        self._locks: dict[tuple[str, str, str], asyncio.Lock] = {}

    async def get(
        self, kind: str, namespace: str, name: str, *, recent: bool = False
    ) -> Object | None:
        """The object, or None if the API server has none of that name.

        It is no older than the call, so that a container never starts with what was so before;
        with ``recent`` it may be older. Who asks while another one asks gets the same answer.
        """
        key = (kind, namespace, name)
        oldest = self._clock.monotonic() - (self._lifetime_s if recent else 0)
        async with self._locks.setdefault(key, asyncio.Lock()):
            entry = self._entries.get(key)
            # Absence is asked for anew each time: somebody waits for the object to appear.
            if entry is not None and entry.obj and entry.read_at >= oldest:
                return entry.obj
            now = self._clock.monotonic()
            obj = await self._read(kind, namespace, name)
            self._forget(now - self._lifetime_s)
            self._entries[key] = _Entry(now, obj)
            return obj

    def _forget(self, before: float) -> None:
        """Drop what is too old for everybody."""
        for key in [key for key, entry in self._entries.items() if entry.read_at < before]:
            del self._entries[key]
            if not self._locks[key].locked():
                del self._locks[key]

    async def _read(self, kind: str, namespace: str, name: str) -> Object | None:
        try:
            obj = await self._client.get(_RESOURCES[kind], name, namespace or None)
        except NotFound:
            return None
        return _decoded(obj) if kind == "Secret" else obj


def _decoded(secret: Object) -> Object:
    data: dict[str, Any] = secret.get("data") or {}
    return {**secret, "data": {key: base64.b64decode(value) for key, value in data.items()}}
