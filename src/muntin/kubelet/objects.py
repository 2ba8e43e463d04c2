"""The ConfigMaps and Secrets that this node's pods refer to, read through a short-lived cache.

A Secret's data is decoded from base64 on the way in, so that readers see bytes.
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass
from typing import Any

from muntin.kit.clock import Clock
from muntin.kit.errors import NotFound
from muntin.model.resources import CONFIG_MAPS, SECRETS
from muntin.seams.kube import KubeClient, Object

_RESOURCES = {"ConfigMap": CONFIG_MAPS, "Secret": SECRETS}


@dataclass(slots=True)
class _Entry:
    read_at: float
    obj: Object | None


class ObjectCache:
    """One read per object and ``lifetime_s``, whoever asks."""

    def __init__(self, client: KubeClient, clock: Clock, lifetime_s: float) -> None:
        self._client = client
        self._clock = clock
        self._lifetime_s = lifetime_s
        self._entries: dict[tuple[str, str, str], _Entry] = {}
        self._locks: dict[tuple[str, str, str], asyncio.Lock] = {}

    async def get(self, kind: str, namespace: str, name: str) -> Object | None:
        """The object, or None if the API server has none of that name."""
        key = (kind, namespace, name)
        async with self._locks.setdefault(key, asyncio.Lock()):
            entry = self._entries.get(key)
            now = self._clock.monotonic()
            # Absence is asked for anew each time: somebody waits for the object to appear.
            if entry is not None and entry.obj and now - entry.read_at < self._lifetime_s:
                return entry.obj
            obj = await self._read(kind, namespace, name)
            self._entries[key] = _Entry(now, obj)
            return obj

    def retain(self, keys: set[tuple[str, str, str]]) -> None:
        """Drop everything that no pod refers to any more."""
        for key in list(self._entries):
            if key not in keys:
                del self._entries[key]
                self._locks.pop(key, None)

    async def _read(self, kind: str, namespace: str, name: str) -> Object | None:
        try:
            obj = await self._client.get(_RESOURCES[kind], name, namespace)
        except NotFound:
            return None
        return _decoded(obj) if kind == "Secret" else obj


def _decoded(secret: Object) -> Object:
    data: dict[str, Any] = secret.get("data") or {}
    return {**secret, "data": {key: base64.b64decode(value) for key, value in data.items()}}
