"""The scheduler: pods without a node in, bindings out.

A pod is assumed to be where it was sent until the API server shows it there, so the next decision
counts it at once and nobody waits for a binding. Decisions are in :mod:`muntin.scheduler.plan`.
"""

from __future__ import annotations

import asyncio
import logging

from muntin.kit import errors
from muntin.kit.clock import Clock, SystemClock, rfc3339
from muntin.kit.log import fields, object_ref
from muntin.model import pods
from muntin.model.resources import PODS
from muntin.model.windows_releases import scheduler_words
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.plan import Decision, schedule
from muntin.scheduler.queue import Waiting
from muntin.scheduler.world import World
from muntin.seams.kube import STRATEGIC_MERGE_PATCH, KubeClient, Object
from muntin.seams.kube.events import NORMAL, WARNING, EventRecorder

log = logging.getLogger(__name__)


async def run(config: SchedulerConfig, client: KubeClient, *, clock: Clock | None = None) -> None:
    """Schedule pods until cancelled; ``client`` acts as ``system:kube-scheduler``."""
    clock = clock or SystemClock()
    world = World(client, config, clock)
    scheduler = _Scheduler(config, client, world, clock)
    async with asyncio.TaskGroup() as group:
        for informer in world.informers:
            group.create_task(informer.run())
        group.create_task(scheduler.recorder.run())
        group.create_task(world.queue.run())
        for _ in range(config.binders):
            group.create_task(scheduler.bind_all())
        await world.synced()
        log.info("scheduler started")
        group.create_task(scheduler.schedule_all())


class _Scheduler:
    def __init__(
        self, config: SchedulerConfig, client: KubeClient, world: World, clock: Clock
    ) -> None:
        self.recorder = EventRecorder(client, config.name, clock=clock)
        self._words = scheduler_words(config.kubernetes)
        self._client = client
        self._world = world
        self._clock = clock
        self._bindings: asyncio.Queue[tuple[Waiting, str]] = asyncio.Queue()
        self._failures: asyncio.Queue[tuple[Object, str]] = asyncio.Queue()
        self._turn = 0

    async def schedule_all(self) -> None:
        """One decision after the other; bindings and statuses are written meanwhile."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell_all())
            while True:
                waiting = await self._world.queue.pop()
                self._decide(waiting)
                await asyncio.sleep(0)

    def _decide(self, waiting: Waiting) -> None:
        pod, queue = waiting.pod, self._world.queue
        uid = pod["metadata"]["uid"]
        if pods.is_deleting(pod) or pods.node_name(pod):
            queue.remove(uid)
            return
        try:
            decision = self._plan(pod)
        except Exception:
            log.exception("scheduling a pod failed", **fields(pod=object_ref(pod)))
            queue.failed(uid, frozenset(), is_error=True)
            return
        if decision.node:
            self._world.cluster.set_pod(pod, decision.node)
            self._bindings.put_nowait((waiting, decision.node))
        else:
            queue.failed(uid, decision.plugins)
            self._failures.put_nowait((pod, decision.message))

    def _plan(self, pod: Object) -> Decision:
        self._turn += 1
        return schedule(
            pod,
            self._world.cluster,
            namespaces=self._world.namespace_labels,
            default_spread=self._world.companions(pod),
            start=self._turn,
            words=self._words,
        )

    async def bind_all(self) -> None:
        """Bind what was decided, until cancelled; several of these run side by side."""
        while True:
            waiting, node = await self._bindings.get()
            await self._bind(waiting, node)

    async def _bind(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        meta = pod["metadata"]
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": meta["name"],
                "namespace": meta["namespace"],
                "uid": meta["uid"],
            },
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        try:
            await self._client.create(PODS, binding, meta["namespace"], subresource="binding")
        except errors.NotFound:
            self._world.forget(meta["uid"])
            self._world.queue.remove(meta["uid"])
        except errors.MuntinError as err:
            log.warning("pod not bound", **fields(pod=object_ref(pod), node=node, error=err))
            self._world.forget(meta["uid"])
            self._world.queue.failed(meta["uid"], frozenset(), is_error=True)
            message = f"binding rejected: {err.message}"
            self.recorder.event(pod, WARNING, "FailedScheduling", message)
        else:
            self._world.queue.remove(meta["uid"])
            message = f"Successfully assigned {meta['namespace']}/{meta['name']} to {node}"
            self.recorder.event(pod, NORMAL, "Scheduled", message)
            log.info("pod bound", **fields(pod=object_ref(pod), node=node))

    async def _tell_all(self) -> None:
        """Say of each pod that fits nowhere why, in an event and in its conditions."""
        while True:
            pod, message = await self._failures.get()
            self.recorder.event(pod, WARNING, "FailedScheduling", message)
            await self._set_condition(pod, message)

    async def _set_condition(self, pod: Object, message: str) -> None:
        have = pods.condition(pod, "PodScheduled") or {}
        row = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        if all(have.get(name) == value for name, value in row.items()):
            return
        now = rfc3339(self._clock.now())
        same = have.get("status") == "False"
        row["lastTransitionTime"] = have.get("lastTransitionTime", now) if same else now
        meta = pod["metadata"]
        try:
            await self._client.patch(
                PODS,
                meta["name"],
                {"status": {"conditions": [row]}},
                meta["namespace"],
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        except errors.NotFound:
            return
        except errors.MuntinError as err:
            log.warning("condition not written", **fields(pod=object_ref(pod), error=err))
