"""The log of a cluster's store, all its revisions, as events of the objects that are looked at."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable

from muntin.cluster import config_store, store_access
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.store_config import StoreKind
from muntin.kit import errors
from muntin.model.resources import Resource
from muntin.seams.store import Change
from watch_replay import Event, Object

ROOT = "/registry/"
POLL_S = 0.05
_NEWEST = """SELECT rev, key, created, value FROM log
WHERE value IS NOT NULL AND rev IN (SELECT max(rev) FROM log WHERE rev <= ? GROUP BY key)
ORDER BY rev"""
_SINCE = "SELECT rev, key, created, value FROM log WHERE rev > ? ORDER BY rev"


async def changes(cluster: str) -> AsyncIterator[list[Change]]:
    """What there is now, as of one moment, and then every change, in order, for ever."""
    paths = ClusterPaths(cluster)
    config = config_store.load(paths.config)
    told = _of_file(paths) if config.store.kind is StoreKind.SQLITE else _of_etcd(config, paths)
    async for rows in told:
        yield rows


async def _of_file(paths: ClusterPaths) -> AsyncIterator[list[Change]]:
    """By reading the file beside the process that writes it: what is committed is in it."""
    with contextlib.closing(sqlite3.connect(f"file:{paths.database}?mode=ro", uri=True)) as file:
        known = file.execute("SELECT max(rev) FROM log").fetchone()
        yield _read(file, _NEWEST, known)
        while True:
            found = _read(file, _SINCE, known)
            if found:
                known = (found[-1].revision,)
                yield found
            await asyncio.sleep(POLL_S)


def _read(file: sqlite3.Connection, query: str, known: tuple[int]) -> list[Change]:
    return [
        Change(key, value, created, revision)
        for revision, key, created, value in file.execute(query, known)
    ]


async def _of_etcd(config: ClusterConfig, paths: ClusterPaths) -> AsyncIterator[list[Change]]:
    store = await store_access.open_store(config, paths)
    page = await store.list(ROOT)
    yield [
        Change(row.key, row.value, row.create_revision, row.mod_revision)
        for row in sorted(page.records, key=lambda row: row.mod_revision)
    ]
    after = page.revision
    while True:
        try:
            async for step in store.watch(ROOT, after):
                after = step.revision
                if step.changes:
                    yield list(step.changes)
        except errors.Unavailable:
            await asyncio.sleep(POLL_S)


class Told:
    """Turns changes into events of ``resources``; a deletion tells the last form of its object."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._plurals = {(row.group or "core", row.plural) for row in resources}
        self._last: dict[str, Object] = {}
        self.revisions = 0

    def events(self, change: Change) -> list[Event]:
        """The event of ``change``, none for an object of another kind.

        Managed fields, which stand behind the object after a line's end, are left out.
        """
        self.revisions += 1
        group, plural, *_ = change.key.removeprefix(ROOT).split("/")
        if (group, plural) not in self._plurals:
            return []
        if change.value is None:
            kind, obj = "DELETED", self._last.pop(change.key)
        else:
            kind = "MODIFIED" if change.key in self._last else "ADDED"
            obj = self._last[change.key] = json.loads(change.value.partition(b"\n")[0])
        meta = {**obj["metadata"], "resourceVersion": str(change.revision)}
        return [Event(plural, kind, {**obj, "metadata": meta})]
