"""Events about objects: recorded at once, written later, repeated ones counted instead of added.

``event()`` never waits and never fails: losing an event must not stop the work that it tells of.
``run()`` in a task group writes them. Source of the limits: client-go v1.34
tools/record/events_cache.go (a burst of 25 per object and source, one more every five minutes).
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from typing import Any

from muntin.kit import errors
from muntin.kit.clock import Clock, SystemClock, rfc3339
from muntin.kit.log import fields
from muntin.model.resources import EVENTS
from muntin.seams.kube import KubeClient, Object

log = logging.getLogger(__name__)

NORMAL, WARNING = "Normal", "Warning"

BURST = 25
REFILL_S = 300.0
QUEUE_LENGTH = 1000
REMEMBERED = 2048
MAX_MESSAGE_LENGTH = 1024
"""What API validation allows in ``message``."""


class EventRecorder:
    """Events from one ``component`` (on ``host``, where it has one)."""

    def __init__(
        self, client: KubeClient, component: str, *, host: str = "", clock: Clock | None = None
    ) -> None:
        self._client = client
        self._source = {"component": component, **({"host": host} if host else {})}
        self._clock = clock or SystemClock()
        self._last_stamp = 0
        self._queue: deque[Object] = deque(maxlen=QUEUE_LENGTH)
        self._wake = asyncio.Event()
        self._known: OrderedDict[tuple[str, ...], tuple[str, str, int]] = OrderedDict()
        self._buckets: OrderedDict[tuple[str, ...], tuple[float, float]] = OrderedDict()

    def event(
        self, obj: Object, type: str, reason: str, message: str, *, field_path: str = ""
    ) -> None:
        """Record that ``reason`` happened to ``obj``, which must hold its apiVersion and kind.

        ``type`` is Normal or Warning; ``field_path`` names a part of the object, such as
        ``spec.containers{web}``.
        """
        reference = _reference(obj, field_path)
        if not self._allowed(reference):
            return
        self._queue.append(self._new(reference, type, reason, message[:MAX_MESSAGE_LENGTH]))
        self._wake.set()

    async def run(self) -> None:
        """Write what is recorded until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write what is recorded now; what the server refuses is logged and dropped."""
        while self._queue:
            event = self._queue.popleft()
            try:
                await self._write(event)
            except errors.MuntinError as err:
                log.warning(
                    "event not written",
                    **fields(reason=event["reason"], object=event["metadata"]["name"], error=err),
                )

    def _new(self, reference: dict[str, Any], type: str, reason: str, message: str) -> Object:
        now = rfc3339(self._clock.now())
        namespace = reference.get("namespace") or "default"
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{reference['name']}.{self._stamp():x}",
                "namespace": namespace,
            },
            "involvedObject": reference,
            "reason": reason,
            "message": message,
            "source": self._source,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": type,
            "reportingComponent": self._source["component"],
            "reportingInstance": self._source.get("host", ""),
        }

    def _stamp(self) -> int:
        """Nanoseconds that grow from event to event: names sort as the events happened.

        Times in events are whole seconds; ``kubectl describe`` leaves those of one second in the
        order of their names.
        """
        self._last_stamp = max(self._last_stamp + 1, int(self._clock.now() * 1e9))
        return self._last_stamp

    async def _write(self, event: Object) -> None:
        """Create the event, or count it on the one of the same words written before."""
        key = _identity(event)
        namespace = event["metadata"]["namespace"]
        known = self._known.get(key)
        if known is not None:
            name, first, count = known
            patch = {"count": count + 1, "lastTimestamp": event["lastTimestamp"]}
            try:
                await self._client.patch(EVENTS, name, patch, namespace)
                self._remember(key, (name, first, count + 1))
                return
            except errors.NotFound:
                event = {**event, "count": count + 1, "firstTimestamp": first}  # it expired
        try:
            await self._client.create(EVENTS, event, namespace)
        except errors.AlreadyExists:  # another component wrote at the same nanosecond
            name = f"{event['involvedObject']['name']}.{self._stamp():x}"
            event = {**event, "metadata": {**event["metadata"], "name": name}}
            await self._client.create(EVENTS, event, namespace)
        self._remember(key, (event["metadata"]["name"], event["firstTimestamp"], event["count"]))

    def _remember(self, key: tuple[str, ...], value: tuple[str, str, int]) -> None:
        self._known[key] = value
        self._known.move_to_end(key)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _allowed(self, reference: dict[str, Any]) -> bool:
        """Whether the object's bucket still has a token; a flood about one object is cut."""
        key = (reference["kind"], reference.get("uid", ""), reference["name"])
        now = self._clock.monotonic()
        tokens, since = self._buckets.pop(key, (float(BURST), now))
        tokens = min(float(BURST), tokens + (now - since) / REFILL_S)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - 1 if allowed else tokens, now)
        while len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return allowed


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


def _identity(event: Object) -> tuple[str, ...]:
    about = event["involvedObject"]
    return (
        about["kind"],
        about.get("namespace", ""),
        about["name"],
        about.get("uid", ""),
        about.get("fieldPath", ""),
        event["type"],
        event["reason"],
        event["message"],
    )
