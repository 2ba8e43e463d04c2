"""The pods that wait for a node: those to try now, those backing off, those that fit nowhere.

Ordered by priority, then by age. A pod that fits nowhere waits for a change that could help it,
and is tried again in any case after a while.
Source: kubernetes v1.34 pkg/scheduler/backend/queue/scheduling_queue.go.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from dataclasses import dataclass, field

from muntin.kit.clock import Clock
from muntin.kit.log import fields, object_ref
from muntin.model import pods, times
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.plan_hints import Change, could_help
from muntin.scheduler.plan_nodes import Object

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Waiting:
    """One pod in the queue, with how often it was tried and what stood in its way."""

    pod: Object
    attempts: int = 0
    tried_at: float = 0.0
    plugins: frozenset[str] = field(default_factory=frozenset)


class SchedulingQueue:
    """All pods are known by uid; each is in one place at a time."""

    def __init__(self, clock: Clock, config: SchedulerConfig) -> None:
        self._clock = clock
        self._config = config
        self._waiting: dict[str, Waiting] = {}
        self._active: list[tuple[int, float, str]] = []
        self._is_active: set[str] = set()
        self._in_flight: set[str] = set()
        self._missed: set[str] = set()
        self._backing_off: dict[str, float] = {}
        self._unschedulable: set[str] = set()
        self._wake = asyncio.Event()

    def add(self, pod: Object) -> None:
        """A pod without a node is there, new or changed in a way that may help it."""
        uid = pod["metadata"]["uid"]
        waiting = self._waiting.setdefault(uid, Waiting(pod))
        waiting.pod = pod
        if uid in self._in_flight:
            self._missed.add(uid)
        elif uid not in self._backing_off:
            self._activate(uid)

    def update(self, pod: Object) -> None:
        """Only keep the newest state of the pod."""
        waiting = self._waiting.get(pod["metadata"]["uid"])
        if waiting is not None:
            waiting.pod = pod

    def remove(self, uid: str) -> None:
        """The pod has a node, or is gone."""
        self._waiting.pop(uid, None)
        self._is_active.discard(uid)
        self._in_flight.discard(uid)
        self._missed.discard(uid)
        self._backing_off.pop(uid, None)
        self._unschedulable.discard(uid)

    def knows(self, uid: str) -> bool:
        """Whether the pod waits here."""
        return uid in self._waiting

    async def pop(self) -> Waiting:
        """The next pod to try; say :meth:`failed` or :meth:`remove` of it afterwards."""
        while True:
            while self._active:
                _, _, uid = heapq.heappop(self._active)
                waiting = self._waiting.get(uid)
                if waiting is not None and uid in self._is_active:
                    self._is_active.discard(uid)
                    self._in_flight.add(uid)
                    waiting.attempts += 1
                    waiting.tried_at = self._clock.monotonic()
                    return waiting
            self._wake.clear()
            await self._wake.wait()

    def failed(self, uid: str, plugins: frozenset[str], *, is_error: bool = False) -> None:
        """The pod fits nowhere because of ``plugins``, or an error came in between."""
        waiting = self._waiting.get(uid)
        if waiting is None:
            return
        self._in_flight.discard(uid)
        waiting.plugins = plugins
        if is_error or uid in self._missed:
            self._missed.discard(uid)
            self._back_off(uid)
        else:
            self._unschedulable.add(uid)

    def something_changed(self, *plugins: str) -> None:
        """The world changed in what ``plugins`` look at (in everything, without any)."""
        for uid in list(self._unschedulable):
            if not plugins or not self._waiting[uid].plugins.isdisjoint(plugins):
                self._unschedulable.discard(uid)
                self._back_off(uid)
        self._missed |= self._in_flight

    def changed(self, change: Change) -> None:
        """A node or a pod on a node changed: pods are tried again whom that could help."""
        for uid in list(self._unschedulable):
            waiting = self._waiting[uid]
            if _could_help(waiting, change):
                self._unschedulable.discard(uid)
                self._back_off(uid)
        self._missed |= self._in_flight

    def activate(self, uid: str) -> None:
        """Try the pod now, whatever it waits for."""
        if uid in self._waiting and uid not in self._in_flight:
            self._backing_off.pop(uid, None)
            self._activate(uid)

    async def run(self) -> None:
        """Bring pods back when their back-off ends, or when they waited for too long."""
        while True:
            now = self._clock.monotonic()
            for uid, due in list(self._backing_off.items()):
                if due <= now:
                    del self._backing_off[uid]
                    self._activate(uid)
            for uid in list(self._unschedulable):
                if now - self._waiting[uid].tried_at >= self._config.unschedulable_limit_s:
                    self._unschedulable.discard(uid)
                    self._activate(uid)
            await self._clock.sleep(0.1 if self._backing_off else 1.0)

    def _back_off(self, uid: str) -> None:
        waiting = self._waiting[uid]
        delay_s = min(
            self._config.initial_backoff_s * 2.0 ** (max(waiting.attempts, 1) - 1),
            self._config.max_backoff_s,
        )
        due = waiting.tried_at + delay_s
        if due <= self._clock.monotonic():
            self._activate(uid)
        else:
            self._backing_off[uid] = due

    def _activate(self, uid: str) -> None:
        if uid in self._is_active:
            return
        self._unschedulable.discard(uid)
        pod = self._waiting[uid].pod
        self._is_active.add(uid)
        age = times.seconds_of(pod["metadata"].get("creationTimestamp")) or 0.0
        heapq.heappush(self._active, (-pods.priority(pod), age, uid))
        self._wake.set()


def _could_help(waiting: Waiting, change: Change) -> bool:
    """Whether ``change`` may make room for the pod; yes where that cannot be judged."""
    try:
        return could_help(waiting.plugins, waiting.pod, change)
    except Exception:
        log.exception("queueing hint failed", **fields(pod=object_ref(waiting.pod)))
        return True
