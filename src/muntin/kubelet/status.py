"""The status of a pod, from what the runtime has and what the worker knows. Pure.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go (generateAPIPodStatus, getPhase,
convertToAPIContainerStatuses), pkg/kubelet/status/generate.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.kit.clock import rfc3339
from muntin.kubelet.plan import Health
from muntin.kubelet.resize import IN_PROGRESS, PENDING, Resized
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.model.pods import is_sidecar, qos_class, set_condition
from muntin.seams.cri.enums import ContainerState

Object = Mapping[str, Any]
Status = dict[str, Any]

RESIZES = frozenset({PENDING, IN_PROGRESS})
"""Conditions that are taken off again."""


@dataclass(frozen=True, slots=True)
class Note:
    """Why a container waits: what ``state.waiting`` says."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that a status is made of besides the pod itself.

    ``messages`` are termination messages by container id, ``verdict`` a reason and message that
    made the whole pod fail (rejection, deadline, eviction). ``tells_generation``,
    ``tells_sandbox`` and ``lists_mounts``: what a kubelet of this version reports. ``resized``:
    resources to report; None reports nothing.
    """

    runtime: PodRuntime
    now: float
    node_ip: str
    runtime_name: str = "containerd"
    notes: Mapping[str, Note] = field(default_factory=dict)
    health: Mapping[str, Health] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    verdict: Note | None = None
    stopped: bool = False
    tells_generation: bool = False
    tells_sandbox: bool = True
    lists_mounts: bool = False
    resized: Resized | None = None


def pod_status(pod: Object, view: View) -> Status:
    """The whole ``status``; conditions of other authors are kept as they are."""
    old = pod.get("status") or {}
    spec = pod["spec"]
    inits, mains = spec.get("initContainers") or [], spec["containers"]
    initialized = _initialized(inits, view)
    init_statuses = [_init_status(one, view) for one in inits]
    default = Note("ContainerCreating" if not inits or initialized else "PodInitializing")
    statuses = [container_status(one, view, default) for one in mains]
    phase = _phase(pod, init_statuses, statuses, view)
    result: Status = {
        "phase": phase,
        "startTime": old.get("startTime") or rfc3339(view.now),
        "hostIP": view.node_ip,
        "hostIPs": [{"ip": view.node_ip}],
        "qosClass": old.get("qosClass") or qos_class(pod),
        "containerStatuses": statuses,
    }
    if inits:
        result["initContainerStatuses"] = init_statuses
    if ephemeral := spec.get("ephemeralContainers"):
        result["ephemeralContainerStatuses"] = [_ephemeral_status(one, view) for one in ephemeral]
    ips = [view.node_ip] if spec.get("hostNetwork") else list(view.runtime.ips)
    if not ips:
        ips = [row["ip"] for row in old.get("podIPs") or () if row.get("ip")]
    if ips:
        result["podIP"] = ips[0]
        result["podIPs"] = [{"ip": ip} for ip in ips]
    if view.verdict is not None:
        result["reason"] = view.verdict.reason
        result["message"] = view.verdict.message
    if view.tells_generation and pod["metadata"].get("generation"):
        result["observedGeneration"] = pod["metadata"]["generation"]
    result["conditions"] = _conditions(pod, phase, initialized, init_statuses, statuses, view)
    return result


def container_status(spec: Object, view: View, default: Note) -> Status:
    """One entry of ``containerStatuses``."""
    name = spec["name"]
    current, previous = view.runtime.newest(name), view.runtime.previous(name)
    note = view.notes.get(name)
    health = view.health.get(current.id, Health()) if current else Health()
    running = current is not None and current.running
    started = running and health.started
    status: Status = {
        "name": name,
        "image": (current.image if current else "") or spec.get("image", ""),
        "imageID": current.image_ref if current else "",
        "restartCount": current.attempt if current else 0,
        "ready": started and health.ready,
        "started": started,
        "state": {},
        "lastState": {},
    }
    if current is None:
        status["state"] = {"waiting": _waiting(note or default)}
        return status
    status["containerID"] = f"{view.runtime_name}://{current.id}"
    if view.resized is not None and name in view.resized.allocated:
        status |= _resources(name, current.id, view.resized)
    if view.lists_mounts and spec.get("volumeMounts"):
        status["volumeMounts"] = [_mount(row) for row in spec["volumeMounts"]]
    if running:
        status["state"] = {"running": {"startedAt": _time(current.started_at)}}
        status["lastState"] = _terminated(previous, view)
    elif current.state is ContainerState.CONTAINER_CREATED:
        status["state"] = {"waiting": _waiting(note or default)}
        status["lastState"] = _terminated(previous, view)
    elif note is not None:
        status["state"] = {"waiting": _waiting(note)}
        status["lastState"] = _terminated(current, view)
    else:
        status["state"] = _terminated(current, view)
        status["lastState"] = _terminated(previous, view)
    return status


def _resources(name: str, container_id: str, resized: Resized) -> Status:
    """The allocated and actual resources of a container."""
    allocated = resized.allocated[name]
    actual = resized.actual.get(container_id, allocated)
    found: Status = {"resources": {key: row for key, row in actual.items() if row}}
    if requests := allocated.get("requests"):
        found["allocatedResources"] = dict(requests)
    return found


def _mount(spec: Object) -> Status:
    """One entry of ``volumeMounts``: no mount is read-only below its first file system."""
    mount: Status = {"name": spec["name"], "mountPath": spec["mountPath"]}
    if spec.get("readOnly"):
        mount |= {"readOnly": True, "recursiveReadOnly": "Disabled"}
    return mount


def _ephemeral_status(spec: Object, view: View) -> Status:
    """One entry of ``ephemeralContainerStatuses``: readiness means nothing for them."""
    status = container_status(spec, view, Note("ContainerCreating"))
    del status["started"]
    return {**status, "ready": False}


def _init_status(spec: Object, view: View) -> Status:
    status = container_status(spec, view, Note("PodInitializing"))
    if not is_sidecar(spec):
        terminated = status["state"].get("terminated")
        status["ready"] = terminated is not None and terminated["exitCode"] == 0
    return status


def _waiting(note: Note) -> Status:
    return {"reason": note.reason, **({"message": note.message} if note.message else {})}


def _time(nanoseconds: int) -> str | None:
    return rfc3339(nanoseconds / 1e9) if nanoseconds else None


def _terminated(container: Container | None, view: View) -> Status:
    if container is None or not (
        container.exited or container.state is ContainerState.CONTAINER_UNKNOWN
    ):
        return {}
    if not container.exited:
        return {
            "terminated": {
                "exitCode": 137,
                "reason": "ContainerStatusUnknown",
                "message": "The container could not be located when the pod was terminated",
                "containerID": f"{view.runtime_name}://{container.id}",
                "startedAt": _time(container.started_at),
                "finishedAt": _time(container.finished_at),
            }
        }
    ended: Status = {
        "exitCode": container.exit_code,
        "reason": container.reason or ("Completed" if container.exit_code == 0 else "Error"),
        "startedAt": _time(container.started_at),
        "finishedAt": _time(container.finished_at),
        "containerID": f"{view.runtime_name}://{container.id}",
    }
    message = view.messages.get(container.id) or container.message
    if message:
        ended["message"] = message
    return {"terminated": ended}


def _initialized(inits: Sequence[Object], view: View) -> bool:
    """Whether every init container has done its part (or a later one shows that it had)."""
    for spec in inits:
        state = view.runtime.newest(spec["name"])
        if state is None:
            return False
        if is_sidecar(spec):
            if not (state.running and view.health.get(state.id, Health()).started):
                return False
        elif not (state.exited and state.exit_code == 0):
            return False
    return True


def _phase(pod: Object, inits: Sequence[Status], statuses: Sequence[Status], view: View) -> str:
    old = (pod.get("status") or {}).get("phase")
    if old in ("Succeeded", "Failed"):
        return str(old)
    if view.verdict is not None:
        return "Failed"
    if view.stopped:
        codes = [status["state"].get("terminated", {}).get("exitCode") for status in statuses]
        return "Succeeded" if all(code == 0 for code in codes) else "Failed"
    policy = pod["spec"].get("restartPolicy", "Always")
    pending, failed = _init_progress(pod, inits)
    if failed and policy == "Never":
        return "Failed"
    waiting = running = stopped = succeeded = 0
    for status in statuses:
        state, last = status["state"], status["lastState"]
        if "running" in state:
            running += 1
        elif "terminated" in state:
            stopped += 1
            succeeded += state["terminated"]["exitCode"] == 0
        elif "terminated" in last:
            stopped += 1
        else:
            waiting += 1
    if pending or failed or waiting:
        return "Pending"
    if running or policy == "Always":
        return "Running"
    if stopped == succeeded:
        return "Succeeded"
    return "Failed" if policy == "Never" else "Running"


def _init_progress(pod: Object, inits: Sequence[Status]) -> tuple[bool, bool]:
    """Whether an init container has still to end, and whether one has failed."""
    pending = failed = False
    for spec, status in zip(pod["spec"].get("initContainers") or (), inits, strict=True):
        state, last = status["state"], status["lastState"]
        if is_sidecar(spec):
            pending = pending or not (status["started"] or "terminated" in state or last)
            continue
        if "terminated" in state:
            failed = failed or state["terminated"]["exitCode"] != 0
        elif "waiting" in state and last:
            failed = failed or last["terminated"]["exitCode"] != 0
        else:
            pending = True
    return pending, failed


def _conditions(
    pod: Object,
    phase: str,
    initialized: bool,
    inits: Sequence[Status],
    statuses: Sequence[Status],
    view: View,
) -> list[Status]:
    now = rfc3339(view.now)
    resizes = [dict(row) for row in view.resized.conditions] if view.resized is not None else []
    over = RESIZES - {row["type"] for row in resizes}
    conditions = [
        dict(row)
        for row in (pod.get("status") or {}).get("conditions") or ()
        if row.get("type") not in over
    ]
    containers_ready = _containers_ready(pod, phase, inits, statuses)
    ready = _ready(pod, containers_ready)
    sandbox = view.runtime.ready_sandbox
    network = sandbox is not None and (bool(sandbox.ips) or pod["spec"].get("hostNetwork"))
    rows = [
        *([_row("PodReadyToStartContainers", bool(network))] if view.tells_sandbox else []),
        _initialized_row(pod, phase, initialized, inits),
        {"type": "Ready", **ready},
        {"type": "ContainersReady", **containers_ready},
        _row("PodScheduled", True),
    ]
    if view.tells_generation and pod["metadata"].get("generation"):
        for row in rows:
            row["observedGeneration"] = pod["metadata"]["generation"]
    for row in (*rows, *resizes):
        if not view.tells_generation:
            row = {key: value for key, value in row.items() if key != "observedGeneration"}
        full = {"lastProbeTime": None, "reason": None, "message": None, **row}
        set_condition(conditions, full, now)
    return [
        {
            key: value
            for key, value in row.items()
            if value is not None or key in ("lastProbeTime", "lastTransitionTime")
        }
        for row in conditions
    ]


def _row(kind: str, holds: bool) -> Status:
    return {"type": kind, "status": "True" if holds else "False"}


def _initialized_row(pod: Object, phase: str, initialized: bool, inits: Sequence[Status]) -> Status:
    if phase == "Succeeded" or initialized or not inits:
        reason = {"reason": "PodCompleted"} if phase == "Succeeded" else {}
        return {**_row("Initialized", True), **reason}
    specs = pod["spec"].get("initContainers") or ()
    behind = [
        status["name"]
        for spec, status in zip(specs, inits, strict=True)
        if not (status["started"] if is_sidecar(spec) else status["ready"])
    ]
    return {
        **_row("Initialized", False),
        "reason": "ContainersNotInitialized",
        "message": f"containers with incomplete status: {_list(behind)}",
    }


def _containers_ready(
    pod: Object, phase: str, inits: Sequence[Status], statuses: Sequence[Status]
) -> Status:
    if phase == "Succeeded":
        return {"status": "False", "reason": "PodCompleted"}
    if phase == "Failed":
        return {"status": "False", "reason": "PodFailed"}
    specs = pod["spec"].get("initContainers") or ()
    sidecars = [one for spec, one in zip(specs, inits, strict=True) if is_sidecar(spec)]
    unready = [status["name"] for status in [*sidecars, *statuses] if not status["ready"]]
    if not unready:
        return {"status": "True"}
    return {
        "status": "False",
        "reason": "ContainersNotReady",
        "message": f"containers with unready status: {_list(unready)}",
    }


def _ready(pod: Object, containers_ready: Status) -> Status:
    if containers_ready["status"] != "True":
        return containers_ready
    conditions = (pod.get("status") or {}).get("conditions") or ()
    true = {row["type"] for row in conditions if row.get("status") == "True"}
    have = {row["type"] for row in conditions}
    missing = []
    for gate in pod["spec"].get("readinessGates") or ():
        kind = gate["conditionType"]
        if kind not in have:
            missing.append(
                f'corresponding condition of pod readiness gate "{kind}" does not exist.'
            )
        elif kind not in true:
            missing.append(f'the status of pod readiness gate "{kind}" is not "True", but False')
    if missing:
        return {
            "status": "False",
            "reason": "ReadinessGatesNotReady",
            "message": ", ".join(missing),
        }
    return {"status": "True"}


def _list(names: Iterable[str]) -> str:
    return f"[{' '.join(names)}]"


def status_patch(old: Mapping[str, Any], new: Status) -> Status | None:
    """The strategic-merge body that turns ``old`` into ``new``, or None when they agree.

    Keys that a kubelet writes and ``new`` lacks are removed; lists of addresses are replaced.
    """
    changes: Status = {key: value for key, value in new.items() if old.get(key) != value}
    for key in ("reason", "message"):
        if key in old and key not in new:
            changes[key] = None
    for key in ("podIPs", "hostIPs"):
        if key in changes and old.get(key):
            changes[key] = [{"$patch": "replace"}, *changes[key]]
    if "conditions" in changes:
        before = {row["type"]: row for row in old.get("conditions") or ()}
        rows = []
        for row in changes["conditions"]:
            was = before.get(row["type"])
            if was != row:
                gone = {key: None for key in (was or {}) if key not in row}
                rows.append({**row, **gone})
        over = before.keys() & RESIZES - {row["type"] for row in changes["conditions"]}
        rows += [{"type": kind, "$patch": "delete"} for kind in sorted(over)]
        if rows:
            changes["conditions"] = rows
        else:
            del changes["conditions"]
    return changes or None
