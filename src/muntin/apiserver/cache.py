"""All objects in memory, kept by following the store, with recent events per resource.

Every read is answered from here; a write waits until its own revision has arrived.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from sortedcontainers import SortedDict

from muntin.apiserver.items import ROOT, CustomItem, Item, key_of, parse_key
from muntin.apiserver.registry import Registry
from muntin.apiserver.watchers import WatcherSet
from muntin.kit import errors, supervised
from muntin.kit.log import fields
from muntin.model.resources import Resource
from muntin.seams.store import Change, Changes, Record, Store, Watch

if TYPE_CHECKING:
    from muntin.apiserver.custom.forms import CustomForms

log = logging.getLogger(__name__)

LOAD_PIECE = 1000
REPLAY = 2000  # revisions of history shown again after a restart, so that watches go on
RING_EVENTS = 20_000
RING_BYTES = 16 * 1024 * 1024  # per resource; few resources ever reach it
RING_LEAST = 100  # kept whatever their size and age, as upstream does
RETRY_S = 0.2


class Event:
    """One change of one resource; ``frames`` are what it looks like on the wire, per format, while
    it is being sent to many."""

    __slots__ = ("_left", "frames", "item", "previous", "revision", "type")

    def __init__(self, kind: str, item: Item, previous: Item | None, revision: int) -> None:
        self.type = kind
        self.item = item
        self.previous = previous
        self.revision = revision
        self.frames: dict[tuple[str, object], bytes] = {}
        self._left: Item | None = None

    @property
    def left(self) -> Item:
        """What one sees whose selection the object has left: as it was, at this revision."""
        assert self.previous is not None
        if self._left is None:
            self._left = self.previous.at_revision(self.revision)
        return self._left


Observer = Callable[[Event], None]


class ResourceCache:
    """The objects of one resource, in order of namespace and name."""

    def __init__(self, floor: int) -> None:
        self.items: SortedDict[str, Item] = SortedDict()
        self.watchers = WatcherSet()
        self.deliver: Callable[[list[Event]], None] = self.watchers.fan_out
        self.ring: deque[Event] = deque()
        self.ring_floor = floor  # events after this revision are all in the ring
        self._ring_bytes = 0
        self.observers: list[Observer] = []  # told of each event at once, in order

    def get(self, namespace: str, name: str) -> Item | None:
        """The object, if it is there."""
        found: Item | None = self.items.get(f"{namespace}/{name}")
        return found

    def select(self, namespace: str = "") -> Iterator[Item]:
        """The objects of one namespace, or all."""
        if not namespace:
            return iter(self.items.values())
        items = self.items
        return (items[key] for key in items.irange(f"{namespace}/", f"{namespace}0"))

    def remember(self, event: Event) -> None:
        """Put ``event`` into the ring, dropping the oldest while it is too large."""
        self.ring.append(event)
        self._ring_bytes += len(event.item.raw)
        while len(self.ring) > RING_EVENTS or (
            self._ring_bytes > RING_BYTES and len(self.ring) > RING_LEAST
        ):
            self._drop_oldest()

    def forget(self, revision: int) -> None:
        """Drop the events up to ``revision``, but for the newest of all."""
        while len(self.ring) > RING_LEAST and self.ring[0].revision <= revision:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        oldest = self.ring.popleft()
        self.ring_floor = oldest.revision
        self._ring_bytes -= len(oldest.item.raw)

    def events_after(self, revision: int) -> list[Event] | None:
        """Events newer than ``revision``; None when some of them are no longer kept."""
        if revision < self.ring_floor:
            return None
        found = []
        for event in reversed(self.ring):
            if event.revision <= revision:
                break
            found.append(event)
        found.reverse()
        return found


class Cache:
    """Everything the store holds of what ``registry`` serves, by storage name.

    What nobody serves (yet) is kept as it is, for the day that a definition brings it back.
    """

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self.by_storage = {name: ResourceCache(0) for name in registry.storage_rows}
        self._unserved: dict[str, dict[str, Record]] = {}
        registry.listen(self._follow_registry)
        self.forms: CustomForms  # set before anything is served
        self.api_version = registry.version
        self.revision = 0
        self._watch: Watch | None = None
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    def of(self, resource: Resource) -> ResourceCache:
        """The objects that ``resource`` shows."""
        return self.by_storage[resource.storage_name]

    def storage_row(self, resource: Resource) -> Resource:
        """The row in whose form the objects of ``resource`` are written."""
        if self._registry.definition(resource) is not None:
            return resource  # its objects are judged in the version that was asked for
        return self._registry.stored(resource)

    def get(self, resource: Resource, namespace: str, name: str) -> Item | None:
        """The object, if it is there."""
        return self.by_storage[resource.storage_name].get(namespace, name)

    def item(self, record: Record) -> Item | None:
        """The item of a stored record; None for a resource that is not served."""
        storage, namespace, name = parse_key(record.key)
        row = self._registry.storage_rows.get(storage)
        if row is None:
            return None
        return self._item(row, namespace, name, record.value, record.mod_revision)

    def _item(self, row: Resource, namespace: str, name: str, *rest: Any) -> Item | None:
        """The item for a stored value; None if the value is not a valid object."""
        kind = CustomItem if row.is_custom else Item
        try:
            return kind(row, namespace, name, *rest)
        except (ValueError, msgspec.MsgspecError):
            about = fields(resource=row.plural, namespace=namespace, name=name)
            log.exception("stored object cannot be read, skipped", **about)
            return None

    # -- following what is served ------------------------------------------------------------

    def _follow_registry(self) -> None:
        rows = self._registry.storage_rows
        for name in [name for name in self.by_storage if name not in rows]:
            self._retire(name)
        for name in rows:
            if name not in self.by_storage:
                self._adopt(name)

    def _adopt(self, storage: str) -> None:
        resource = self.by_storage[storage] = ResourceCache(self.revision)
        for record in self._unserved.pop(storage, {}).values():
            item = self.item(record)
            if item is not None:
                resource.items[f"{item.namespace}/{item.name}"] = item

    def _retire(self, storage: str) -> None:
        resource = self.by_storage.pop(storage)
        resource.watchers.close()
        for item in resource.items.values():
            self._set_aside(item.record())

    def _set_aside(self, record: Record) -> None:
        self._unserved.setdefault(parse_key(record.key)[0], {})[record.key] = record

    # -- following the store -----------------------------------------------------------------

    async def load(self) -> None:
        """Read everything; returns when the cache is as new as the store was at the call."""
        newest = await self._store.current_revision()
        start = max(1, newest - REPLAY)
        try:
            await self._read_all(start)
        except errors.Gone:
            start = newest
            await self._read_all(start)
        self.revision = start
        for resource in self.by_storage.values():
            resource.ring_floor = start
        gc.collect()
        gc.freeze()

    async def _read_all(self, revision: int) -> None:
        after = ""
        while True:
            page = await self._store.list(ROOT, after=after, limit=LOAD_PIECE, revision=revision)
            for record in page.records:
                item = self.item(record)
                if item is None:
                    self._set_aside(record)
                else:
                    key = f"{item.namespace}/{item.name}"
                    self.by_storage[item.resource.storage_name].items[key] = item
            if not page.more:
                return
            after = page.records[-1].key

    async def follow(self) -> None:
        """Apply the store's changes for ever; whatever breaks the watch, it is made anew."""
        while True:
            try:
                self._watch = self._store.watch(ROOT, self.revision)
                async for batch in self._watch:
                    self._apply(batch)
            except errors.Gone:
                await self._catch_up()
            except errors.Unavailable as err:
                log.warning("store watch lost", **fields(error=err))
                await asyncio.sleep(RETRY_S)
            except Exception:
                log.exception("changes of the store could not be applied")
                await asyncio.sleep(RETRY_S)

    def _follow_now(self) -> None:
        """As `follow`, of what is here already: who waits for it need not wait for its turn."""
        if self._watch is not None:
            with contextlib.suppress(Exception):  # `follow` meets it again, and begins anew
                self._watch.hand_to(self._apply)

    async def _catch_up(self) -> None:
        """Compare with the store when its history no longer reaches back to where we are."""
        records: dict[str, Record] = {}
        page = await self._store.list(ROOT, limit=LOAD_PIECE)
        revision = page.revision
        while True:
            records.update((record.key, record) for record in page.records)
            if not page.more:
                break
            after = page.records[-1].key
            page = await self._store.list(ROOT, after=after, limit=LOAD_PIECE, revision=revision)
        changes = [
            Change(record.key, record.value, record.create_revision, record.mod_revision)
            for record in records.values()
            if record.mod_revision > self.revision
        ]
        known = [key_of(i.resource, i.namespace, i.name) for i in self._all()]
        known += [key for found in self._unserved.values() for key in found]
        changes += [Change(key, None, 0, revision) for key in known if key not in records]
        changes.sort(key=lambda change: change.revision)
        log.warning("store history was compacted", **fields(changes=len(changes)))
        self._apply(Changes(revision, tuple(changes)))

    def _all(self) -> Iterator[Item]:
        for resource in self.by_storage.values():
            yield from resource.items.values()

    def _apply(self, batch: Changes) -> None:
        events: dict[str, list[Event]] = {}
        for change in batch.changes:
            event = self._apply_one(change)
            if event is not None:
                events.setdefault(event.item.resource.storage_name, []).append(event)
        self.revision = max(self.revision, batch.revision)
        self._wake()
        loop = asyncio.get_running_loop()
        for storage, found in events.items():
            resource = self.by_storage.get(storage)
            if resource is not None and resource.watchers:
                # two turns later: those whose writes these are go first
                resource.watchers.expect()
                loop.call_soon(loop.call_soon, resource.deliver, found)

    def _apply_one(self, change: Change) -> Event | None:
        storage, namespace, name = parse_key(change.key)
        row = self._registry.storage_rows.get(storage)
        if row is None:
            self._apply_unserved(storage, change)
            return None
        resource = self.by_storage[storage]
        key = f"{namespace}/{name}"
        previous = resource.items.get(key)
        item = None
        if change.value is not None:
            item = self._item(row, namespace, name, change.value, change.revision)
        if item is None:
            if previous is None:
                return None
            del resource.items[key]
            gone = previous.at_revision(change.revision)
            event = Event("DELETED", gone, previous, change.revision)
        else:
            resource.items[key] = item
            kind = "ADDED" if previous is None else "MODIFIED"
            event = Event(kind, item, previous, change.revision)
        resource.remember(event)
        for observe in resource.observers:
            try:
                observe(event)
            except Exception:  # one object must not stop the cache: other changes follow
                supervised.FAILURES.add(("apiserver-observer",))
                log.exception("change not processed", **fields(key=change.key))
        return event

    def _apply_unserved(self, storage: str, change: Change) -> None:
        if change.value is None:
            self._unserved.get(storage, {}).pop(change.key, None)
            return
        revisions = change.create_revision, change.revision
        self._set_aside(Record(change.key, change.value, *revisions))

    def forget(self, revision: int) -> None:
        """Remember no more what happened up to ``revision``, but for the newest of each kind."""
        for resource in self.by_storage.values():
            resource.forget(revision)

    # -- waiting -----------------------------------------------------------------------------

    async def wait(self, revision: int, timeout_s: float | None = None) -> None:
        """Return when everything up to ``revision`` is here.

        Raises:
            TimedOut: it did not come within ``timeout_s``.
        """
        if revision <= self.revision:
            return
        self._follow_now()
        if revision <= self.revision:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((revision, future))
        if timeout_s is None:
            await future
            return
        try:
            async with asyncio.timeout(timeout_s):
                await future
        except TimeoutError as err:
            raise errors.TimedOut(
                f"Too large resource version: {revision}, current: {self.revision}"
            ) from err

    async def fresh(self) -> None:
        """Return when every write acknowledged by now is here."""
        await self.wait(await self._store.current_revision())

    def _wake(self) -> None:
        if not self._waiters:
            return
        waiting = []
        for revision, future in self._waiters:
            if revision > self.revision and not future.done():
                waiting.append((revision, future))
            elif not future.done():
                future.set_result(None)
        self._waiters = waiting
