"""What decisions lead to: bindings, victims, conditions and events, written beside the decisions.

Source: kubernetes v1.36 pkg/scheduler/schedule_one.go, framework/preemption/executor.go.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from muntin.kit import errors, supervised
from muntin.kit.clock import Clock, rfc3339
from muntin.kit.log import fields, object_ref
from muntin.model import pods
from muntin.model.resources import PODS
from muntin.model.windows_releases import scheduler_words
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.plan import Decision
from muntin.scheduler.plan_preemption import BY_SCHEDULER, DISRUPTION_TARGET
from muntin.scheduler.queue import Waiting
from muntin.scheduler.world import World
from muntin.seams.kube import STRATEGIC_MERGE_PATCH, KubeClient, Object
from muntin.seams.kube.events import NORMAL, WARNING, SeriesRecorder

log = logging.getLogger(__name__)

_ACTIONS = {"Scheduled": "Binding", "FailedScheduling": "Scheduling", "Preempted": "Preempting"}
"""What was done when something is told."""


class Writer:
    """Writes in the order of the decisions; bindings side by side."""

    def __init__(
        self, client: KubeClient, config: SchedulerConfig, world: World, clock: Clock
    ) -> None:
        self._client = client
        self._world = world
        self._clock = clock
        self._binders = config.binders
        self._words = scheduler_words(config.kubernetes)
        self._recorders = {
            profile.scheduler_name: SeriesRecorder(client, profile.scheduler_name, clock=clock)
            for profile in config.profiles
        }
        self._bindings: asyncio.Queue[tuple[Waiting, str]] = asyncio.Queue()
        self._refusals: asyncio.Queue[tuple[Object, Decision, str]] = asyncio.Queue()
        self._preemptions: asyncio.Queue[tuple[Waiting, Decision]] = asyncio.Queue()

    async def run(self) -> None:
        """Write what is decided until cancelled."""
        async with supervised.Group() as group:
            self._group = group
            for recorder in self._recorders.values():
                group.start("events", recorder.run)
            for _ in range(self._binders):
                group.start("scheduler-bindings", self._bind_all)
            group.start("scheduler-refusals", self._refuse_all)
            group.start("scheduler-preemptions", self._preempt_all)

    def bind(self, waiting: Waiting, node: str) -> None:
        """Bind the pod to ``node``, where it is assumed to be."""
        self._bindings.put_nowait((waiting, node))

    def refuse(self, pod: Object, decision: Decision, *, reason: str = "Unschedulable") -> None:
        """Say in an event and in its conditions why the pod fits nowhere."""
        self._refusals.put_nowait((pod, decision, reason))

    def preempt(self, waiting: Waiting, decision: Decision) -> None:
        """Remove the victims; the pod is not tried again before that is asked for."""
        self._preemptions.put_nowait((waiting, decision))

    def event(self, pod: Object, of: Object, type: str, reason: str, message: str) -> None:
        """Record an event about ``pod`` by the profile of the pod ``of``."""
        recorder = self._recorders[self._world.scheduler_name(of)]
        related = None if of is pod else of
        recorder.event(pod, type, reason, message, action=_ACTIONS[reason], related=related)

    # -- bindings --------------------------------------------------------------------------------

    async def _bind_all(self) -> None:
        while True:
            waiting, node = await self._bindings.get()
            if self._world.volumes.has_reserved(waiting.pod):
                # A provisioner may take its time; nobody else waits for it.
                work = partial(self._bind_with_volumes, waiting, node)
                self._group.start_once("scheduler-volume-binding", work)
            else:
                await self._bind_guarded(waiting, node)

    async def _bind_guarded(self, waiting: Waiting, node: str) -> None:
        """As `_bind`; after an unexpected error the pod is tried again, too."""
        try:
            await self._bind(waiting, node)
        except Exception:
            uid = waiting.pod["metadata"]["uid"]
            self._world.forget(uid)
            self._world.queue.failed(uid, frozenset(), is_error=True)
            raise

    async def _bind_with_volumes(self, waiting: Waiting, node: str) -> None:
        uid = waiting.pod["metadata"]["uid"]
        try:
            await self._world.volumes.bind(waiting.pod, lambda: self._world.queue.knows(uid))
        except Exception as err:
            log.info("volumes not bound", **fields(pod=object_ref(waiting.pod), error=err))
            self._world.forget(uid)
            if self._world.queue.knows(uid):
                self._world.queue.failed(uid, frozenset(), is_error=True)
                text = f'running PreBind plugin "VolumeBinding": {err}'
                self.refuse(waiting.pod, Decision(message=text), reason="SchedulerError")
            if not isinstance(err, errors.MuntinError):
                raise
        else:
            await self._bind_guarded(waiting, node)

    async def _bind(self, waiting: Waiting, node: str) -> None:
        pod = waiting.pod
        meta = pod["metadata"]
        try:
            extenders = self._world.extenders
            if extenders is None or not await extenders.bind(pod, node):
                await self._client.create(
                    PODS, _binding(pod, node), meta["namespace"], subresource="binding"
                )
        except errors.NotFound:
            self._world.forget(meta["uid"])
            self._world.queue.remove(meta["uid"])
        except errors.MuntinError as err:
            log.warning("pod not bound", **fields(pod=object_ref(pod), node=node, error=err))
            self._world.forget(meta["uid"])
            self._world.queue.failed(meta["uid"], frozenset(), is_error=True)
            refusal = Decision(message=f"binding rejected: {err.message}", nominated="")
            self.refuse(pod, refusal, reason="SchedulerError")
        else:
            self._world.queue.remove(meta["uid"])
            message = f"Successfully assigned {meta['namespace']}/{meta['name']} to {node}"
            self.event(pod, pod, NORMAL, "Scheduled", message)
            log.info("pod bound", **fields(pod=object_ref(pod), node=node))

    # -- refusals --------------------------------------------------------------------------------

    async def _refuse_all(self) -> None:
        while True:
            pod, decision, reason = await self._refusals.get()
            self.event(pod, pod, WARNING, "FailedScheduling", decision.message)
            await self._set_refused(pod, decision, reason)

    async def _set_refused(self, pod: Object, decision: Decision, reason: str) -> None:
        row = {
            "type": "PodScheduled",
            "status": "False",
            "reason": reason,
            "message": decision.message,
        }
        status: Object = {}
        if not _has(pod, row):
            status["conditions"] = [self._stamped(pod, row)]
        wanted = decision.nominated
        if wanted is not None and wanted != _nominated(pod):
            status["nominatedNodeName"] = wanted or None
        if status:
            await self._patch_status(pod, status)

    def _stamped(self, pod: Object, row: Object) -> Object:
        have = pods.condition(pod, row["type"]) or {}
        now = rfc3339(self._clock.now())
        same = have.get("status") == row["status"]
        return {**row, "lastTransitionTime": have.get("lastTransitionTime", now) if same else now}

    async def _patch_status(self, pod: Object, status: Object) -> bool:
        """Whether the pod is there and has the status."""
        meta = pod["metadata"]
        try:
            await self._client.patch(
                PODS,
                meta["name"],
                {"metadata": {"uid": meta["uid"]}, "status": status},
                meta["namespace"],
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        except errors.NotFound:
            return False
        except errors.MuntinError as err:
            log.warning("status not written", **fields(pod=object_ref(pod), error=err))
            return False
        return True

    # -- preemption ------------------------------------------------------------------------------

    async def _preempt_all(self) -> None:
        while True:
            waiting, decision = await self._preemptions.get()
            await self._preempt(waiting, decision)
            self._world.queue.failed(waiting.pod["metadata"]["uid"], decision.plugins)

    async def _preempt(self, waiting: Waiting, decision: Decision) -> None:
        node = decision.nominated or ""
        for other in self._less_important(waiting.pod, node):
            # It will not fit once the more important pod is there: another node may do at once.
            self._world.cluster.nominate(other, "")
            await self._patch_status(other, {"nominatedNodeName": None})
            self._world.queue.activate(other["metadata"]["uid"])
        for victim in decision.victims:
            if not pods.is_deleting(victim):
                await self._remove(victim, waiting.pod, node)

    def _less_important(self, pod: Object, node: str) -> list[Object]:
        waiting = self._world.cluster.nominated.get(node) or {}
        limit = pods.priority(pod)
        return [other for other in waiting.values() if pods.priority(other) < limit]

    async def _remove(self, victim: Object, pod: Object, node: str) -> None:
        meta = victim["metadata"]
        if self._words.disruption_target:
            name = self._world.scheduler_name(pod)
            row = {
                "type": DISRUPTION_TARGET,
                "status": "True",
                "reason": BY_SCHEDULER,
                "message": f"{name}: preempting to accommodate a higher priority pod",
            }
            if not await self._patch_status(victim, {"conditions": [self._stamped(victim, row)]}):
                return
        try:
            await self._client.delete(PODS, meta["name"], meta["namespace"])
        except errors.NotFound:
            return
        except errors.MuntinError as err:
            log.warning("pod not preempted", **fields(pod=object_ref(victim), error=err))
            return
        preemptor = pod["metadata"]
        message = self._words.preempted.format(
            namespace=preemptor["namespace"],
            name=preemptor["name"],
            uid=preemptor["uid"],
            node=node,
        )
        self.event(victim, pod, NORMAL, "Preempted", message)
        log.info("pod preempted", **fields(pod=object_ref(victim), by=object_ref(pod), node=node))


def _binding(pod: Object, node: str) -> Object:
    meta = pod["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def _has(pod: Object, row: Object) -> bool:
    have = pods.condition(pod, row["type"]) or {}
    return all(have.get(name) == value for name, value in row.items())


def _nominated(pod: Object) -> str:
    return (pod.get("status") or {}).get("nominatedNodeName") or ""
