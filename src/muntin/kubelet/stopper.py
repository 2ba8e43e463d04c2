"""Stopping containers: preStop first, its time off the grace period, then StopContainer.

Source: kubernetes v1.34 pkg/kubelet/kuberuntime/kuberuntime_container.go killContainer;
pkg/kubelet/types (minimum grace of 2 s).
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable

from muntin.kit.errors import MuntinError, NotFound
from muntin.kit.log import fields, object_ref
from muntin.kubelet.context import Context
from muntin.kubelet.hooks import HookFailed, run_hook
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.model.pods import all_containers, is_sidecar
from muntin.seams.kube import Object

log = logging.getLogger(__name__)

MINIMUM_S = 2.0
DEFAULT_S = 30.0
LONGEST_S = 99_000_000.0
"""About three years. A pod may ask for 2^63-1 seconds, which runtimes do not support."""


def grace_period(pod: Object) -> float:
    """The seconds that the pod's containers have to end, at most `LONGEST_S`."""
    meta, spec = pod["metadata"], pod["spec"]
    for value in (
        meta.get("deletionGracePeriodSeconds"),
        spec.get("terminationGracePeriodSeconds"),
    ):
        if value is not None:
            return min(float(value), LONGEST_S)
    return DEFAULT_S


async def stop_containers(
    context: Context, pod: Object, containers: Iterable[Container], grace_s: float
) -> None:
    """Stop all at once, sidecars after the others; every one gets what is left of the grace."""
    sidecars = {one["name"] for one in all_containers(pod) if is_sidecar(one)}
    containers = list(containers)
    end = context.clock.monotonic() + grace_s
    for group in (
        [one for one in containers if one.name not in sidecars],
        [one for one in containers if one.name in sidecars],
    ):
        async with asyncio.TaskGroup() as tasks:
            for one in group:
                left_s = max(0.0, end - context.clock.monotonic())
                message = f"Stopping container {one.name}"
                tasks.create_task(stop_container(context, pod, one, left_s, message))


async def stop_container(
    context: Context, pod: Object, container: Container, grace_s: float, message: str
) -> None:
    """Stop one; what fails is logged, for the next look at the runtime shows what is left."""
    context.pod_event(pod, "Normal", "Killing", message, container.name)
    started = context.clock.monotonic()
    await _pre_stop(context, pod, container, grace_s)
    left_s = max(grace_s - (context.clock.monotonic() - started), MINIMUM_S)
    if grace_s == 0:
        left_s = 0
    try:
        await context.cri.StopContainer(
            {"container_id": container.id, "timeout": math.ceil(left_s)}, timeout_s=left_s + 60
        )
    except NotFound:
        pass
    except MuntinError as err:
        log.warning(
            "container not stopped",
            **fields(pod=object_ref(pod), container=container.name, error=err),
        )


async def _pre_stop(context: Context, pod: Object, container: Container, grace_s: float) -> None:
    spec = next((one for one in all_containers(pod) if one["name"] == container.name), None)
    handler = ((spec or {}).get("lifecycle") or {}).get("preStop")
    if not handler or grace_s <= 0:
        return
    ips = (pod.get("status") or {}).get("podIP") or context.config.node_ip
    try:
        async with asyncio.timeout(grace_s):
            await run_hook(context.cri, pod, container.id, handler, ips)
    except TimeoutError:
        log.warning(
            "preStop did not end in time",
            **fields(pod=object_ref(pod), container=container.name, grace_s=grace_s),
        )
    except HookFailed as err:
        context.pod_event(pod, "Warning", "FailedPreStopHook", "PreStopHook failed", container.name)
        log.info("preStop failed", **fields(pod=object_ref(pod), error=err))


async def stop_sandboxes(context: Context, runtime: PodRuntime) -> None:
    """Stop every sandbox; one that died by itself still holds its network until then."""
    for sandbox in runtime.sandboxes:
        try:
            await context.cri.StopPodSandbox({"pod_sandbox_id": sandbox.id})
        except NotFound:
            continue


async def remove_all(context: Context, runtime: PodRuntime) -> None:
    """Remove all containers and sandboxes of a pod from the runtime."""
    for container in runtime.containers:
        try:
            await context.cri.RemoveContainer({"container_id": container.id})
        except NotFound:
            continue
    for sandbox in runtime.sandboxes:
        try:
            await context.cri.RemovePodSandbox({"pod_sandbox_id": sandbox.id})
        except NotFound:
            continue
