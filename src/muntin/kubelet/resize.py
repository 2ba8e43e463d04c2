"""In-place resize of a pod's CPU and memory: desired, allocated and reported resources. Pure.

The desired resources are allocated once the node has room for them; only allocated resources are
applied to containers.
Source: kubernetes v1.34 pkg/kubelet/allocation/allocation_manager.go,
pkg/kubelet/kuberuntime/kuberuntime_manager.go (computePodResizeAction), pkg/kubelet/events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.kubelet.platform import Platform
from muntin.model.pods import amounts, is_sidecar, requests

Object = Mapping[str, Any]
Resources = Mapping[str, Any]

PENDING, IN_PROGRESS = "PodResizePending", "PodResizeInProgress"
INFEASIBLE, DEFERRED, ERROR = "Infeasible", "Deferred", "Error"
RESIZED = ("cpu", "memory")
STATIC = "kubernetes.io/config.source"
"""The annotation of static pods."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a resize is not carried out, now or ever: the reason and message of its condition."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """Resources for the status: allocated by container name, actual by container id, conditions."""

    allocated: Mapping[str, Resources] = field(default_factory=dict)
    actual: Mapping[str, Resources] = field(default_factory=dict)
    conditions: tuple[Mapping[str, Any], ...] = ()


def resizable(pod: Object) -> Iterator[Object]:
    """The containers whose resources can be changed while they run."""
    yield from (row for row in pod["spec"].get("initContainers") or () if is_sidecar(row))
    yield from pod["spec"]["containers"]


def asked(pod: Object) -> dict[str, Resources]:
    """What the spec asks for, by container."""
    return {row["name"]: row.get("resources") or {} for row in resizable(pod)}


def restored(pod: Object) -> dict[str, Resources]:
    """The allocation that an earlier kubelet reported in the status; otherwise the spec's."""
    reported = {row["name"]: row for row in _statuses(pod)}
    allocated = asked(pod)
    for name, resources in allocated.items():
        row = reported.get(name) or {}
        if "allocatedResources" not in row or row.get("resources") is None:
            continue
        limits = row["resources"].get("limits") or {}
        told_of = {"requests": row["allocatedResources"], **({"limits": limits} if limits else {})}
        if changes(told_of, resources):
            allocated[name] = told_of
    return allocated


def actual(pod: Object, container_id: str) -> Resources | None:
    """The resources in the status of a running container, selected by the end of its id."""
    for row in _statuses(pod):
        if str(row.get("containerID", "")).endswith(f"://{container_id}"):
            found: Resources | None = row.get("resources")
            return found
    return None


def _statuses(pod: Object) -> Iterator[Object]:
    status = pod.get("status") or {}
    for kind in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(kind) or ()


def with_resources(pod: Object, allocated: Mapping[str, Resources]) -> Object:
    """The pod with its allocation in place of the desired resources; itself if they are equal."""
    if asked(pod) == allocated:
        return pod
    spec = dict(pod["spec"])
    for kind in ("initContainers", "containers"):
        if kind in spec:
            spec[kind] = [_given(one, allocated) for one in spec[kind]]
    return {**pod, "spec": spec}


def _given(container: Object, allocated: Mapping[str, Resources]) -> Object:
    if container["name"] not in allocated:
        return container
    return {**container, "resources": allocated[container["name"]]}


def changes(now: Resources, before: Resources) -> set[str]:
    """Which of CPU and memory have another amount."""
    if now == before:
        return set()
    return {
        name
        for name in RESIZED
        for field in ("requests", "limits")
        if amounts(now.get(field)).get(name, 0) != amounts(before.get(field)).get(name, 0)
    }


def needs_restart(container: Object, names: set[str]) -> bool:
    """Whether the container wants to be restarted when these resources change."""
    return any(
        policy.get("restartPolicy") == "RestartContainer" and policy.get("resourceName") in names
        for policy in container.get("resizePolicy") or ()
    )


def infeasible(pod: Object, allocatable: Mapping[str, str], platform: Platform) -> Refusal | None:
    """Why the node can never satisfy the pod's requests, or None."""
    if platform.is_windows:
        return Refusal(INFEASIBLE, "In-place pod resize is not supported on Windows")
    if (pod["metadata"].get("annotations") or {}).get(STATIC, "api") != "api":
        return Refusal(INFEASIBLE, "In-place resize of static-pods is not supported")
    have, wanted = amounts(allocatable), requests(pod)
    for name in ("memory", "cpu"):
        if wanted.get(name, 0) > have.get(name, 0):
            text = f"{name}, requested: {wanted[name]}, capacity: {have.get(name, 0)}"
            return Refusal(INFEASIBLE, f"Node didn't have enough capacity: {text}")
    return None


def event_message(start: str, pod: Object, error: str = "") -> str:
    """The message of an event about a resize: ``Pod resize started: {"containers":[...]}``."""
    found: dict[str, Any] = {}
    for kind in ("initContainers", "containers"):
        rows = [
            {"name": one["name"], "resources": _in_order(one.get("resources") or {})}
            for one in pod["spec"].get(kind) or ()
        ]
        if rows:
            found[kind] = rows
    found["generation"] = pod["metadata"].get("generation", 0)
    if error:
        found["error"] = error
    return f"{start}: {json.dumps(found, separators=(',', ':'))}"


def _in_order(resources: Resources) -> dict[str, Any]:
    return {
        field: dict(sorted(resources[field].items()))
        for field in ("limits", "requests")
        if resources.get(field)
    }
