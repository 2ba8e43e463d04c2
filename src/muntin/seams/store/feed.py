"""Watches of a store that lives in this process: changes are pushed in, consumers pull."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

from muntin.kit import errors
from muntin.seams.store import Change, Changes

# A consumer that lags this far behind is told to start anew rather than held in memory.
MOST_PENDING = 200_000


class _Queue:
    """One consumer's changes under ``prefix``; they are ``live`` when the past was consumed."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._pending: list[Change] = []
        self._revision = 0
        self._wake: asyncio.Future[None] | None = None
        self._error: errors.MuntinError | None = None
        self.live = False

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
        return self._take()

    def hand_to(self, take: Callable[[Changes], None]) -> None:
        """Give ``take`` what is there; if it fails, that is there still."""
        if self._revision and self.live and self._error is None:
            take(Changes(self._revision, tuple(self._pending)))
            self._take()

    def _take(self) -> Changes:
        batch = Changes(self._revision, tuple(self._pending))
        self._pending, self._revision = [], 0
        return batch


class Watch:
    """The changes of ``batches``; what is in ``queue`` meanwhile can be had at once."""

    def __init__(self, batches: AsyncGenerator[Changes, None], queue: _Queue | None = None) -> None:
        self._batches = batches
        self._queue = queue

    def __aiter__(self) -> Watch:
        return self

    def __anext__(self) -> Awaitable[Changes]:
        return self._batches.__anext__()

    def hand_to(self, take: Callable[[Changes], None]) -> None:
        """As `muntin.seams.store.Watch`'s."""
        if self._queue is not None:
            self._queue.hand_to(take)

    async def aclose(self) -> None:
        """As `muntin.seams.store.Watch`'s."""
        await self._batches.aclose()


class Feed:
    """All watches of one store."""

    def __init__(self) -> None:
        self._queues: set[_Queue] = set()

    def push(self, changes: list[Change]) -> None:
        """Give durable ``changes``, in order, to every watch."""
        for queue in self._queues:
            queue.push(changes)

    def close(self) -> None:
        """End all watches."""
        for queue in self._queues:
            queue.fail(errors.Unavailable("store: closed"))

    def follow(self, prefix: str, backlog: Callable[[], AsyncIterator[Changes]]) -> Watch:
        """What ``backlog()`` yields, then what is pushed; nothing is lost in between."""
        queue = _Queue(prefix)
        return Watch(self._batches(queue, backlog), queue)

    async def _batches(
        self, queue: _Queue, backlog: Callable[[], AsyncIterator[Changes]]
    ) -> AsyncGenerator[Changes, None]:
        self._queues.add(queue)
        try:
            async for batch in backlog():
                yield batch
            queue.live = True
            while True:
                yield await queue.next()
        finally:
            self._queues.discard(queue)
