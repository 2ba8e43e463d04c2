"""What to do next for one pod: (pod, runtime state, probe results, time) -> actions. Pure.

Source: kubernetes v1.34 pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions,
computeInitContainerActions; pkg/kubelet/container/helpers.go ShouldContainerBeRestarted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from muntin.kubelet.backoff import Backoff
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.model.pods import is_sidecar
from muntin.seams.cri.enums import ContainerState

Pod = Mapping[str, Any]
Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the probes of one running container say; no probe counts as passed."""

    started: bool = True
    ready: bool = True
    startup_failed: bool = False
    liveness_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Start (or restart) the container ``spec`` as attempt ``attempt``."""

    spec: Spec
    attempt: int
    init: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Stop ``container``; ``message`` is what the event says of it."""

    container: Container
    message: str
    probe: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """``name`` is held back until ``until`` by a back-off of ``delay_s``."""

    name: str
    delay_s: float
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Carried out in this order: ``kill_pod``, ``kill``, ``create_sandbox``, ``start``."""

    kill_pod: bool = False
    create_sandbox: bool = False
    attempt: int = 0
    kill: tuple[Kill, ...] = ()
    start: tuple[Start, ...] = ()
    waiting: tuple[Waiting, ...] = ()

    @property
    def idle(self) -> bool:
        return not (self.kill_pod or self.create_sandbox or self.kill or self.start)

    @property
    def wake_at(self) -> float | None:
        """When something that is held back may go on."""
        return min((row.until for row in self.waiting), default=None)


@dataclass(slots=True)
class _Draft:
    kill: list[Kill] = field(default_factory=list)
    start: list[Start] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)


def spec_hash(container: Spec) -> str:
    """Changes exactly when a running container must be replaced: name or image (1.31 and later)."""
    text = json.dumps({"name": container["name"], "image": container.get("image", "")})
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def backoff_key(uid: str, container: Spec) -> str:
    return f"{uid}/{container['name']}/{spec_hash(container)}"


def restart_policy(pod: Pod) -> str:
    return str(pod["spec"].get("restartPolicy", "Always"))


def should_restart(pod: Pod, container: Spec, state: Container | None) -> bool:
    """Whether a container that does not run is to be started (again)."""
    if state is None or state.state in (
        ContainerState.CONTAINER_CREATED,
        ContainerState.CONTAINER_UNKNOWN,
    ):
        return True
    if state.running:
        return False
    policy = "Always" if is_sidecar(container) else restart_policy(pod)
    return policy == "Always" or (policy == "OnFailure" and state.exit_code != 0)


def sandbox_changed(pod: Pod, runtime: PodRuntime) -> tuple[bool, int]:
    """Whether a sandbox must be made, and the attempt number it gets."""
    if not runtime.sandboxes:
        return True, 0
    newest = runtime.sandboxes[0]
    several = sum(one.ready for one in runtime.sandboxes) > 1
    no_address = not newest.ips and not pod["spec"].get("hostNetwork")
    if several or not newest.ready or no_address:
        return True, newest.attempt + 1
    return False, newest.attempt


def is_initialized(pod: Pod, runtime: PodRuntime) -> bool:
    """Whether any of the pod's own containers was ever made in this sandbox."""
    sandbox = runtime.ready_sandbox
    names = {spec["name"] for spec in pod["spec"]["containers"]}
    return any(
        one.name in names and (sandbox is None or one.sandbox_id == sandbox.id)
        for one in runtime.containers
    )


def plan_pod(
    pod: Pod,
    runtime: PodRuntime,
    health: Mapping[str, Health],
    backoff: Backoff,
    now: float,
) -> Plan:
    """The actions that bring the runtime closer to the pod's spec.

    ``health`` is by container id; a container without an entry has no probe, or not yet a result.
    """
    changed, attempt = sandbox_changed(pod, runtime)
    if changed:
        return _plan_new_sandbox(pod, runtime, attempt)
    draft = _Draft()
    _plan_ephemeral(pod, runtime, draft)
    uid = pod["metadata"]["uid"]
    if not _plan_init(pod, runtime, health, backoff, now, draft):
        return Plan(kill=tuple(draft.kill), start=tuple(draft.start), waiting=tuple(draft.waiting))
    if _init_failed(pod, runtime):
        return Plan(kill_pod=bool(runtime.ready_sandbox), attempt=attempt)
    keep = 0
    for spec in pod["spec"]["containers"]:
        state = runtime.newest(spec["name"])
        if state is None or not state.running:
            if should_restart(pod, spec, state):
                keep += 1
                _start_or_wait(uid, spec, state, backoff, now, draft)
            continue
        reason = _kill_reason(spec, state, health.get(state.id))
        if reason is None:
            keep += 1
            continue
        draft.kill.append(reason)
        if not reason.probe or restart_policy(pod) != "Never":
            keep += 1  # the next pass sees it ended and starts it again
    if keep == 0:
        return Plan(kill_pod=True, attempt=attempt)
    return Plan(kill=tuple(draft.kill), start=tuple(draft.start), waiting=tuple(draft.waiting))


def _plan_ephemeral(pod: Pod, runtime: PodRuntime, draft: _Draft) -> None:
    """Ephemeral containers run once, whatever the others do; they never run again."""
    for spec in pod["spec"].get("ephemeralContainers") or ():
        if runtime.newest(spec["name"]) is None:
            draft.start.append(Start(spec=spec, attempt=0))


def _plan_new_sandbox(pod: Pod, runtime: PodRuntime, attempt: int) -> Plan:
    """A new sandbox, unless everything in the pod has ended for good.

    Earlier sandboxes are stopped first, dead ones too: a sandbox whose pause process was killed
    still has its network.
    Source: kubernetes v1.34 pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions.
    """
    kill = not runtime.is_quiet
    if attempt and restart_policy(pod) == "Never" and runtime.containers:
        return Plan(kill_pod=kill, attempt=attempt)
    wanted = [
        spec
        for spec in pod["spec"]["containers"]
        if should_restart(pod, spec, runtime.newest(spec["name"]))
        or (one := runtime.newest(spec["name"])) is None
        or one.running
    ]
    if not wanted:
        return Plan(kill_pod=kill, attempt=attempt)
    return Plan(kill_pod=kill or bool(runtime.sandboxes), create_sandbox=True, attempt=attempt)


def _start_or_wait(
    uid: str,
    spec: Spec,
    state: Container | None,
    backoff: Backoff,
    now: float,
    draft: _Draft,
    *,
    init: bool = False,
) -> None:
    key = backoff_key(uid, spec)
    if state is not None and state.exited:
        until = backoff.until(key, state.finished_at / 1e9, now)
        if until > now:
            draft.waiting.append(
                Waiting(name=spec["name"], delay_s=backoff.delay_s(key), until=until)
            )
            return
    # A container that was created and never ran keeps its number of restarts.
    ended = state is not None and state.state is not ContainerState.CONTAINER_CREATED
    attempt = (state.attempt + (1 if ended else 0)) if state is not None else 0
    draft.start.append(Start(spec=spec, attempt=attempt, init=init))


def _kill_reason(spec: Spec, state: Container, health: Health | None) -> Kill | None:
    name = spec["name"]
    if state.spec_hash and state.spec_hash != spec_hash(spec):
        return Kill(
            container=state, message=f"Container {name} definition changed, will be restarted"
        )
    if health is not None and health.liveness_failed:
        message = f"Container {name} failed liveness probe, will be restarted"
        return Kill(container=state, message=message, probe="liveness")
    if health is not None and health.startup_failed:
        message = f"Container {name} failed startup probe, will be restarted"
        return Kill(container=state, message=message, probe="startup")
    return None


def _plan_init(
    pod: Pod,
    runtime: PodRuntime,
    health: Mapping[str, Health],
    backoff: Backoff,
    now: float,
    draft: _Draft,
) -> bool:
    """Plan the init containers; True once the pod's own containers may be started."""
    uid = pod["metadata"]["uid"]
    initialized = is_initialized(pod, runtime)
    sandbox = runtime.ready_sandbox
    for spec in pod["spec"].get("initContainers") or ():
        state = runtime.newest(spec["name"])
        if state is not None and sandbox is not None and state.sandbox_id != sandbox.id:
            state = _restarted_in(state)  # init containers run again in a new sandbox
        if is_sidecar(spec):
            if state is not None and state.running:
                reason = _kill_reason(spec, state, health.get(state.id))
                if reason is not None:
                    draft.kill.append(reason)
                elif not initialized and not health.get(state.id, Health()).started:
                    return False
                continue
            _start_or_wait(uid, spec, state, backoff, now, draft, init=True)
            if not initialized:
                return False
            continue
        if initialized or (state is not None and state.exited and state.exit_code == 0):
            continue
        if state is not None and state.exited and restart_policy(pod) == "Never":
            return True  # _init_failed ends the pod
        if state is None or not state.running:
            _start_or_wait(uid, spec, state, backoff, now, draft, init=True)
        return False
    return True


def _restarted_in(state: Container) -> Container:
    """An init container of an earlier sandbox counts as one that has to run again."""
    return replace(state, state=ContainerState.CONTAINER_UNKNOWN)


def _init_failed(pod: Pod, runtime: PodRuntime) -> bool:
    if restart_policy(pod) != "Never" or is_initialized(pod, runtime):
        return False
    sandbox = runtime.ready_sandbox
    for spec in pod["spec"].get("initContainers") or ():
        state = runtime.newest(spec["name"])
        same = state is not None and (sandbox is None or state.sandbox_id == sandbox.id)
        if same and state is not None and state.exited and state.exit_code and not is_sidecar(spec):
            return True
    return False
