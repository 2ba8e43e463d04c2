"""Fan-out: each event goes to those watchers whose selectors it touches.

A watcher that asks for one name, or for the pods of one node, is found by that value and not
tested against every event. Watchers that ask for the same are one group: an event is tested and
rendered once for all of them. Writing is left to `muntin.apiserver.pump`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muntin.apiserver.items import Item
from muntin.apiserver.pump import Pump
from muntin.kit.http.messages import BodyWriter
from muntin.model.field_selectors import FieldSelector
from muntin.model.selectors import Selector

if TYPE_CHECKING:
    from muntin.apiserver.cache import Event

# A client that leaves this much unread is cut off; it lists again when it is back.
MOST_UNREAD = 4 * 1024 * 1024
LOOK_AFTER = 64 * 1024  # bytes written until it is looked at how much is unread
LARGE = 16 * 1024  # bytes of a frame that is not copied
# What is written is encrypted, and no longer shared with other watchers: beyond that, it waits.
MOST_WRITTEN = 256 * 1024

INDEXED_FIELDS = ("metadata.name", "spec.nodeName")

Render = Callable[[str, Item], bytes]


def chunks(frames: list[bytes]) -> Iterator[bytes]:
    """What to write for ``frames``: small ones joined, since each write costs a TLS record; large
    ones as they are, since other watchers share them."""
    start = size = 0
    for at, frame in enumerate(frames):
        if len(frame) >= LARGE or size + len(frame) > LOOK_AFTER:
            if start < at:
                yield b"".join(frames[start:at])
            start, size = at, 0
        if len(frame) >= LARGE:
            yield frame
            start = at + 1
        else:
            size += len(frame)
    if start < len(frames):
        yield frames[start] if len(frames) == start + 1 else b"".join(frames[start:])


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list or watch selects."""

    namespace: str = ""
    labels: Selector = field(default_factory=Selector)
    fields: FieldSelector = field(default_factory=FieldSelector)

    def matches(self, item: Item) -> bool:
        """Whether ``item`` is selected."""
        if self.namespace and item.namespace != self.namespace:
            return False
        if self.labels.requirements and not self.labels.matches(item.labels):
            return False
        return not self.fields.requirements or self.fields.matches(item.fields)

    @property
    def is_everything(self) -> bool:
        """Whether selectors leave nothing out (the namespace aside)."""
        return not self.labels.requirements and not self.fields.requirements


def seen_as(event: Event, wanted: Filter) -> tuple[str, Item] | None:
    """How a watcher sees ``event``: an object that enters or leaves the selection is added or
    deleted; None if it concerns nothing selected."""
    item, previous = event.item, event.previous
    if event.type == "DELETED":
        return ("DELETED", item) if previous is not None and wanted.matches(previous) else None
    before = previous is not None and wanted.matches(previous)
    if wanted.matches(item):
        return ("MODIFIED" if before else "ADDED"), item
    return ("DELETED", event.left) if before else None


class Watcher:
    """One watch: ``render`` makes a frame of it; equal ``form`` means equal frames."""

    __slots__ = ("_count", "_draining", "_flushing", "_frames", "_loop", "_pump", "_size",
                 "_unseen", "_writer", "form", "life", "render", "revision", "wanted")  # fmt: skip

    def __init__(
        self,
        wanted: Filter,
        form: object,
        render: Render,
        writer: BodyWriter,
        pump: Pump,
        count: Callable[[int, int], None] = lambda events, size: None,
    ) -> None:
        self.wanted = wanted
        self.form = form
        self.render = render
        self._count = count
        self._size = 0  # of the frames that wait
        self._unseen = 0  # bytes written since it was looked at how much is unread
        self.revision = 0  # events up to here were sent, or concern it not
        self._writer = writer
        self._pump = pump
        self._frames: list[bytes] = []
        self._flushing = False
        self._draining: asyncio.Task[None] | None = None  # while the client takes too little
        self._loop = asyncio.get_running_loop()
        self.life = asyncio.timeout(None)  # to be entered by who keeps the watch

    @property
    def api_version(self) -> str:
        """The version in which it sees objects; empty if its form says none."""
        return str(self.form[0]) if isinstance(self.form, tuple) else ""

    def close(self) -> None:
        """End the watch: what it was of is no longer served."""
        with contextlib.suppress(RuntimeError):  # it is not entered yet, or no longer
            self.life.reschedule(self._loop.time())

    def offer(self, event: Event) -> None:
        """Send ``event`` if it concerns this watcher."""
        if event.revision > self.revision and (frame := self.frame(event)) is not None:
            self.send(frame)

    def frame(self, event: Event) -> bytes | None:
        """What is sent of ``event``; None if it does not concern this watcher."""
        seen = seen_as(event, self.wanted)
        if seen is None:
            return None
        kind, item = seen
        key = (kind if item is event.item else "left", self.form)
        frame = event.frames.get(key)
        if frame is None:
            frame = event.frames[key] = self.render(kind, item)
        return frame

    def send(self, frame: bytes) -> None:
        """Write ``frame`` soon, together with whatever else comes until then."""
        self._count(1, len(frame))
        self._put(frame)

    def share(self, frame: bytes, revision: int, group: Iterable[Watcher]) -> None:
        """Send ``frame``, of ``revision``, to all of its ``group`` who have not seen it."""
        sent = 0
        for watcher in group:
            if revision > watcher.revision:
                watcher._put(frame)
                sent += 1
        self._count(sent, len(frame))

    def _put(self, frame: bytes) -> None:
        """Have ``frame`` written. A client that leaves too much unread is cut off before it costs
        more memory."""
        self._size += len(frame)
        if self._size > MOST_UNREAD and (
            self._draining is not None or self._size + self._writer.buffered > 2 * MOST_UNREAD
        ):
            self._frames.clear()
            self._writer.abort()
            return
        self._frames.append(frame)
        if not self._flushing:
            self._flushing = True
            self._pump.add(self)

    async def drain(self) -> None:
        """Return when the client has taken most of what was sent."""
        self.flush()
        await self._writer.drain()

    def flush(self) -> None:
        """Write pending frames, unless the client has not read enough of what was written."""
        self._flushing = False
        frames = self._frames
        if not frames or self._draining is not None:
            return
        for chunk in chunks(frames):
            self._writer.write(chunk)
        frames.clear()
        self._unseen += self._size
        self._size = 0
        if self._unseen > LOOK_AFTER:
            self._unseen = 0
            if self._writer.buffered > MOST_UNREAD:
                self._writer.abort()
            elif self._writer.buffered > MOST_WRITTEN:
                self._draining = self._loop.create_task(self._go_on(), name="watch-drain")

    async def _go_on(self) -> None:
        """Resume writing once the client has read most of it."""
        await self._writer.drain()
        self._draining = None
        self.flush()


class _Storing:
    """Entered while a change is stored."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        self.count -= 1


_Groups = dict[tuple[Filter, object], dict[Watcher, None]]  # by what is asked for, and its form


class WatcherSet:
    """The watchers of one resource."""

    def __init__(self) -> None:
        self.storing = _Storing()
        self.pump = Pump(lambda: self.is_behind or self.storing.count > 0)
        self._plain: _Groups = {}
        self._indexed: dict[tuple[str, str], _Groups] = {}
        self._expected = 0

    def __len__(self) -> int:
        return len(self._all())

    def __bool__(self) -> bool:
        return bool(self._plain or self._indexed)

    def add(self, watcher: Watcher) -> None:
        """Send it what concerns it from now on."""
        key = _index_key(watcher.wanted)
        groups = self._plain if key is None else self._indexed.setdefault(key, {})
        groups.setdefault((watcher.wanted, watcher.form), {})[watcher] = None

    def discard(self, watcher: Watcher) -> None:
        """Send it no more, if it was sent anything."""
        key = _index_key(watcher.wanted)
        groups = self._plain if key is None else self._indexed.get(key, {})
        asked = (watcher.wanted, watcher.form)
        group = groups.get(asked)
        if group is None:
            return
        group.pop(watcher, None)
        if not group:
            del groups[asked]
        if key is not None and not groups:
            del self._indexed[key]

    def _all(self) -> list[Watcher]:
        return [
            watcher
            for groups in (self._plain, *self._indexed.values())
            for group in groups.values()
            for watcher in group
        ]

    def close(self) -> None:
        """End all of them."""
        for watcher in self._all():
            watcher.close()

    @property
    def api_versions(self) -> set[str]:
        """In which versions objects are watched."""
        return {watcher.api_version for watcher in self._all()}

    def end(self, api_version: str, frame: bytes) -> None:
        """End those who watch in that version, with ``frame`` as the last that they see."""
        for watcher in self._all():
            if watcher.api_version == api_version:
                self.discard(watcher)
                watcher.send(frame)
                watcher.close()

    def expect(self) -> None:
        """Some events will be fanned out soon."""
        self._expected += 1

    @property
    def is_behind(self) -> bool:
        """Whether events that the cache has are not sent yet."""
        return self._expected > 0

    def fan_out(self, events: list[Event]) -> None:
        """Send ``events`` to those whom they concern."""
        self._expected -= 1
        for event in events:
            _offer(event, self._plain)
            if self._indexed:
                self._offer_indexed(event)
            event.frames.clear()  # the ring keeps events long; frames would double it

    def _offer_indexed(self, event: Event) -> None:
        keys = {("metadata.name", event.item.name)}
        resource = event.item.resource
        if resource.plural == "pods" or resource.is_custom:
            keys.add(("spec.nodeName", event.item.fields["spec.nodeName"]))
            if event.previous is not None:
                keys.add(("spec.nodeName", event.previous.fields["spec.nodeName"]))
        for key in keys:
            _offer(event, self._indexed.get(key, {}))


def _offer(event: Event, groups: _Groups) -> None:
    for group in groups.values():
        first = next(iter(group))
        if (frame := first.frame(event)) is not None:
            first.share(frame, event.revision, group)


def _index_key(wanted: Filter) -> tuple[str, str] | None:
    for name in INDEXED_FIELDS:
        value = wanted.fields.exact(name)
        if value is not None:
            return name, value
    return None
