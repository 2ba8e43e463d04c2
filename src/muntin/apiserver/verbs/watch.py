"""Watch: the events of a collection from a revision on, until the client or a timeout ends it.

Source: apiserver v1.34 pkg/endpoints/handlers/watch.go, pkg/storage/cacher; API concepts:
efficient detection of changes, streaming lists.
"""

from __future__ import annotations

import asyncio
import contextlib
import random

import orjson

from muntin.apiserver import list_options, output, status, watch_socket
from muntin.apiserver.beside import beside
from muntin.apiserver.cache import Event
from muntin.apiserver.core import Core
from muntin.apiserver.list_options import ListOptions
from muntin.apiserver.negotiation import PROTOBUF
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.selection import matching, selected
from muntin.apiserver.watchers import Filter, Watcher
from muntin.kit.errors import MuntinError
from muntin.kit.http.messages import Answer, BodyWriter, Response

BOOKMARK_S = 60.0
LAST_BOOKMARK_S = 2.0  # before the watch ends, so that the client goes on from there
PIECE = 500  # events sent before the client is waited for

_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-cache, private"}
_PROTOBUF_HEADERS = {**_HEADERS, "Content-Type": f"{PROTOBUF};stream=watch"}


async def run(core: Core, request: ApiRequest) -> Answer:
    """A stream of events; what has gone wrong by then is an ERROR event in it."""
    stream = _Stream(core, request, await beside(request, selected, request))
    if watch_socket.is_asked(request.http):
        return watch_socket.answer(request.http, stream.run)
    return Response(200, stream.headers, stream.run)


class _Stream:
    """One watch. The client is waited for while it is sent what is known already."""

    def __init__(self, core: Core, request: ApiRequest, wanted: Filter) -> None:
        self._core = core
        self._form = output.negotiate(request)
        self._options = list_options.read(request, watch=True)
        self._wanted = wanted
        self._row = request.target
        self._cache = core.cache.of(self._row)
        self._renderer = output.Renderer(core.cache, core.clock, self._row, self._form)
        self._timeout_s = _timeout(core, self._options)
        self._labels = core.metrics.labels(request)
        self._what = (self._row.group, self._row.version, self._row.plural)
        self.headers = _PROTOBUF_HEADERS if self._form.media == PROTOBUF else _HEADERS

    async def run(self, writer: BodyWriter) -> None:
        """Send events until the time is over or the client leaves."""
        # Frames of equal resource and format are the same for all watchers.
        form_key = (self._row.api_version, self._form)
        end_s = self._core.clock.monotonic() + self._timeout_s
        metrics, watchers = self._core.metrics, self._cache.watchers
        watcher = Watcher(
            self._wanted, form_key, self._renderer.event, writer, watchers.pump, self._count
        )
        metrics.long_running.add(self._labels)
        try:
            with contextlib.suppress(TimeoutError):  # the resource is gone
                async with watcher.life:
                    if await self._has_begun(watcher):
                        watchers.add(watcher)
                        await self._stay(watcher, end_s)
            await watcher.drain()
        finally:
            watchers.discard(watcher)
            metrics.long_running.add(self._labels, -1)

    def _count(self, events: int, size: int) -> None:
        metrics = self._core.metrics
        metrics.watch_events.add(self._what, events)
        metrics.watch_sizes.observe(self._what, size, events)

    # -- the beginning -----------------------------------------------------------------------

    async def _has_begun(self, watcher: Watcher) -> bool:
        """As `_begin`; an object that its webhook cannot convert is told, and ends the watch."""
        try:
            return await self._begin(watcher)
        except MuntinError as err:
            watcher.send(self._error(err))
            return False

    async def _begin(self, watcher: Watcher) -> bool:
        """Send all up to now; False when that cannot be had. No event comes between its return
        and the next ``await``."""
        core, options = self._core, self._options
        if options.initial_events:
            try:
                await self._reach(options.revision)
            except status.ApiError as err:
                watcher.send(self._error(err))
                return False
            await self._send_all(watcher)
        elif options.revision:
            watcher.revision = options.revision
        else:
            await self._reach(options.revision)
            watcher.revision = core.cache.revision
        if not await self._send_missed(watcher):
            return False
        if options.initial_events and options.bookmarks:
            watcher.send(self._renderer.bookmark(watcher.revision, initial_end=True))
        return True

    def _too_old(self, asked: int) -> bytes:
        oldest = self._cache.ring_floor
        return self._error(status.expired(f"too old resource version: {asked} ({oldest})"))

    def _error(self, error: MuntinError) -> bytes:
        return self._renderer.frame("ERROR", orjson.dumps(status.status_object(error)))

    async def _reach(self, revision: int | None) -> None:
        if revision != 0:
            await list_options.reach(self._core.cache, revision)

    async def _send_all(self, watcher: Watcher) -> None:
        """Everything that is there, as ADDED."""
        watcher.revision = self._core.cache.revision
        items = await matching(self._cache.select(self._wanted.namespace), self._wanted)
        for at in range(0, len(items), PIECE):
            await self._renderer.ready(items[at : at + PIECE])
            for item in items[at : at + PIECE]:
                watcher.send(self._renderer.event("ADDED", item))
            if at + PIECE < len(items):
                await watcher.drain()

    async def _send_missed(self, watcher: Watcher) -> bool:
        """The events since ``watcher.revision``; False when some are not known any more."""
        while True:
            events = self._cache.events_after(watcher.revision)
            if events is None:
                watcher.send(self._too_old(watcher.revision))
                return False
            if self._row.is_custom and await self._converted(events[:PIECE]):
                continue  # other events may have come meanwhile
            for event in events[:PIECE]:
                watcher.offer(event)
                if not self._cache.watchers.is_behind:
                    event.frames.clear()
            if len(events) <= PIECE:
                break
            watcher.revision = events[PIECE - 1].revision
            await watcher.drain()
        watcher.revision = max(self._core.cache.revision, watcher.revision)
        return True

    async def _converted(self, events: list[Event]) -> bool:
        """Have a webhook convert what ``events`` show; whether that took any time."""
        items = [event.item for event in events]
        items += [event.left for event in events if event.previous is not None]
        return await self._renderer.ready(items)

    # -- later -------------------------------------------------------------------------------

    async def _stay(self, watcher: Watcher, end_s: float) -> None:
        """Send bookmarks, if they are wanted, until the time is over."""
        clock, bookmarks = self._core.clock, self._options.bookmarks
        last_sent = False
        while (left := end_s - clock.monotonic()) > 0:
            if not bookmarks or last_sent:
                await clock.sleep(left)
                continue
            before_end = left - LAST_BOOKMARK_S
            await clock.sleep(min(BOOKMARK_S, before_end) if before_end > 0 else left / 2)
            last_sent = before_end <= BOOKMARK_S
            await self._bookmark(watcher)

    async def _bookmark(self, watcher: Watcher) -> None:
        # Events that are on their way go first; they are at most two turns of the loop away.
        while self._cache.watchers.is_behind:  # noqa: ASYNC110 - as good as an event, and cheaper
            await asyncio.sleep(0)
        reached = max(self._core.cache.revision, watcher.revision)
        watcher.send(self._renderer.bookmark(reached))


def _timeout(core: Core, options: ListOptions) -> float:
    """As asked; else different ones, so that clients spread over time and servers."""
    if options.timeout_s:
        return float(options.timeout_s)
    shortest = core.config.limits.watch_timeout_s
    return random.uniform(shortest, 2 * shortest)
