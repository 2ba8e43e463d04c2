"""Events about objects: recorded at once, written later, as client-go's recorders write them.

``event()`` never waits and never fails: losing an event must not stop the work that it tells of.
``run()`` in a task group writes them; what is combined, counted or left out is decided by
`model.event_correlation`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from abc import ABC, abstractmethod
from collections import deque
from typing import Any

from muntin.kit import errors, supervised
from muntin.kit.clock import Clock, SystemClock, rfc3339
from muntin.kit.log import fields
from muntin.model.event_correlation import FINISH_S, REFRESH_S, Correlated, Correlator, Series
from muntin.model.resources import EVENTS, EVENTS_V1
from muntin.seams.kube import STRATEGIC_MERGE_PATCH, KubeClient, Object

log = logging.getLogger(__name__)

NORMAL, WARNING = "Normal", "Warning"

QUEUE_LENGTH = 1000
MAX_MESSAGE_LENGTH = 1024
"""What API validation allows in a ``note``."""
CUT = " ..."


class _Queue(ABC):
    """Events that wait to be written, in order."""

    def __init__(self, client: KubeClient, clock: Clock | None) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._last_stamp = 0
        self._queue: deque[Object] = deque(maxlen=QUEUE_LENGTH)
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Write what is recorded until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write what is recorded now; what the server refuses is logged and dropped."""
        while self._queue:
            await self._attempt(self._queue.popleft())

    async def _attempt(self, event: Object) -> None:
        try:
            await self._write(event)
        except Exception as err:  # losing an event must not stop those behind it
            is_expected = isinstance(err, errors.MuntinError)
            log.warning(
                "event not written",
                exc_info=None if is_expected else err,
                **fields(reason=event["reason"], object=event["metadata"]["name"], error=err),
            )

    @abstractmethod
    async def _write(self, event: Object) -> None:
        """Write one, in the form of the group that it is of."""

    def _put(self, event: Object) -> None:
        self._queue.append(event)
        self._wake.set()

    def _metadata(self, about: Object) -> Object:
        namespace = about.get("namespace") or "default"
        return {"name": f"{about['name']}.{self._stamp():x}", "namespace": namespace}

    def _stamp(self) -> int:
        """Nanoseconds that grow from event to event: names sort as the events happened.

        Times in events are whole seconds; ``kubectl describe`` leaves those of one second in the
        order of their names.
        """
        self._last_stamp = max(self._last_stamp + 1, int(self._clock.now() * 1e9))
        return self._last_stamp


class EventRecorder(_Queue):
    """Events from one ``component`` (on ``host``, where it has one)."""

    def __init__(
        self, client: KubeClient, component: str, *, host: str = "", clock: Clock | None = None
    ) -> None:
        super().__init__(client, clock)
        self._source = {"component": component, **({"host": host} if host else {})}
        self._correlator = Correlator()

    def event(
        self, obj: Object, type: str, reason: str, message: str, *, field_path: str = ""
    ) -> None:
        """Record that ``reason`` happened to ``obj``, which must hold its apiVersion and kind.

        ``type`` is Normal or Warning; ``field_path`` names a part of the object, such as
        ``spec.containers{web}``.
        """
        about = _reference(obj, field_path)
        now = rfc3339(self._clock.now())
        self._put(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": self._metadata(about),
                "involvedObject": about,
                "reason": reason,
                "message": message[:MAX_MESSAGE_LENGTH],
                "source": self._source,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
                "type": type,
                "reportingComponent": self._source["component"],
                "reportingInstance": self._source.get("host", ""),
            }
        )

    async def _write(self, event: Object) -> None:
        """Create the event, or count it on the one that was written before."""
        found = self._correlator.correlate(event, self._clock.monotonic())
        if found is None:
            return
        if found.patch is None or not await self._patched(found):
            await self._create(found)

    async def _patched(self, found: Correlated) -> bool:
        """Whether the event was still there; it may have expired."""
        meta = found.event["metadata"]
        try:
            await self._client.patch(EVENTS, meta["name"], found.patch or {}, meta["namespace"])
        except errors.NotFound:
            return False
        return True

    async def _create(self, found: Correlated) -> None:
        event, namespace = found.event, found.event["metadata"]["namespace"]
        try:
            await self._client.create(EVENTS, event, namespace)
        except errors.AlreadyExists:  # another component wrote at the same nanosecond
            event = {**event, "metadata": self._metadata(event["involvedObject"])}
            await self._client.create(EVENTS, event, namespace)
            self._correlator.written(found.key, event)


class SeriesRecorder(_Queue):
    """Events of events.k8s.io by one ``controller``, as the scheduler writes them."""

    def __init__(self, client: KubeClient, controller: str, *, clock: Clock | None = None) -> None:
        super().__init__(client, clock)
        self._controller = controller
        self._instance = f"{controller}-{socket.gethostname()}"[:128]
        self._series = Series()

    def event(
        self,
        obj: Object,
        type: str,
        reason: str,
        note: str,
        *,
        action: str,
        related: Object | None = None,
    ) -> None:
        """Record that ``action`` on ``obj`` came to ``reason``; both hold apiVersion and kind."""
        about = _reference(obj, "")
        if len(note) > MAX_MESSAGE_LENGTH:
            note = note[: MAX_MESSAGE_LENGTH - len(CUT)] + CUT
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": self._metadata(about),
            "eventTime": rfc3339(self._clock.now(), micros=True),
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "action": action,
            "reason": reason,
            "regarding": about,
            "note": note,
            "type": type,
        }
        if related is not None:
            event["related"] = _reference(related, "")
        written = self._series.observe(event, self._clock.now())
        if written is not None:
            self._put(written)

    async def run(self) -> None:
        """Write what is recorded, and the counts of series, until cancelled."""
        async with supervised.Group() as group:
            group.start("events-writer", super().run)
            group.start("events-series", self._keep)

    async def _keep(self) -> None:
        refreshed = self._clock.monotonic()
        while True:
            await self._clock.sleep(FINISH_S)
            due = self._series.finish(self._clock.now())
            if self._clock.monotonic() - refreshed >= REFRESH_S:
                refreshed = self._clock.monotonic()
                due += self._series.open()
            for event in due:
                self._put(event)

    async def _write(self, event: Object) -> None:
        meta = event["metadata"]
        if "series" in event:
            patch = {"series": event["series"]}
            try:
                await self._client.patch(
                    EVENTS_V1,
                    meta["name"],
                    patch,
                    meta["namespace"],
                    patch_type=STRATEGIC_MERGE_PATCH,
                )
                return
            except errors.NotFound:
                pass  # it expired
        await self._client.create(EVENTS_V1, event, meta["namespace"])


def _reference(obj: Object, field_path: str) -> dict[str, Any]:
    meta = obj["metadata"]
    found = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "namespace": meta.get("namespace"),
        "name": meta["name"],
        "uid": meta.get("uid"),
        "resourceVersion": meta.get("resourceVersion"),
        "fieldPath": field_path,
    }
    return {key: value for key, value in found.items() if value}
