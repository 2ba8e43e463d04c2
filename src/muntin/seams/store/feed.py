"""Watches of a store that lives in this process: changes are pushed in, consumers pull."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from muntin.kit import errors
from muntin.seams.store import Change, Changes

# A consumer that lags this far behind is told to start anew rather than held in memory.
MOST_PENDING = 200_000


class Watch:
    """One consumer's queue of changes under ``prefix``."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._pending: list[Change] = []
        self._revision = 0
        self._wake: asyncio.Future[None] | None = None
        self._error: errors.MuntinError | None = None

    def push(self, changes: list[Change]) -> None:
        """Queue what this consumer watches of ``changes``."""
        self._revision = changes[-1].revision
        self._pending += [c for c in changes if c.key.startswith(self._prefix)]
        if len(self._pending) > MOST_PENDING:
            self.fail(errors.Gone("store: the watch fell too far behind"))
        self._notify()

    def fail(self, error: errors.MuntinError) -> None:
        """End the watch with ``error``."""
        self._error = error
        self._pending.clear()
        self._notify()

    def _notify(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def next(self) -> Changes:
        """Wait for changes (or progress) and take all that are there."""
        while not self._revision and self._error is None:
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake
        if self._error is not None:
            raise self._error
        batch = Changes(self._revision, tuple(self._pending))
        self._pending, self._revision = [], 0
        return batch


class Feed:
    """All watches of one store."""

    def __init__(self) -> None:
        self._watches: set[Watch] = set()

    def push(self, changes: list[Change]) -> None:
        """Give durable ``changes``, in order, to every watch."""
        for watch in self._watches:
            watch.push(changes)

    def close(self) -> None:
        """End all watches."""
        for watch in self._watches:
            watch.fail(errors.Unavailable("store: closed"))

    async def follow(
        self, prefix: str, backlog: Callable[[], AsyncIterator[Changes]]
    ) -> AsyncIterator[Changes]:
        """Yield ``backlog()``, then what is pushed; nothing is lost in between."""
        watch = Watch(prefix)
        self._watches.add(watch)
        try:
            async for batch in backlog():
                yield batch
            while True:
                yield await watch.next()
        finally:
            self._watches.discard(watch)
