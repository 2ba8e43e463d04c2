"""One pod's worker: looks at the runtime, asks the plan, acts, says how it went, to the pod's end.

Two stages. *Live*: bring the runtime towards the spec, again and again. *End*: stop everything with
grace, write the last status, and once the API wants the pod gone, remove all traces of it.
Nothing is kept on disk: after a restart of the kubelet the runtime and the API say it all.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any

from muntin.kit import supervised
from muntin.kit.clock import parse_rfc3339
from muntin.kit.errors import MuntinError, NotFound
from muntin.kit.log import fields, object_ref
from muntin.kubelet.backoff import duration
from muntin.kubelet.cgroups_linux import limit_pids, remove_cgroup
from muntin.kubelet.container_config import DEFAULT_TERMINATION_PATH
from muntin.kubelet.context import Context
from muntin.kubelet.garbage import collect_dead
from muntin.kubelet.log_rotation import is_full, rotate
from muntin.kubelet.logs import LogFile
from muntin.kubelet.mounts import termination_file, termination_message
from muntin.kubelet.plan import Kill, Plan, Start, backoff_key, plan_pod
from muntin.kubelet.probes.of_pod import PodProbes
from muntin.kubelet.resizer import Judge, PodResizer
from muntin.kubelet.resources import pod_cgroup
from muntin.kubelet.runtime_state import Container, PodRuntime, observe
from muntin.kubelet.sandbox_config import sandbox_config
from muntin.kubelet.starter import Place, StartFailed, start_container
from muntin.kubelet.status import Note, View, pod_status
from muntin.kubelet.status_writer import StatusWriter
from muntin.kubelet.stopper import (
    LONGEST_S,
    grace_period,
    remove_all,
    stop_container,
    stop_containers,
    stop_sandboxes,
)
from muntin.kubelet.user_namespaces import check_runtime, is_asked_for
from muntin.kubelet.volumes.mounter import Volume, VolumeError
from muntin.kubelet.windows_limits import REASON, ignored
from muntin.model.kubelet_features import KubeletFeature
from muntin.model.pods import all_containers, is_deleting, is_terminal
from muntin.model.resources import PODS, RUNTIME_CLASSES
from muntin.model.windows import Feature
from muntin.seams.cri import rpc_error_text
from muntin.seams.kube import Object

log = logging.getLogger(__name__)

FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 10.0
FOLLOW_UP_S = (0.05, 0.1, 0.2, 0.4)
"""Looks at the runtime after an action: what is short-lived ends soon. Then the relist does it."""


class PodWorker:
    """Give it the pod's newest state with :meth:`update` and :meth:`removed`; :meth:`wake` it."""

    def __init__(
        self, context: Context, pod: Object, verdict: Note | None = None, *,
        is_static: bool = False,
        judge: Judge = lambda _: None, freed: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.pod = pod
        self.uid: str = pod["metadata"]["uid"]
        self.runtime = PodRuntime()
        self._context = context
        self._verdict = verdict
        self._gone = False
        self._was_terminal = is_terminal(pod)
        self._wake = asyncio.Event()
        self._ending = asyncio.Event()
        self._status = StatusWriter(context.client, context.clock, pod, is_there=not is_static)
        self._notes: dict[str, Note] = {}
        self._retry_at: dict[str, float] = {}
        self._failures = 0
        self._follow_ups: list[float] = []
        self._probes = PodProbes(context, lambda: self.pod, changed=self._health_changed)
        self._resizer = PodResizer(context, pod, judge, freed)
        self._messages: dict[str, str] = {}
        self._volumes: dict[str, Volume] | None = None
        self._refreshed_at = context.clock.monotonic()
        if verdict is not None or is_deleting(pod) or is_terminal(pod):
            self._ending.set()

    # -- what the loop tells -------------------------------------------------------------------

    def update(self, pod: Object) -> None:
        """The API has a newer state of the pod."""
        self.pod = pod
        self._status.observe(pod)
        if is_deleting(pod) or is_terminal(pod):
            self._ending.set()
        self._wake.set()

    def mirrored(self, mirror: Object) -> None:
        """The API shows this static pod by ``mirror``, which gets its status."""
        self._status.observe(mirror)

    def removed(self) -> None:
        """The pod was deleted from the API or the static pod folder."""
        self._gone = True
        self._ending.set()
        self._wake.set()

    def wake(self) -> None:
        """Something of the pod has changed in the runtime."""
        self._wake.set()

    @property
    def allocated(self) -> Object:
        """The pod with the resources that the node has given it."""
        return self._resizer.allocated(self.pod)

    @property
    def is_deferred(self) -> bool:
        """Whether a resize of the pod waits for other pods to release resources."""
        return self._resizer.is_deferred

    @property
    def status(self) -> dict[str, Any]:
        """The newest status of the pod, sent or not."""
        return self._status.current

    def specs(self) -> list[Mapping[str, Any]]:
        """The pod's containers, init containers first, ephemeral ones last."""
        return list(all_containers(self.pod, ephemeral=True))

    def container_statuses(self) -> list[Mapping[str, Any]]:
        """All container statuses, init containers first, ephemeral ones last."""
        kinds = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
        return [row for kind in kinds for row in self.status.get(kind, ())]

    def log_file(self, container: Container) -> LogFile:
        """The log of that attempt."""
        config, meta = self._context.config, self.pod["metadata"]
        directory = config.platform.log_dir(meta["namespace"], meta["name"], self.uid)
        folder = config.platform.join(directory, container.name)
        return LogFile(config.files, folder, f"{container.attempt}.log")

    # -- life ----------------------------------------------------------------------------------

    async def run(self) -> None:
        """Return when the pod is gone from here and from the API."""
        writer = supervised.start("kubelet-pod-status", self._status.run)
        try:
            await self._live()
            await self._end()
        finally:
            writer.cancel()
            await asyncio.gather(writer, self._probes.stop(), return_exceptions=True)

    async def _live(self) -> None:
        while not self._ending.is_set():
            self._wake.clear()
            delay_s = await self._unless_ending(self._step())
            if delay_s:
                await self._wait(delay_s)

    async def _unless_ending(self, work: Coroutine[Any, Any, float]) -> float:
        """The result of ``work``, cancelled when the pod has to end."""
        doing = asyncio.create_task(work)
        ending = asyncio.create_task(self._ending.wait())
        try:
            await asyncio.wait({doing, ending}, return_when=asyncio.FIRST_COMPLETED)
            return doing.result() if doing.done() else 0.0
        finally:
            doing.cancel()
            ending.cancel()
            await asyncio.gather(doing, ending, return_exceptions=True)

    async def _wait(self, delay_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._wake.wait()

    async def _step(self) -> float:
        """One look, one plan, its actions; how long to wait then, 0 for not at all."""
        try:
            return await self._look_and_act()
        except Exception as err:  # whatever the pod is like, its end must be reached
            self._failures += 1
            delay_s = min(FIRST_RETRY_S * 2.0 ** min(self._failures - 1, 20), LONGEST_RETRY_S)
            log.warning(
                "pod sync failed, will retry",
                exc_info=_unexpected(err),
                **fields(pod=object_ref(self.pod), delay_s=delay_s, error=err),
            )
            return delay_s

    async def _look_and_act(self) -> float:
        context = self._context
        runtime = await self._look()
        now = context.clock.now()
        deadline = self._deadline()
        if deadline is not None and now >= deadline:
            self._verdict = Note(
                "DeadlineExceeded",
                "Pod was active on the node longer than the specified deadline",
            )
            self._ending.set()
            return 0.0
        resized = await self._resizer.step(self.pod, runtime)
        plan = plan_pod(self.allocated, runtime, self._probes.health, context.restarts, now)
        if resized and not plan.kill_pod:
            killed = {kill.container.id for kill in plan.kill}
            more = (kill for kill in resized if kill.container.id not in killed)
            plan = replace(plan, kill=(*plan.kill, *more))
        self._note_waiting(plan)
        self._publish()
        starts = [one for one in plan.start if self._retry_at.get(one.spec["name"], 0) <= now]
        blocked = plan.create_sandbox and self._retry_at.get("", 0) > now
        kills = plan.kill_pod and not (blocked and runtime.is_quiet)
        if not (kills or plan.kill or starts or (plan.create_sandbox and not blocked)):
            self._failures = 0
            return await self._rest(plan, now, deadline)
        self._follow_ups = list(FOLLOW_UP_S)
        await self._act(plan, starts, create=plan.create_sandbox and not blocked)
        return 0.0

    async def _rest(self, plan: Plan, now: float, deadline: float | None) -> float:
        """Nothing to do: keep volumes current, then wait for the next thing that is due."""
        context = self._context
        refresh_s = context.config.refresh_interval_s
        if context.clock.monotonic() - self._refreshed_at >= refresh_s:
            self._refreshed_at = context.clock.monotonic()
            await self._rotate_logs()
            await context.volumes.refresh(self.pod, context.allocatable)
            await collect_dead(context, self.runtime)
        waits = [refresh_s]
        for moment in (plan.wake_at, deadline, self._resizer.retry_at, *self._retry_at.values()):
            if moment is not None and moment > now:
                waits.append(moment - now)
        if self._follow_ups:
            waits.append(self._follow_ups.pop(0))
        return max(0.01, min(waits))

    async def _rotate_logs(self) -> None:
        for container in self.runtime.running:
            file = self.log_file(container)
            if is_full(file):
                await rotate(self._context, file, container.id)

    def _deadline(self) -> float | None:
        seconds = self.pod["spec"].get("activeDeadlineSeconds")
        start = self.status.get("startTime")
        return parse_rfc3339(start) + seconds if seconds is not None and start else None

    # -- looking -------------------------------------------------------------------------------

    async def _look(self) -> PodRuntime:
        known = {one.id: one for one in self.runtime.containers}
        self.runtime = await observe(self._context.cri, self.uid, known)
        for container in self.runtime.containers:
            if container.exited and container.id not in self._messages:
                self._messages[container.id] = self._termination_message(container)
        self._probes.match(self.runtime)
        return self.runtime

    def _termination_message(self, container: Container) -> str:
        config = self._context.config
        spec = self._specs().get(container.name)
        if spec is None or not (spec.get("terminationMessagePath") or DEFAULT_TERMINATION_PATH):
            return ""
        folder, name = termination_file(self.pod, container.name, container.attempt, config)
        return termination_message(
            config.files,
            folder,
            name,
            self.log_file(container),
            container.exit_code,
            spec.get("terminationMessagePolicy", "File"),
        )

    def _specs(self) -> Mapping[str, Mapping[str, Any]]:
        return {one["name"]: one for one in self.specs()}

    def _health_changed(self) -> None:
        """A verdict changed: say so at once, and let the plan look at it."""
        self._publish()
        self._wake.set()

    # -- saying --------------------------------------------------------------------------------

    def _publish(self, *, stopped: bool = False) -> None:
        context = self._context
        view = View(
            runtime=self.runtime,
            now=context.clock.now(),
            node_ip=context.config.node_ip,
            runtime_name=context.runtime_name,
            notes={} if stopped else self._notes,
            health=self._probes.health,
            messages=self._messages,
            verdict=self._verdict,
            stopped=stopped,
            tells_generation=context.config.platform.has(Feature.OBSERVED_GENERATION),
            tells_sandbox=context.config.platform.kubelet_has(KubeletFeature.SANDBOX_CONDITION),
            resized=self._resizer.resized(),
            lists_mounts=context.config.platform.has(Feature.STATUS_VOLUME_MOUNTS),
        )
        status = pod_status({**self.pod, "status": self._status.base}, view)
        self._status.put(status)
        if status["phase"] in ("Succeeded", "Failed"):
            self._ending.set()

    def _note_waiting(self, plan: Plan) -> None:
        meta = self.pod["metadata"]
        pod_name = f"{meta['name']}_{meta['namespace']}({self.uid})"
        held = {row.name: row for row in plan.waiting}
        for name, row in held.items():
            message = (
                f"back-off {duration(row.delay_s)} restarting failed container={name} "
                f"pod={pod_name}"
            )
            note = Note("CrashLoopBackOff", message)
            if self._notes.get(name) != note:
                text = f"Back-off restarting failed container {name} in pod {pod_name}"
                self._context.pod_event(self.pod, "Warning", "BackOff", text, name)
            self._notes[name] = note
        for name, note in list(self._notes.items()):
            container = self.runtime.newest(name)
            over = note.reason == "CrashLoopBackOff" and name not in held
            if over or (container is not None and container.running):
                del self._notes[name]

    # -- acting --------------------------------------------------------------------------------

    async def _act(self, plan: Plan, starts: list[Start], *, create: bool) -> None:
        runtime = self.runtime
        if plan.kill_pod:
            if plan.create_sandbox:
                text = "Pod sandbox changed, it will be killed and re-created."
                self._context.pod_event(self.pod, "Normal", "SandboxChanged", text)
            await stop_containers(self._context, self.pod, runtime.running, grace_period(self.pod))
            await stop_sandboxes(self._context, runtime)
        async with asyncio.TaskGroup() as group:
            for kill in plan.kill:
                group.create_task(self._kill(kill))
        if create:
            await self._create_sandbox(plan.attempt)
        for index, start in enumerate(starts):
            if index:
                await self._look()
                self._publish()
            await self._start(start)

    async def _kill(self, kill: Kill) -> None:
        grace_s = grace_period(self.pod)
        spec = self._specs().get(kill.container.name, {})
        probe = spec.get(f"{kill.probe}Probe") or {}
        own = probe.get("terminationGracePeriodSeconds")
        if own is not None:
            grace_s = min(float(own), LONGEST_S)
        await stop_container(self._context, self.pod, kill.container, grace_s, kill.message)

    async def _create_sandbox(self, attempt: int) -> None:
        context = self._context
        if not await self._ready_volumes():
            return
        for sentence in ignored(self.pod, context.config.platform):
            context.pod_event(self.pod, "Normal", REASON, sentence)
        config, meta = context.config, self.pod["metadata"]
        logs = config.platform.log_dir(meta["namespace"], meta["name"], meta["uid"])
        try:
            os.close(config.files.make_folders(logs))
            handler = await self._runtime_handler()
            await self._confine(handler)
            await context.cri.RunPodSandbox(
                {"config": self._sandbox_config(attempt), "runtime_handler": handler},
                timeout_s=240,
            )
        except MuntinError as err:
            text = f"Failed to create pod sandbox: {rpc_error_text(err)}"
            context.pod_event(self.pod, "Warning", "FailedCreatePodSandBox", text)
            self._hold_back("")
            return
        self._retry_at.pop("", None)
        self._failures = 0

    async def _confine(self, handler: str) -> None:
        """What must hold before the first process of a Linux pod starts.

        Raises:
            Unsupported: the runtime has no user namespaces, and the pod wants one.
            Unavailable: the number of its processes cannot be limited.
        """
        config = self._context.config
        if is_asked_for(self.pod, config.platform):
            check_runtime(await self._context.cri.Status({}), handler)
        limited = config.platform.kubelet_has(KubeletFeature.POD_PIDS_LIMIT)
        if limited and config.pod_pids_limit > 0 and not config.is_windows:
            limit_pids(pod_cgroup(config.cgroup_parent, self.pod), config.pod_pids_limit)

    def _sandbox_config(self, attempt: int) -> dict[str, Any]:
        return sandbox_config(
            self.allocated, attempt, self._context.config, self._context.host_resolver
        )

    def _hold_back(self, name: str) -> None:
        self._failures += 1
        delay_s = min(FIRST_RETRY_S * 2.0 ** (self._failures - 1), LONGEST_RETRY_S)
        self._retry_at[name] = self._context.clock.now() + delay_s

    async def _runtime_handler(self) -> str:
        name = self.pod["spec"].get("runtimeClassName")
        if not name:
            return ""
        found = await self._context.client.get(RUNTIME_CLASSES, name)
        return str(found["handler"])

    async def _ready_volumes(self) -> bool:
        try:
            self._volumes = await self._context.volumes.prepare(self.pod, self._context.allocatable)
        except VolumeError as err:
            self._context.pod_event(self.pod, "Warning", "FailedMount", err.message)
            self._hold_back("")
            return False
        return True

    async def _start(self, start: Start) -> None:
        context, name = self._context, start.spec["name"]
        sandbox = self.runtime.ready_sandbox
        if sandbox is None or (self._volumes is None and not await self._ready_volumes()):
            self._retry_at[name] = self._retry_at.get("", context.clock.now() + FIRST_RETRY_S)
            return
        place = Place(
            sandbox_id=sandbox.id,
            sandbox_config=self._sandbox_config(sandbox.attempt),
            ips=sandbox.ips,
            volumes=self._volumes or {},
        )
        if start.attempt:
            context.restarts.next(backoff_key(self.uid, start.spec), context.clock.now())
        try:
            container_id = await start_container(context, self.allocated, start, place)
        except StartFailed as err:
            self._notes[name] = err.note
            self._retry_at[name] = context.clock.now() + err.retry_s
        else:
            self._resizer.started(container_id, start.spec)
            self._notes.pop(name, None)
            self._retry_at.pop(name, None)

    # -- the end -------------------------------------------------------------------------------

    async def _end(self) -> None:
        await self._retried(self._stop_everything)
        if not self._was_terminal or self._verdict is not None:
            self._publish(stopped=True)
        while not (self._gone or is_deleting(self.pod)):
            self._wake.clear()
            await self._wake.wait()
        await self._retried(self._remove_everything)

    async def _retried(self, work: Any) -> None:
        delay_s = FIRST_RETRY_S
        while True:
            try:
                await work()
            except Exception as err:
                log.warning(
                    "pod not ended yet, will retry",
                    exc_info=_unexpected(err),
                    **fields(pod=object_ref(self.pod), delay_s=delay_s, error=err),
                )
                await self._context.clock.sleep(delay_s)
                delay_s = min(2 * delay_s, LONGEST_RETRY_S)
            else:
                return

    async def _stop_everything(self) -> None:
        runtime = await self._look()
        while runtime.running:
            await self._stop_or_shorten(runtime)
            runtime = await self._look()
        await stop_sandboxes(self._context, runtime)
        await self._look()

    async def _stop_or_shorten(self, runtime: PodRuntime) -> None:
        """Stop the containers; a shorter grace period that arrives meanwhile counts at once."""
        grace_s = grace_period(self.pod)
        stopping = asyncio.create_task(
            stop_containers(self._context, self.pod, runtime.running, grace_s)
        )
        try:
            while not stopping.done():
                self._wake.clear()
                waking = asyncio.create_task(self._wake.wait())
                await asyncio.wait({stopping, waking}, return_when=asyncio.FIRST_COMPLETED)
                waking.cancel()
                if grace_period(self.pod) < grace_s:
                    return
            stopping.result()
        finally:
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)

    async def _remove_everything(self) -> None:
        context, meta = self._context, self.pod["metadata"]
        if not self._gone:
            await self._status.flushed()
        await context.volumes.remove(self.uid)
        if not self._gone:
            with contextlib.suppress(NotFound):
                await context.client.delete(
                    PODS, meta["name"], meta["namespace"], grace_period_s=0, uid=self.uid
                )
        await remove_all(context, await self._look())
        if not context.config.is_windows:
            remove_cgroup(pod_cgroup(context.config.cgroup_parent, self.pod))
        await context.volumes.remove_logs(meta["namespace"], meta["name"], self.uid)
        context.restarts.forget(backoff_key(self.uid, one) for one in all_containers(self.pod))


def _unexpected(err: Exception) -> Exception | None:
    """``err``, counted, if it is an unexpected exception, whose stack is worth logging."""
    if isinstance(err, MuntinError):
        return None
    supervised.FAILURES.add(("kubelet-pod",))
    return err
