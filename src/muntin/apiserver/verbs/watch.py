"""Watch: the events of a collection from a revision on, until the client or a timeout ends it.

Source: apiserver v1.34 pkg/endpoints/handlers/watch.go, pkg/storage/cacher; API concepts:
efficient detection of changes, streaming lists.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import Any

import orjson

from muntin.apiserver import output, status
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.selection import revision_param, selected
from muntin.apiserver.watchers import Watcher
from muntin.kit.http.messages import BodyWriter, Response

BOOKMARK_S = 60.0
# Watches end by themselves, at different times, so that clients spread over servers.
SHORTEST_S, LONGEST_S = 1800.0, 3600.0

_HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-cache, private"}


async def run(core: Core, request: ApiRequest) -> Response:
    """A stream of events; what has gone wrong by then is an ERROR event in it."""
    form = output.negotiate(request)
    wanted = selected(request)
    after = revision_param(request)
    initial = _initial_events(request, after)
    timeout = _timeout(request)
    renderer = output.Renderer(core.cache, core.clock, request.target, form)

    async def body(writer: BodyWriter) -> None:
        # Frames of equal resource and format are the same for all watchers.
        form_key = (request.target.api_version, form)
        watcher = Watcher(wanted, form_key, renderer.event, writer)
        watchers = core.cache.of(request.target).watchers
        if not _catch_up(core, request, watcher, renderer, after, initial):
            await asyncio.sleep(0)  # the error is written in the next turn
            return
        watchers.add(watcher)
        try:
            with contextlib.suppress(TimeoutError):  # the resource is gone
                async with watcher.life:
                    await _stay(core, request, watcher, renderer, timeout)
        finally:
            watchers.discard(watcher)

    return Response(200, _HEADERS, body)


def _timeout(request: ApiRequest) -> float:
    text = request.param("timeoutSeconds")
    if text.isdigit() and int(text):
        return float(text)
    return random.uniform(SHORTEST_S, LONGEST_S)


def _initial_events(request: ApiRequest, after: int | None) -> bool:
    """Whether the objects that are there are sent as ADDED first."""
    if "sendInitialEvents" not in request.query:
        return not after
    if request.param("resourceVersionMatch") != "NotOlderThan":
        raise status.bad_request(
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
            "resourceVersionMatch to NotOlderThan"
        )
    return request.flag("sendInitialEvents")


def _catch_up(
    core: Core, request: ApiRequest, watcher: Watcher, renderer: output.Renderer,
    after: int | None, initial: bool,
) -> bool:  # fmt: skip
    """Send what is known already; False when the revision asked for is too old."""
    cache = core.cache.of(request.target)
    if initial:
        for item in cache.select(watcher.wanted.namespace):
            if watcher.wanted.matches(item):
                watcher.send(renderer.event("ADDED", item))
        if request.flag("sendInitialEvents") and request.flag("allowWatchBookmarks"):
            watcher.send(renderer.bookmark(core.cache.revision, initial_end=True))
    elif after:
        events = cache.events_after(after)
        if events is None:
            watcher.send(_too_old(after, cache.ring_floor))
            return False
        watcher.revision = after
        for event in events:
            watcher.offer(event)
    watcher.revision = max(core.cache.revision, after or 0)
    return True


def _too_old(asked: int, oldest: int) -> bytes:
    error = status.expired(f"too old resource version: {asked} ({oldest})")
    return _error_event(status.status_object(error))


def _error_event(obj: dict[str, Any]) -> bytes:
    return b'{"type":"ERROR","object":%b}\n' % orjson.dumps(obj)


async def _stay(
    core: Core, request: ApiRequest, watcher: Watcher, renderer: output.Renderer, timeout_s: float
) -> None:
    """Send bookmarks, if they are wanted, until the time is over."""
    end = core.clock.monotonic() + timeout_s
    bookmarks = request.flag("allowWatchBookmarks")
    while (left := end - core.clock.monotonic()) > 0:
        await core.clock.sleep(min(left, BOOKMARK_S) if bookmarks else left)
        if bookmarks:
            await asyncio.sleep(0.01)  # events that are on their way go first
            watcher.send(renderer.bookmark(core.cache.revision))
    await asyncio.sleep(0)
