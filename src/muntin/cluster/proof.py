"""What a running cluster says of objects that were given to it: decided from what it answers.

Pure: answers, pods and events in, observations out. ``proving.py`` asks and waits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Object = Mapping[str, Any]

WORKLOADS = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Job"})
# Kinds that others need to be there first, in the order in which they are made.
_FIRST = (
    "Namespace", "CustomResourceDefinition", "PriorityClass", "RuntimeClass", "StorageClass",
    "ResourceQuota", "LimitRange", "ServiceAccount", "Role", "ClusterRole", "RoleBinding",
    "ClusterRoleBinding", "Secret", "ConfigMap", "PersistentVolume", "PersistentVolumeClaim",
    "Service",
)  # fmt: skip
# Reasons of waiting that do not pass by themselves. Source: kubernetes pkg/kubelet/images,
# pkg/kubelet/kuberuntime, pkg/kubelet/container/sync_result.go.
_STUCK = frozenset(
    {
        "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError",
        "ErrImageNeverPull", "ErrImagePull", "ImageInspectError", "ImagePullBackOff",
        "InvalidImageName", "PostStartHookError", "PreCreateHookError", "RunContainerError",
    }
)  # fmt: skip
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class Stage(StrEnum):
    """How far an object came when it was seen."""

    REFUSED = "refused"
    WARNED = "warned"
    UNSCHEDULABLE = "unschedulable"
    REJECTED = "rejected by the node"
    WAITING = "waiting"
    ENDED = "ended"
    READY = "ready"
    NOT_READY = "not ready"
    EVENT = "event"
    UNKNOWN = "not proved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One thing that was seen. ``subject`` is ``Kind namespace/name``; ``reason`` and ``text`` are
    the cluster's own words."""

    subject: str
    stage: Stage
    reason: str = ""
    text: str = ""
    container: str = ""
    exit_code: int | None = None


def in_order(objects: Iterable[Object]) -> list[Object]:
    """What others need comes first; else the order is kept."""
    ranks = {kind: rank for rank, kind in enumerate(_FIRST)}
    return sorted(objects, key=lambda obj: ranks.get(obj["kind"], len(_FIRST)))


def subject(obj: Object) -> str:
    """``Pod default/web``, or ``Namespace web`` for what is in no namespace."""
    meta = obj.get("metadata") or {}
    name = meta.get("name") or meta.get("generateName", "")
    namespace = meta.get("namespace")
    return f"{obj.get('kind', '?')} {namespace}/{name}" if namespace else f"{obj['kind']} {name}"


def of_answer(about: str, status: int, body: bytes, warning_header: str) -> list[Observation]:
    """What the API server said to a creation."""
    found = [
        Observation(subject=about, stage=Stage.WARNED, text=re.sub(r"\\(.)", r"\1", text))
        for text in _WARNING.findall(warning_header)
    ]
    if status >= 300:
        try:
            answer = json.loads(body)
        except ValueError:
            answer = {"message": body.decode(errors="replace")}
        reason, text = answer.get("reason", str(status)), answer.get("message", "")
        found.append(Observation(subject=about, stage=Stage.REFUSED, reason=reason, text=text))
    return found


def of_pod(pod: Object) -> list[Observation]:
    """How far a pod came, and how its containers ended or why they wait."""
    about, status = subject({"kind": "Pod", **pod}), pod.get("status") or {}
    conditions = {row["type"]: row for row in status.get("conditions") or ()}
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") == "False":
        return [_said(about, Stage.UNSCHEDULABLE, scheduled)]
    found = [seen for row in container_statuses(pod) for seen in _of_container(about, row)]
    if status.get("phase") == "Failed" and status.get("reason"):
        found.append(_said(about, Stage.REJECTED, status))
    if is_ready(pod):
        found.append(Observation(subject=about, stage=Stage.READY))
    elif not found:
        found.append(_said(about, Stage.NOT_READY, conditions.get("Ready", {})))
    return found


def _of_container(about: str, row: Object) -> Iterable[Observation]:
    name = row["name"]
    waiting = (row.get("state") or {}).get("waiting") or {}
    if waiting.get("reason") in _STUCK:
        yield _said(about, Stage.WAITING, waiting, name)
    for state in ("state", "lastState"):
        ended = (row.get(state) or {}).get("terminated")
        if ended:
            yield _said(about, Stage.ENDED, ended, name, ended.get("exitCode"))


def _said(
    about: str, stage: Stage, by: Object, container: str = "", exit_code: int | None = None
) -> Observation:
    return Observation(
        subject=about,
        stage=stage,
        reason=by.get("reason") or "",
        text=by.get("message") or "",
        container=container,
        exit_code=exit_code,
    )


def of_event(event: Object) -> Observation | None:
    """A warning; what is normal is not told."""
    if event.get("type") != "Warning":
        return None
    about = event.get("involvedObject") or {}
    meta = {"namespace": about.get("namespace"), "name": about.get("name", "")}
    named = subject({"kind": about.get("kind", "?"), "metadata": meta})
    return _said(named, Stage.EVENT, event)


def container_statuses(pod: Object) -> list[Object]:
    """Of all containers of a pod, those that come first first."""
    status = pod.get("status") or {}
    fields = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
    return [row for field in fields for row in status.get(field) or ()]


def is_ready(pod: Object) -> bool:
    """Whether the pod's Ready condition is True."""
    rows = (pod.get("status") or {}).get("conditions") or ()
    return any(row["type"] == "Ready" and row["status"] == "True" for row in rows)


def is_settled(pod: Object, events: Iterable[Object]) -> bool:
    """Whether nothing new is to be expected of a pod: it is ready, has ended, or is stuck."""
    status = pod.get("status") or {}
    if status.get("phase") in ("Succeeded", "Failed") or is_ready(pod):
        return True
    for row in status.get("conditions") or ():
        if row["type"] == "PodScheduled" and row.get("reason") == "Unschedulable":
            return True
    if any(_is_stuck(row) for row in container_statuses(pod)):
        return True
    uid = (pod.get("metadata") or {}).get("uid")
    return any(
        event.get("type") == "Warning" and (event.get("involvedObject") or {}).get("uid") == uid
        for event in events
    )


def _is_stuck(row: Object) -> bool:
    waiting = (row.get("state") or {}).get("waiting") or {}
    return waiting.get("reason") in _STUCK or row.get("restartCount", 0) > 0


def missing(
    objects: Iterable[Object], pods: Iterable[Object], events: Iterable[Object]
) -> list[str]:
    """The workloads that have no pod yet, and of which no warning tells why."""
    complaints = {
        ((event.get("involvedObject") or {}).get("namespace"), name)
        for event in events
        if event.get("type") == "Warning"
        for name in _beginnings((event.get("involvedObject") or {}).get("name", ""))
    }
    have = [(pod["metadata"].get("namespace"), pod["metadata"].get("labels") or {}) for pod in pods]
    return [
        subject(obj)
        for obj in objects
        if obj.get("kind") in WORKLOADS
        and (obj.get("spec") or {}).get("replicas", 1) != 0
        and not any(_is_of(obj, *pod) for pod in have)
        and (obj["metadata"].get("namespace"), obj["metadata"].get("name")) not in complaints
    ]


def _beginnings(name: str) -> list[str]:
    """``a-b-c`` and ``a-b`` and ``a``: a ReplicaSet is named after its Deployment."""
    parts = name.split("-")
    return ["-".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _is_of(workload: Object, namespace: str, labels: Mapping[str, str]) -> bool:
    spec = workload.get("spec") or {}
    wanted = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if workload["metadata"].get("namespace") != namespace:
        return False
    if workload["kind"] == "Job":
        return bool(labels.get("job-name") == workload["metadata"].get("name"))
    return bool(wanted) and wanted.items() <= labels.items()
