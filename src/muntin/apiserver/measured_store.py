"""The store as the API server uses it: no object too large for etcd goes in, and calls are timed.

Source: etcd v3.4 ``--max-request-bytes``; metrics: apiserver v1.34 pkg/storage/etcd3/metrics.
"""

from __future__ import annotations

import time

from muntin.apiserver import status
from muntin.apiserver.metrics import Metrics
from muntin.seams.store import Durability, Page, Record, Store, Watch


class MeasuredStore:
    """``store`` with a bound on values; a time is counted by operation and resource."""

    def __init__(self, store: Store, metrics: Metrics, most_bytes: int) -> None:
        self._store = store
        self._durations = metrics.store_requests
        self._most_bytes = most_bytes

    def _done(self, operation: str, key: str, started: float) -> None:
        group, plural = (*key.split("/", 4), "", "")[2:4]
        labels = (operation, f"{plural}.{group}" if group not in ("core", "") else plural)
        self._durations.observe(labels, time.perf_counter() - started)

    def _check(self, value: bytes) -> None:
        if len(value) > self._most_bytes:
            raise status.ApiError(413, "RequestEntityTooLarge", "etcdserver: request is too large")

    async def get(self, key: str, revision: int = 0) -> Record:
        """As the store's."""
        started = time.perf_counter()
        try:
            return await self._store.get(key, revision)
        finally:
            self._done("get", key, started)

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 0, revision: int = 0
    ) -> Page:
        """As the store's."""
        started = time.perf_counter()
        try:
            return await self._store.list(prefix, after=after, limit=limit, revision=revision)
        finally:
            self._done("list", prefix, started)

    async def count(self, prefix: str) -> int:
        """As the store's."""
        return await self._store.count(prefix)

    async def create(self, key: str, value: bytes) -> int:
        """As the store's.

        Raises:
            ApiError: 413, the value is too large.
        """
        self._check(value)
        started = time.perf_counter()
        revision = await self._store.create(key, value)
        self._done("create", key, started)
        return revision

    async def update(self, key: str, value: bytes, expected: int) -> int:
        """As the store's.

        Raises:
            ApiError: 413, the value is too large.
        """
        self._check(value)
        started = time.perf_counter()
        revision = await self._store.update(key, value, expected)
        self._done("update", key, started)
        return revision

    async def delete(self, key: str, expected: int) -> int:
        """As the store's."""
        started = time.perf_counter()
        revision = await self._store.delete(key, expected)
        self._done("delete", key, started)
        return revision

    def watch(self, prefix: str, after: int) -> Watch:
        """As the store's."""
        return self._store.watch(prefix, after)

    async def current_revision(self) -> int:
        """As the store's."""
        return await self._store.current_revision()

    async def compact(self, revision: int) -> None:
        """As the store's."""
        await self._store.compact(revision)

    @property
    def durability(self) -> Durability:
        """As the store's."""
        return self._store.durability

    async def close(self) -> None:
        """As the store's."""
        await self._store.close()
