"""API Priority and Fairness: which requests run, which wait, and which are turned away.

A request is put into a flow by the first FlowSchema that is about it; its level has seats, and
when none is free the request waits in a fair queue or gets 429. What a kind of request of a user
belongs to is remembered until the configuration changes, so one that need not wait costs a few
look-ups. Seats are held until the answer is made: a watch holds none while it streams.
Source: apiserver v1.34 pkg/server/filters/priority-and-fairness.go, pkg/util/flowcontrol.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.flowcontrol import defaults
from muntin.apiserver.flowcontrol.levels import Level, Pool
from muntin.apiserver.flowcontrol.matching import Digest, matches
from muntin.apiserver.flowcontrol.metrics import FlowMetrics
from muntin.apiserver.flowcontrol.queues import Waiter
from muntin.apiserver.metrics import LONG_RUNNING, Metrics
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.retries import RetryAfter
from muntin.kit import numbers
from muntin.kit.http.messages import Response
from muntin.model.gates import Version

__all__ = ["FlowControl"]

SCHEMAS = "flowcontrol.apiserver.k8s.io/flowschemas"
LEVELS = "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations"
OBJECTS_PER_SEAT = 100  # of a list
MOST_KNOWN = 10_000

Object = Mapping[str, Any]


class Flow:
    """A FlowSchema and the level that it leads to, as one kind of request meets them."""

    __slots__ = ("by", "headers", "level", "schema")

    def __init__(self, schema: str, uid: str, level: Level, by: str) -> None:
        self.schema = schema
        self.level = level
        self.by = by
        self.headers = {
            "X-Kubernetes-PF-FlowSchema-UID": uid,
            "X-Kubernetes-PF-PriorityLevel-UID": level.uid,
        }


class Seat:
    """A place of a request among those that run; ``leave`` it when the answer is made."""

    __slots__ = ("_control", "_request", "_since", "_waiter", "flow", "seats")

    def __init__(
        self,
        control: FlowControl,
        flow: Flow,
        request: ApiRequest,
        seats: int,
        waiter: Waiter | None = None,
    ) -> None:
        self._control = control
        self.flow = flow
        self._request = request
        self.seats = seats
        self._waiter = waiter
        self._since = time.monotonic()

    def leave(self) -> None:
        """Free the seats, and let others on them."""
        level, now = self.flow.level, time.monotonic()
        level.in_use -= self.seats
        level.executing -= 1
        queues = level.queues
        if queues is not None and (self._waiter is not None or queues.waiting):
            queues.advance(now, level.nominal)
            if self._waiter is not None:
                queues.finished(self._waiter, now)
            else:  # it never waited, yet its flow has had that time
                took = (now - self._since) * self.seats
                queues.charge(_flow_hash(self.flow, self._request), took)
        self._control.left(self.flow, now - self._since)


class FlowControl:
    """The flow control of a server with ``seats`` for all limited levels, of an API ``version``."""

    def __init__(
        self, cache: Cache, metrics: Metrics, *, version: Version, seats: int, wait_s: float
    ) -> None:
        self._cache = cache
        self._version = version
        self._wait_s = wait_s
        self.pool = Pool(seats)
        self._schemas: list[tuple[Object, Flow]] = []
        self._known: dict[tuple[str, ...], Flow] = {}
        self._stale = True
        self._waiting = 0
        self._retry_after: dict[str, RetryAfter] = {}
        self.metrics = FlowMetrics(metrics.families, self.pool)
        self.changed: Callable[[], None] = lambda: None
        for name in (SCHEMAS, LEVELS):
            if name in cache.by_storage:
                cache.by_storage[name].observers.append(self._observe)

    def _observe(self, event: Event) -> None:
        self._stale = True
        self.changed()

    # -- configuration -----------------------------------------------------------------------

    def _objects(self, storage: str, builtin: Iterable[Object]) -> list[Object]:
        """What is stored, and those of the mandatory ones that are not (yet)."""
        stored = self._cache.by_storage.get(storage)
        found: list[Object] = [item.object() for item in stored.select()] if stored else []
        names = {obj["metadata"]["name"] for obj in found}
        needed = defaults.MANDATORY if stored else None
        return found + [
            obj
            for obj in builtin
            if (name := obj["metadata"]["name"]) not in names and (not needed or name in needed)
        ]

    def _configure(self) -> None:
        self._stale = False
        old, kept = self.pool.levels, []
        for obj in self._objects(LEVELS, defaults.priority_levels(self._version)):
            metadata, spec = obj["metadata"], obj.get("spec") or {}
            level = Level(metadata["name"], metadata.get("uid", ""), spec)
            before = old.get(level.name)
            alike = before is not None and before.is_configured_as(level)
            kept.append(before if before is not None and alike else level)
        self.pool.replace(kept)
        for level in old.values():
            if level not in kept:  # nobody would ever call those who wait there
                self._start_all(level)
        self._schemas = self._ordered_schemas()
        self._known.clear()

    def _start_all(self, level: Level) -> None:
        while level.queues is not None and level.queues.waiting:
            waiter = level.queues.take_any()
            level.in_use += waiter.seats
            level.executing += 1
            self._start(waiter)

    def _ordered_schemas(self) -> list[tuple[Object, Flow]]:
        found = []
        for obj in self._objects(SCHEMAS, defaults.flow_schemas(self._version)):
            metadata, spec = obj["metadata"], obj.get("spec") or {}
            reference = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
            level = self.pool.levels.get(reference)
            if level is None:
                continue  # dangling: it catches nothing
            by = (spec.get("distinguisherMethod") or {}).get("type", "")
            flow = Flow(metadata["name"], metadata.get("uid", ""), level, by)
            precedence = spec.get("matchingPrecedence", 1000)
            found.append((precedence, metadata["name"], spec, flow))
        found.sort(key=lambda row: row[:2])
        return [(spec, flow) for _, _, spec, flow in found]

    def refresh(self) -> None:
        """Serve by the configuration as it is now."""
        if self._stale:
            self._configure()

    def classify(self, request: ApiRequest) -> Flow:
        """The flow of ``request``."""
        if self._stale:
            self._configure()
        user, row, sub = request.user, request.resource, request.subresource
        key = (
            user.name, *user.groups, "\0", request.verb, request.namespace,
            request.path if row is None else row.group,
            "" if row is None else row.plural,
            "" if sub is None else sub.name,
        )  # fmt: skip
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._first(_digest(request))
        return found

    def _first(self, digest: Digest) -> Flow:
        for spec, flow in self._schemas:
            if matches(spec, digest):
                return flow
        # Only for one who is in neither of the groups that everybody is in.
        return next(flow for _, flow in self._schemas if flow.schema == "catch-all")

    # -- requests ----------------------------------------------------------------------------

    def enter(self, request: ApiRequest) -> tuple[Flow, Seat | None]:
        """A seat for ``request`` if it may run at once; else None, and `wait` for one."""
        flow = self.classify(request)
        level = flow.level
        seats = 1
        if request.verb == "list" and not level.exempt:
            seats = self._width(request, level)
        if level.waiting or not level.may_start(seats):
            return flow, None
        level.in_use += seats
        level.executing += 1
        self.metrics.started(level.name, flow.schema, seats)
        return flow, Seat(self, flow, request, seats)

    def _width(self, request: ApiRequest, level: Level) -> int:
        """How many seats a list takes: one for each hundred objects."""
        if request.name or request.resource is None:
            return 1
        cache = self._cache.by_storage.get(request.resource.storage_name)
        count = len(cache.items) if cache is not None else 0
        if count <= OBJECTS_PER_SEAT:
            return 1
        if limit := numbers.int_or_none(request.param("limit")):
            count = min(count, limit)
        return max(1, min(level.most_seats_of_one, math.ceil(count / OBJECTS_PER_SEAT)))

    async def wait(self, request: ApiRequest, flow: Flow, deadline_s: float) -> Seat | None:
        """Wait in the flow's queue for at most a quarter of ``deadline_s``; None: turned away."""
        level, seats = flow.level, 1
        if request.verb == "list":
            seats = self._width(request, level)
        queues = level.queues
        if queues is None:
            self._reject(flow, "concurrency-limit")
            return None
        came = time.monotonic()
        queues.advance(came, level.nominal)
        waiter = queues.enqueue(_flow_hash(flow, request), seats, flow.schema)
        if waiter is None:
            self._reject(flow, "queue-full")
            return None
        self._waiting += 1
        self.metrics.queued(level.name, flow.schema, seats, len(waiter.queue.waiting))
        self.dispatch()  # others may have left; this one takes its turn
        try:
            async with asyncio.timeout(min(self._wait_s, deadline_s / 4)):
                await waiter.future
        except TimeoutError:
            self._give_up(flow, request, waiter)
            self.metrics.waited(level.name, flow.schema, time.monotonic() - came, executed=False)
            self._reject(flow, "time-out")
            return None
        except asyncio.CancelledError:
            self._give_up(flow, request, waiter)
            raise
        finally:
            self._waiting -= 1
            self.metrics.queued(level.name, flow.schema, -seats, -1)
        self.metrics.waited(level.name, flow.schema, time.monotonic() - came, executed=True)
        self.metrics.started(level.name, flow.schema, seats)
        return Seat(self, flow, request, seats, waiter)

    def _give_up(self, flow: Flow, request: ApiRequest, waiter: Waiter) -> None:
        queues = flow.level.queues
        assert queues is not None
        if waiter.future.done() and not waiter.future.cancelled():  # started at the same moment
            self.metrics.started(flow.level.name, flow.schema, waiter.seats)
            Seat(self, flow, request, waiter.seats, waiter).leave()
        elif waiter in waiter.queue.waiting:
            queues.remove(waiter)
            self.dispatch()

    def left(self, flow: Flow, seconds: float) -> None:
        """A request of ``flow`` has been answered."""
        self.metrics.finished(flow.level.name, flow.schema, seconds)
        if self._waiting:
            self.dispatch()

    def dispatch(self) -> None:
        """Start those who can start."""
        for _, waiter in self.pool.dispatch(time.monotonic()):
            self._start(waiter)

    @staticmethod
    def _start(waiter: Waiter) -> None:
        if not waiter.future.done():
            waiter.future.set_result(None)

    def _reject(self, flow: Flow, reason: str) -> None:
        self.metrics.rejected(flow.level.name, flow.schema, reason)
        self._retry_after.setdefault(flow.level.name, RetryAfter()).dropped(int(time.time()))

    def refusal(self, flow: Flow) -> Response:
        """The answer to a request that was turned away."""
        found = self._retry_after.get(flow.level.name)
        headers = {
            **flow.headers,
            "Content-Type": "text/plain; charset=utf-8",
            "X-Content-Type-Options": "nosniff",
            "Retry-After": str(found.seconds if found is not None else 1),
        }
        return Response(429, headers, b"Too many requests, please try again later.\n")


def is_long_running(request: ApiRequest) -> bool:
    """Whether ``request`` is one that lasts, and takes no seat (watches do, while they begin)."""
    return request.subresource is not None and request.subresource.name in LONG_RUNNING


def _digest(request: ApiRequest) -> Digest:
    user, row = request.user, request.resource
    if row is None:
        return Digest(user.name, user.groups, request.verb, path=request.path)
    sub = request.subresource
    resource = row.plural if sub is None else f"{row.plural}/{sub.name}"
    return Digest(user.name, user.groups, request.verb, row.group, resource, request.namespace)


def _flow_hash(flow: Flow, request: ApiRequest) -> int:
    by = {"ByUser": request.user.name, "ByNamespace": request.namespace}.get(flow.by, "")
    return hash((flow.schema, by))
