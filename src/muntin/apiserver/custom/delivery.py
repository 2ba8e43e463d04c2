"""Events of objects that a webhook converts, on their way to those who watch.

The webhook is asked once for each version that somebody watches, and events stay in order. Who
cannot be shown an event is told why, and the watch ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING

import orjson

from muntin.apiserver import status
from muntin.apiserver.cache import Event, ResourceCache
from muntin.apiserver.custom.forms import CustomForms
from muntin.kit import errors, supervised
from muntin.kit.log import fields

if TYPE_CHECKING:
    from muntin.model.custom.definition import Definition

log = logging.getLogger(__name__)


class Delivery:
    """The way of one resource's events; ``put`` takes the place of the watchers' ``fan_out``."""

    def __init__(self, forms: CustomForms, resource: ResourceCache, definition: Definition) -> None:
        self._forms = forms
        self._watchers = resource.watchers
        self._definition = definition
        self._waiting: deque[list[Event]] = deque()
        self._task: asyncio.Task[None] | None = None

    def put(self, events: list[Event]) -> None:
        """Deliver ``events`` after those that are on their way."""
        self._waiting.append(events)
        if self._task is None or self._task.done():
            self._task = supervised.start_once("apiserver-converted-events", self._run)

    async def _run(self) -> None:
        while self._waiting:
            events = self._waiting.popleft()
            try:
                await self._convert(events)
            except Exception:  # later events are still converted
                supervised.FAILURES.add(("apiserver-conversion",))
                log.exception("events not converted", **fields(events=len(events)))
            finally:
                self._watchers.fan_out(events)

    async def _convert(self, events: list[Event]) -> None:
        items = [event.item for event in events]
        items += [event.left for event in events if event.previous is not None]
        watched = self._watchers.api_versions
        for row in self._definition.rows:
            if row.api_version not in watched:
                continue
            try:
                await self._forms.ready(items, row)
            except errors.MuntinError as err:
                obj = orjson.dumps(status.status_object(err))
                frame = b'{"type":"ERROR","object":%b}\n' % obj
                self._watchers.end(row.api_version, frame)
