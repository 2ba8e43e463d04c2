"""A store in memory: for tests, and for clusters that may forget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator

from sortedcontainers import SortedDict

from muntin.seams.store import (
    Change,
    Changes,
    Durability,
    Page,
    Record,
    compacted,
    conflict,
    exists,
    not_found,
    prefix_end,
)
from muntin.seams.store.feed import Feed, Watch


class MemoryStore:
    """Every version of every key since the compacted revision."""

    def __init__(self) -> None:
        self._versions: SortedDict[str, list[Change]] = SortedDict()
        self._log: list[Change] = []
        self._revision = 1  # as etcd: an empty store is at revision 1
        self._compacted = 0
        self._feed = Feed()

    def _at(self, key: str, revision: int) -> Change | None:
        """The live version of ``key`` at ``revision``."""
        versions: list[Change] = self._versions.get(key, [])
        count = len(versions)
        if revision:
            count = bisect_right(versions, revision, key=lambda c: c.revision)
        found = versions[count - 1] if count else None
        return found if found is not None and found.value is not None else None

    def _check(self, revision: int) -> None:
        if revision and revision < self._compacted:
            raise compacted(revision, self._compacted)

    async def get(self, key: str, revision: int = 0) -> Record:
        self._check(revision)
        found = self._at(key, revision)
        if found is None:
            raise not_found(key)
        return _record(found)

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 0, revision: int = 0
    ) -> Page:
        self._check(revision)
        start = max(prefix, after)
        records: list[Record] = []
        keys = self._versions.irange(start, prefix_end(prefix), (start != after, False))
        for key in keys:
            found = self._at(key, revision)
            if found is None:
                continue
            if limit and len(records) == limit:
                return Page(revision or self._revision, records, more=True)
            records.append(_record(found))
        return Page(revision or self._revision, records)

    async def count(self, prefix: str) -> int:
        return len((await self.list(prefix)).records)

    async def create(self, key: str, value: bytes) -> int:
        if self._at(key, 0) is not None:
            raise exists(key)
        return self._write(key, value, self._revision + 1)

    async def update(self, key: str, value: bytes, expected: int) -> int:
        return self._write(key, value, self._expect(key, expected).create_revision)

    async def delete(self, key: str, expected: int) -> int:
        return self._write(key, None, self._expect(key, expected).create_revision)

    def _expect(self, key: str, expected: int) -> Change:
        found = self._at(key, 0)
        if found is None:
            raise not_found(key)
        if found.revision != expected:
            raise conflict(key, expected, found.revision)
        return found

    def _write(self, key: str, value: bytes | None, created: int) -> int:
        self._revision += 1
        change = Change(key, value, created, self._revision)
        self._versions.setdefault(key, []).append(change)
        self._log.append(change)
        self._feed.push([change])
        return self._revision

    def watch(self, prefix: str, after: int) -> Watch:
        async def backlog() -> AsyncIterator[Changes]:
            if after < self._compacted:
                raise compacted(after, self._compacted)
            old = self._log[bisect_right(self._log, after, key=lambda c: c.revision) :]
            if old:
                yield Changes(old[-1].revision, tuple(c for c in old if c.key.startswith(prefix)))

        return self._feed.follow(prefix, backlog)

    async def current_revision(self) -> int:
        return self._revision

    async def compact(self, revision: int) -> None:
        if revision <= self._compacted:
            raise compacted(revision, self._compacted)
        self._compacted = min(revision, self._revision)
        self._log = self._log[bisect_right(self._log, revision, key=lambda c: c.revision) :]
        for key, versions in list(self._versions.items()):
            last = bisect_right(versions, revision, key=lambda c: c.revision) - 1
            if last >= 0:
                del versions[: last + (versions[last].value is None)]
            if not versions:
                del self._versions[key]

    @property
    def durability(self) -> Durability:
        return Durability("memory")

    async def close(self) -> None:
        self._feed.close()


def _record(change: Change) -> Record:
    assert change.value is not None
    return Record(change.key, change.value, change.create_revision, change.revision)
