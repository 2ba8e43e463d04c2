"""How pods are shown: the STATUS column above all.

Source: kubernetes v1.34 pkg/printers/internalversion/printers.go (printPod).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.model import durations
from muntin.model import pods as pod_facts
from muntin.model.tables.printer import (
    NOTHING,
    Cells,
    Object,
    Printer,
    age,
    columns,
    container_images,
    container_names,
    labels_text,
    name,
    spec_of,
    status_of,
)


@dataclass(slots=True)
class _Summary:
    reason: str
    ready: int = 0
    restarts: int = 0
    last_restart: str = ""

    def count(self, status: Object) -> None:
        self.restarts += status.get("restartCount", 0)
        ended = (status.get("lastState") or {}).get("terminated") or {}
        self.last_restart = max(self.last_restart, ended.get("finishedAt") or "")


def _ended(terminated: Object, prefix: str = "") -> str:
    """Why a container ended: its reason, else its signal or exit code."""
    if terminated.get("reason"):
        return f"{prefix}{terminated['reason']}"
    if terminated.get("signal"):
        return f"{prefix}Signal:{terminated['signal']}"
    return f"{prefix}ExitCode:{terminated.get('exitCode', 0)}"


def _init_reason(status: Object, index: int, total: int) -> str:
    state = status.get("state") or {}
    if state.get("terminated"):
        return _ended(state["terminated"], "Init:")
    reason = (state.get("waiting") or {}).get("reason")
    if reason and reason != "PodInitializing":
        return f"Init:{reason}"
    return f"Init:{index}/{total}"


def _initialize(
    spec: Object, status: Object, summary: _Summary, sidecars: _Summary, names: frozenset[str]
) -> bool:
    """Read the init containers; True while one of them holds the pod up."""
    total = len(spec.get("initContainers") or ())
    for index, row in enumerate(status.get("initContainerStatuses") or ()):
        summary.count(row)
        is_sidecar = row.get("name") in names
        if is_sidecar:
            sidecars.count(row)
        terminated = (row.get("state") or {}).get("terminated")
        if terminated and terminated.get("exitCode", 0) == 0:
            continue
        if is_sidecar and row.get("started"):
            summary.ready += bool(row.get("ready"))
            continue
        summary.reason = _init_reason(row, index, total)
        return True
    return False


def _run(pod: Object, status: Object, summary: _Summary) -> None:
    """Read the containers, last one first: the first one's reason wins."""
    has_running = False
    for row in reversed(status.get("containerStatuses") or ()):
        summary.count(row)
        state = row.get("state") or {}
        if (state.get("waiting") or {}).get("reason"):
            summary.reason = state["waiting"]["reason"]
        elif state.get("terminated"):
            summary.reason = _ended(state["terminated"])
        elif row.get("ready") and state.get("running") is not None:
            has_running = True
            summary.ready += 1
    if summary.reason == "Completed" and has_running:
        summary.reason = "Running" if pod_facts.is_ready(pod) else "NotReady"


def _summary(pod: Object) -> _Summary:
    spec, status = spec_of(pod), status_of(pod)
    summary = _Summary(status.get("reason") or status.get("phase") or "")
    scheduled = pod_facts.condition(pod, "PodScheduled") or {}
    if scheduled.get("reason") == "SchedulingGated":
        summary.reason = "SchedulingGated"
    names = frozenset(
        row["name"] for row in spec.get("initContainers") or () if pod_facts.is_sidecar(row)
    )
    sidecars = _Summary("")
    initializing = _initialize(spec, status, summary, sidecars, names)
    if not initializing or pod_facts.is_condition_true(pod, "Initialized"):
        summary.restarts, summary.last_restart = sidecars.restarts, sidecars.last_restart
        _run(pod, status, summary)
    if pod["metadata"].get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif not pod_facts.is_terminal(pod):
            summary.reason = "Terminating"
    return summary


def pod_status(pod: Object) -> str:
    """The word in the STATUS column: ``Running``, ``CrashLoopBackOff``, ``Init:0/1``..."""
    return _summary(pod).reason


def _readiness_gates(pod: Object) -> str:
    gates = spec_of(pod).get("readinessGates") or ()
    if not gates:
        return NOTHING
    true = sum(pod_facts.is_condition_true(pod, gate["conditionType"]) for gate in gates)
    return f"{true}/{len(gates)}"


def _pod(pod: Object, now_s: float) -> Cells:
    spec, status = spec_of(pod), status_of(pod)
    summary = _summary(pod)
    sidecars = sum(map(pod_facts.is_sidecar, spec.get("initContainers") or ()))
    total = len(spec.get("containers") or ()) + sidecars
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts += f" ({durations.since(summary.last_restart, now_s)} ago)"
    ips = status.get("podIPs") or ()
    return [
        name(pod),
        f"{summary.ready}/{total}",
        summary.reason,
        restarts,
        age(pod, now_s),
        (ips[0].get("ip") if ips else status.get("podIP")) or NOTHING,
        spec.get("nodeName") or NOTHING,
        status.get("nominatedNodeName") or NOTHING,
        _readiness_gates(pod),
    ]


def _older_pod(pod: Object, now_s: float) -> Cells:
    cells = _pod(pod, now_s)
    cells[3] = _summary(pod).restarts
    return cells


_COMPLETED = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def _row_conditions(pod: Object) -> list[dict[str, str]]:
    phase = status_of(pod).get("phase", "")
    if phase not in _COMPLETED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _COMPLETED[phase]}]


def _pod_template(obj: Object, _: float) -> Cells:
    template: Mapping[str, Any] = obj.get("template") or {}
    spec = template.get("spec") or {}
    labels = (template.get("metadata") or {}).get("labels")
    return [name(obj), container_names(spec), container_images(spec), labels_text(labels)]


_WIDE = ("IP", "Node", "Nominated Node", "Readiness Gates")

PRINTERS = {
    ("", "Pod"): Printer(
        columns("Name", "Ready", "Status", "Restarts", "Age", wide=_WIDE), _pod, _row_conditions
    ),
    ("", "PodTemplate"): Printer(
        columns("Name", "Containers", "Images", "Pod Labels"), _pod_template
    ),
}

# How some were shown before; until when is said in `resources.lifecycle`.
OLDER = {
    ("", "Pod"): Printer(
        columns("Name", "Ready", "Status", ("Restarts", "integer"), "Age", wide=_WIDE),
        _older_pod,
        _row_conditions,
    ),
}
