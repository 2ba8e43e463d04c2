"""A cache of one resource, kept current by list and watch, with handlers and indexes.

``await run()`` in a task group; wait for ``synced`` before trusting the cache. A broken watch goes
on from the last revision seen; a revision that the server forgot (``Gone``) means a new list, whose
differences reach the handlers as ordinary changes. Objects are shared: nobody may change them.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from muntin.kit import errors, numbers
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.log import fields, object_ref
from muntin.kit.metrics import PROCESS, Counter
from muntin.model.resources import Resource
from muntin.seams.kube import KubeClient, Object

log = logging.getLogger(__name__)

FIRST_DELAY_S = 0.1
MAX_DELAY_S = 30.0
WATCH_LIMIT_S = 600.0
"""A watch older than this is opened anew: a peer that vanished without a word is found out."""

YIELD_EVERY = 50
"""Objects of a list taken in before others may run; about a millisecond's worth."""

MOST_COMPLAINTS = 1000
"""Objects remembered as already reported."""
BOOKMARK = "BOOKMARK"

FAILURES = PROCESS.add(
    Counter(
        "muntin_informer_failures_total",
        "Objects on which a handler, an indexer or a transform failed, and malformed ones.",
        ("resource",),
    )
)

Indexer = Callable[[Object], Iterable[str]]


class Handler(Protocol):
    """Called for every change, in order and synchronously; must return at once.

    Its exceptions are logged and counted, and do not affect other handlers and objects.
    """

    def on_add(self, obj: Object) -> None:
        """``obj`` is new in the cache."""

    def on_update(self, old: Object, new: Object) -> None:
        """``new`` replaced ``old``."""

    def on_delete(self, obj: Object) -> None:
        """``obj``, in its last known state, left the cache."""


class OnChange:
    """A handler that does the same for every change, with the newest state and the one before."""

    def __init__(self, act: Callable[[Object, Object | None], None]) -> None:
        self._act = act

    def on_add(self, obj: Object) -> None:
        """Call with the new object."""
        self._act(obj, None)

    def on_update(self, old: Object, new: Object) -> None:
        """Call with both."""
        self._act(new, old)

    def on_delete(self, obj: Object) -> None:
        """Call with the last state."""
        self._act(obj, None)


def key_of(obj: Object) -> str:
    """``namespace/name``, or ``name`` of a cluster-scoped object."""
    meta = obj["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


class Informer:
    """See the module. ``transform`` may slim or complete each object before it is cached."""

    def __init__(
        self,
        client: KubeClient,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        indexers: Mapping[str, Indexer] | None = None,
        transform: Callable[[Object], Object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.resource = resource
        self.synced = asyncio.Event()
        self._client = client
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._transform = transform
        self._clock = clock or SystemClock()
        self._handlers: list[Handler] = []
        self._objects: dict[str, Object] = {}
        self._indexers: dict[str, Indexer] = dict(indexers or {})
        self._indexes: dict[str, dict[str, dict[str, Object]]] = {
            name: {} for name in self._indexers
        }
        self._version = ""
        self._failures = 0
        self._complained: set[tuple[str, str]] = set()

    # -- reading -----------------------------------------------------------------------------

    def get(self, key: str) -> Object | None:
        """The object with that ``namespace/name``, if there is one."""
        return self._objects.get(key)

    def all(self) -> list[Object]:
        """All objects, in no order."""
        return list(self._objects.values())

    def __iter__(self) -> Iterator[Object]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self._objects)

    def by_index(self, name: str, value: str) -> list[Object]:
        """The objects for which indexer ``name`` gave ``value``."""
        return list(self._indexes[name].get(value, {}).values())

    @property
    def resource_version(self) -> str:
        """The newest revision that the watch has shown."""
        return self._version

    # -- wiring ------------------------------------------------------------------------------

    def add_handler(self, handler: Handler) -> None:
        """Tell ``handler`` of every change from now on, and first of what is already there."""
        self._handlers.append(handler)
        for obj in self.all():
            self._tell(handler, None, obj)

    def add_indexer(self, name: str, indexer: Indexer) -> None:
        """Index by ``indexer``; a second one of the same name must be the same."""
        if name in self._indexers:
            return
        self._indexers[name] = indexer
        index: dict[str, dict[str, Object]] = {}
        self._indexes[name] = index
        for key, obj in self._objects.items():
            for value in self._values(indexer, obj):
                index.setdefault(value, {})[key] = obj

    def observe(self, obj: Object) -> None:
        """Take in the answer to a write of our own before the watch brings it.

        So whoever reads the cache after writing sees the write. An answer older than what the
        watch has shown is ignored: the object may be gone again.
        """
        if _number(obj["metadata"].get("resourceVersion")) <= _number(self._version):
            return
        self._apply(self._prepared(obj))

    def observe_deletion(self, key: str, uid: str, now: str) -> None:
        """Show the object as being deleted, as the server does from now on."""
        obj = self._objects.get(key)
        if obj is None or obj["metadata"].get("uid") != uid:
            return
        if "deletionTimestamp" not in obj["metadata"]:
            self._apply({**obj, "metadata": {**obj["metadata"], "deletionTimestamp": now}})

    # -- running -----------------------------------------------------------------------------

    async def run(self) -> None:
        """Keep the cache current until cancelled; errors of the server are waited out."""
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except errors.Gone:
                self._version = ""
                await self._pause(FIRST_DELAY_S / 10)
            except errors.MuntinError as err:
                delay_s = min(MAX_DELAY_S, FIRST_DELAY_S * 2.0 ** min(self._failures, 20))
                self._failures += 1
                log.warning(
                    "list or watch failed, trying again",
                    **fields(resource=self.resource.plural, delay_s=round(delay_s, 2), error=err),
                )
                await self._pause(delay_s)

    async def _pause(self, delay_s: float) -> None:
        """Wait, with up to half again as jitter, so that a crowd does not come back as one."""
        await self._clock.sleep(delay_s * (1 + random.random() / 2))

    async def _list(self) -> None:
        found = await self._client.list(
            self.resource,
            self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
        )
        newest = _number(found.resource_version)
        whole = [obj for obj in found.items if self._is_whole(obj)]
        current = {key_of(obj): self._prepared(obj) for obj in whole}
        for count, obj in enumerate(current.values(), 1):
            self._apply(obj)
            if count % YIELD_EVERY == 0:
                await asyncio.sleep(0)
        for key, obj in list(self._objects.items()):
            if key not in current and _number(obj["metadata"].get("resourceVersion")) <= newest:
                self._remove(key)
        self._version = found.resource_version
        self._failures = 0
        self.synced.set()

    async def _watch(self) -> None:
        started = self._clock.monotonic()
        try:
            async with asyncio.timeout(WATCH_LIMIT_S * (1 + random.random() / 4)):
                async for event in self._client.watch(
                    self.resource,
                    self._namespace,
                    resource_version=self._version,
                    label_selector=self._label_selector,
                    field_selector=self._field_selector,
                ):
                    self._failures = 0
                    self._take(event.type, event.object)
        except TimeoutError:
            return
        if self._clock.monotonic() - started < 1.0:
            await self._pause(FIRST_DELAY_S)  # a server that ends every watch at once

    def _take(self, kind: str, obj: Object) -> None:
        if kind == BOOKMARK:
            meta = obj.get("metadata")
            version = meta.get("resourceVersion") if isinstance(meta, dict) else ""
        elif not self._is_whole(obj):
            return
        else:
            version = obj["metadata"].get("resourceVersion")
        if kind == "DELETED":
            cached = self._objects.get(key_of(obj))
            if cached is not None and cached["metadata"].get("uid") == obj["metadata"].get("uid"):
                self._remove(key_of(obj))
        elif kind in ("ADDED", "MODIFIED"):
            self._apply(self._prepared(obj))
        if version and isinstance(version, str):
            self._version = version

    def _prepared(self, obj: Object) -> Object:
        obj.setdefault("apiVersion", self.resource.api_version)
        obj.setdefault("kind", self.resource.kind)
        if self._transform is None:
            return obj
        try:
            return self._transform(obj)
        except Exception as err:
            self._complain("object cached as it came, it could not be slimmed", obj, err)
            return obj

    def _apply(self, obj: Object) -> None:
        key = key_of(obj)
        old = self._objects.get(key)
        if old is not None and not _is_newer(obj, old):
            return
        if old is not None and old["metadata"].get("uid") != obj["metadata"].get("uid"):
            self._remove(key)  # another object of the same name: the first one went unseen
            old = None
        self._index(key, old, obj)
        self._objects[key] = obj
        for handler in self._handlers:
            self._tell(handler, old, obj)

    def _remove(self, key: str) -> None:
        old = self._objects.pop(key, None)
        if old is None:
            return
        self._index(key, old, None)
        for handler in self._handlers:
            self._tell(handler, old, None)

    def _tell(self, handler: Handler, old: Object | None, new: Object | None) -> None:
        """Call ``handler`` for one change; its exceptions affect this object only."""
        try:
            if new is None:
                handler.on_delete(old or {})
            elif old is None:
                handler.on_add(new)
            else:
                handler.on_update(old, new)
        except Exception as err:
            self._complain("handler failed", new or old or {}, err)

    def _values(self, indexer: Indexer, obj: Object) -> Iterable[str]:
        """The index values of ``obj``; none if ``indexer`` fails."""
        try:
            return list(indexer(obj))
        except Exception as err:
            self._complain("object not indexed", obj, err)
            return ()

    def _is_whole(self, obj: Object) -> bool:
        """Whether ``obj`` can be cached: it has a name, and its metadata are of their types.

        Objects of aggregated API servers come here as those servers wrote them.
        """
        meta = obj.get("metadata")
        if (
            isinstance(meta, dict)
            and isinstance(meta.get("name"), str)
            and isinstance(meta.get("namespace") or "", str)
            and isinstance(meta.get("uid") or "", str)
            and isinstance(meta.get("resourceVersion") or "", str)
        ):
            return True
        self._complain("object without valid metadata ignored", obj, None)
        return False

    def _complain(self, message: str, obj: Object, err: Exception | None) -> None:
        """Log ``message`` once for each object, with the stack of ``err``; count it always."""
        FAILURES.add((self.resource.plural,))
        meta = obj.get("metadata")
        name = object_ref(obj) if isinstance(meta, dict) else "?"
        about = (message, name)
        if about in self._complained:
            return
        if len(self._complained) >= MOST_COMPLAINTS:
            self._complained.clear()
        self._complained.add(about)
        log.error(message, exc_info=err, **fields(resource=self.resource.plural, object=name))

    def _index(self, key: str, old: Object | None, new: Object | None) -> None:
        for name, indexer in self._indexers.items():
            index = self._indexes[name]
            for value in self._values(indexer, old) if old is not None else ():
                bucket = index.get(value, {})
                bucket.pop(key, None)
                if not bucket:
                    index.pop(value, None)
            for value in self._values(indexer, new) if new is not None else ():
                index.setdefault(value, {})[key] = new  # type: ignore[assignment]  # not None


def _is_newer(new: Object, old: Object) -> bool:
    """Whether ``new`` says something that ``old`` does not; a deletion mark of our own counts."""
    new_meta, old_meta = new["metadata"], old["metadata"]
    ours, theirs = (_number(meta.get("resourceVersion")) for meta in (new_meta, old_meta))
    if ours != theirs or new_meta.get("uid") != old_meta.get("uid"):
        return ours > theirs
    return "deletionTimestamp" in new_meta and "deletionTimestamp" not in old_meta


def _number(version: str | None) -> int:
    """A resourceVersion as a number: one counter for the whole store, here and in etcd."""
    return numbers.int_or_none(version) or 0
