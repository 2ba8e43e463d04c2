"""Carries out in-place resizes of one pod: allocates resources and applies them to containers.

Source: as `resize`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.errors import MuntinError
from muntin.kit.log import fields, object_ref
from muntin.kubelet import resize
from muntin.kubelet.admission import Rejection
from muntin.kubelet.context import Context
from muntin.kubelet.plan import Kill
from muntin.kubelet.resize import Refusal, Resized, Resources
from muntin.kubelet.resources import linux_resources
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.model.kubelet_features import KubeletFeature
from muntin.model.pods import amounts
from muntin.seams.cri import rpc_error_text
from muntin.seams.kube import Object

log = logging.getLogger(__name__)

RETRY_S = 5.0
"""Seconds between a failed resize and the next attempt."""

Judge = Callable[[Mapping[str, Any]], Rejection | None]


class PodResizer:
    """``judge`` returns why the node would reject the pod; ``freed`` is called after a shrink."""

    def __init__(
        self, context: Context, pod: Object, judge: Judge, freed: Callable[[], None]
    ) -> None:
        self._context = context
        self._judge = judge
        self._freed = freed
        self._works = context.config.platform.kubelet_has(KubeletFeature.IN_PLACE_RESIZE)
        self._allocated = resize.restored(pod) if self._works else {}
        self._actual: dict[str, Resources] = {}
        self._pending: Refusal | None = None
        self._is_in_progress = False
        self._error = ""
        self._generations = {resize.PENDING: 0, resize.IN_PROGRESS: 0}
        self.retry_at: float | None = None

    @property
    def is_deferred(self) -> bool:
        """Whether it waits for other pods to release resources."""
        return self._pending is not None and self._pending.reason == resize.DEFERRED

    def allocated(self, pod: Object) -> Object:
        """The pod as its containers are to run."""
        return dict(resize.with_resources(pod, self._allocated)) if self._works else pod

    def started(self, container_id: str, spec: Mapping[str, Any]) -> None:
        """A container was started with the resources of ``spec``."""
        if self._works:
            self._actual[container_id] = spec.get("resources") or {}

    def resized(self) -> Resized | None:
        """For the status; None if kubelets of this version do not report it."""
        if not self._works:
            return None
        return Resized(
            allocated=self._allocated, actual=self._actual, conditions=tuple(self._conditions())
        )

    async def step(self, pod: Object, runtime: PodRuntime) -> list[Kill]:
        """Bring allocation and containers closer to the spec; returns the containers to restart."""
        if not self._works:
            return []
        self._learn(pod, runtime)
        wanted = resize.asked(pod)
        if any(resize.changes(row, self._allocated.get(name, {})) for name, row in wanted.items()):
            self._allocate(pod, wanted)
        else:
            self._allocated, self._pending = wanted, None
        return await self._actuate(pod, runtime)

    def _learn(self, pod: Object, runtime: PodRuntime) -> None:
        """Read the resources of containers that an earlier kubelet started from the status."""
        for container in runtime.running:
            if container.id not in self._actual and container.name in self._allocated:
                actual = resize.actual(pod, container.id)
                self._actual[container.id] = (
                    self._allocated[container.name] if actual is None else actual
                )
        known = {one.id for one in runtime.containers}
        self._actual = {key: row for key, row in self._actual.items() if key in known}

    # -- allocation ----------------------------------------------------------------------------

    def _allocate(self, pod: Object, wanted: dict[str, Resources]) -> None:
        context = self._context
        generation = pod["metadata"].get("generation", 0)
        refusal = resize.infeasible(pod, context.allocatable, context.config.platform)
        if refusal is None and (rejection := self._judge(pod)) is not None:
            refusal = Refusal(resize.DEFERRED, rejection.message)
        if refusal is not None:
            if refusal != self._pending:
                self._tell(f"Resize{refusal.reason}", pod, refusal.reason, refusal.message)
            self._pending = refusal
            self._generations[resize.PENDING] = generation
            return
        self._allocated, self._pending, self._error = wanted, None, ""
        self._is_in_progress, self.retry_at = True, None
        self._generations[resize.IN_PROGRESS] = generation
        self._tell("ResizeStarted", pod, "started")
        self._freed()

    # -- containers ----------------------------------------------------------------------------

    async def _actuate(self, pod: Object, runtime: PodRuntime) -> list[Kill]:
        now = self._context.clock.now()
        if self.retry_at is not None and self.retry_at > now:
            return []
        given = self.allocated(pod)
        kills: list[Kill] = []
        for spec in resize.resizable(given):
            container = runtime.newest(spec["name"])
            if container is None or not container.running:
                continue
            before = self._actual.get(container.id, {})
            names = resize.changes(spec.get("resources") or {}, before)
            if names and resize.needs_restart(spec, names):
                text = f"Container {spec['name']} resize requires restart"
                kills.append(Kill(container=container, message=text))
            elif names and not await self._update(given, spec, container, before):
                return kills
        if self._is_in_progress and not kills:
            self._is_in_progress, self._error, self.retry_at = False, "", None
            self._tell("ResizeCompleted", given, "completed")
        return kills

    async def _update(
        self, pod: Object, spec: Mapping[str, Any], container: Container, before: Resources
    ) -> bool:
        """Give a running container its resources; False if that failed, to be tried again."""
        context, wanted = self._context, spec.get("resources") or {}
        values = linux_resources(pod, spec, context.config.facts.memory_bytes)
        try:
            await self._check_memory(container, wanted, before)
            await context.cri.UpdateContainerResources(
                {"container_id": container.id, "linux": values}
            )
        except MuntinError as err:
            text = rpc_error_text(err)
            if text != self._error:
                log.warning("resize failed", **fields(pod=object_ref(pod), error=err))
                self._tell("ResizeError", pod, "error", text)
            self._is_in_progress, self._error = True, text
            self.retry_at = context.clock.now() + RETRY_S
            return False
        self._actual[container.id] = wanted
        return True

    async def _check_memory(
        self, container: Container, wanted: Resources, before: Resources
    ) -> None:
        """Raise MuntinError when less memory is to be allowed than the container uses.

        The kernel would end it at once.
        """
        limit = amounts(wanted.get("limits")).get("memory", 0)
        was = amounts(before.get("limits")).get("memory", 0)
        if not limit or (was and limit >= was):
            return
        answer = await self._context.cri.ContainerStats({"container_id": container.id})
        memory = (answer.get("stats") or {}).get("memory") or {}
        used = (memory.get("working_set_bytes") or {}).get("value", 0)
        if used >= limit:
            raise MuntinError(
                f"cannot decrease memory limits: attempting to set pod memory limit ({limit}) "
                f"below current usage ({used})"
            )

    # -- saying --------------------------------------------------------------------------------

    def _conditions(self) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = []
        if self._pending is not None:
            rows.append(self._row(resize.PENDING, self._pending.reason, self._pending.message))
        if self._is_in_progress:
            rows.append(
                self._row(resize.IN_PROGRESS, resize.ERROR, self._error)
                if self._error
                else self._row(resize.IN_PROGRESS)
            )
        return rows

    def _row(self, kind: str, reason: str = "", message: str = "") -> Mapping[str, Any]:
        row = {"type": kind, "status": "True", "observedGeneration": self._generations[kind]}
        if reason:
            row |= {"reason": reason, "message": message}
        return row

    def _tell(self, reason: str, pod: Object, what: str, error: str = "") -> None:
        if not self._context.config.platform.kubelet_has(KubeletFeature.RESIZE_EVENTS):
            return
        type_ = "Warning" if error else "Normal"
        message = resize.event_message(f"Pod resize {what}", pod, error)
        self._context.pod_event(pod, type_, reason, message)
