"""The scheduler: pods without a node in, bindings out.

A pod is assumed to be where it was sent until the API server shows it there, so the next decision
counts it at once and nobody waits for a binding. Decisions are in :mod:`muntin.scheduler.plan`;
what they lead to is written by :mod:`muntin.scheduler.writer`.
"""

from __future__ import annotations

import asyncio
import logging

from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.log import fields, object_ref
from muntin.model import pods
from muntin.model.windows_releases import scheduler_words
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.plan import Decision, Search, choose
from muntin.scheduler.plan_framework import Cycle, Request
from muntin.scheduler.plan_memory import Memory
from muntin.scheduler.plan_preemption import decide, find_room
from muntin.scheduler.queue import Waiting
from muntin.scheduler.world import World
from muntin.scheduler.writer import Writer
from muntin.seams.kube import KubeClient, Object

log = logging.getLogger(__name__)


async def run(config: SchedulerConfig, client: KubeClient, *, clock: Clock | None = None) -> None:
    """Schedule pods until cancelled; ``client`` acts as ``system:kube-scheduler``."""
    clock = clock or SystemClock()
    world = World(client, config, clock)
    writer = Writer(client, config, world, clock)
    scheduler = _Scheduler(config, world, writer)
    async with supervised.Group() as group:
        for informer in world.informers:
            group.start("informer", informer.run)
        group.start("scheduler-queue", world.queue.run)
        group.start("scheduler-writer", writer.run)
        await world.synced()
        log.info("scheduler started")
        group.start("scheduler-decisions", scheduler.schedule_all)


class _Scheduler:
    def __init__(self, config: SchedulerConfig, world: World, writer: Writer) -> None:
        self._words = scheduler_words(config.kubernetes)
        self._profiles = {profile.scheduler_name: profile for profile in config.profiles}
        self._world = world
        self._writer = writer
        self._turn = 0
        self._memory = Memory()

    async def schedule_all(self) -> None:
        """One decision after the other; what they lead to is written meanwhile."""
        while True:
            waiting = await self._world.queue.pop()
            try:
                await self._decide(waiting)
            except Exception as err:
                self._give_back(waiting, err)
            await asyncio.sleep(0)

    def _give_back(self, waiting: Waiting, err: Exception) -> None:
        """The decision failed: say so, and try this pod again later."""
        pod, uid = waiting.pod, waiting.pod["metadata"]["uid"]
        supervised.FAILURES.add(("scheduler-pod",))
        log.error("scheduling a pod failed", exc_info=err, **fields(pod=object_ref(pod)))
        self._world.forget(uid)
        self._world.queue.failed(uid, frozenset(), is_error=True)
        self._writer.refuse(pod, Decision(message=str(err)), reason="SchedulerError")

    async def _decide(self, waiting: Waiting) -> None:
        pod, queue = waiting.pod, self._world.queue
        uid = pod["metadata"]["uid"]
        if pods.is_deleting(pod) or pods.node_name(pod):
            queue.remove(uid)
            return
        decision = await self._plan(pod)
        if decision.node:
            self._world.reserve(pod, decision.node)
            self._writer.bind(waiting, decision.node)
            return
        if decision.nominated is not None:
            self._world.cluster.nominate(pod, decision.nominated)
        if decision.victims:
            self._writer.preempt(waiting, decision)
        else:
            queue.failed(uid, decision.plugins)
        self._writer.refuse(pod, decision)

    async def _plan(self, pod: Object) -> Decision:
        world = self._world
        profile = self._profiles[world.scheduler_name(pod)]
        request = Request(pod, self._words)
        companions = world.companions(pod)
        cycle = Cycle(request, world.cluster, world.namespace_labels, companions, profile.args)
        search = Search(cycle, profile, self._memory, self._turn)
        self._turn += search.looked_at
        extenders = world.extenders
        if extenders is not None:
            await extenders.filter(search)
        if search.feasible:
            return choose(search, await extenders.scores(search) if extenders else None)
        if not profile.preempts or not len(world.cluster):
            return search.refusal()
        room = find_room(search, world.budgets, offset=self._turn)
        if extenders is not None:
            room = await extenders.preempt(pod, room, world.cluster)
        return decide(search, room)
