"""The two narrow ways to change a pod's spec: ephemeral containers and resources.

Source: kubernetes v1.36 pkg/apis/core/validation/validation.go (ValidatePodResize,
ValidatePodEphemeralContainersUpdate).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model import pods, quantity
from muntin.model.gates import Never
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.pod import pod_content
from muntin.model.validation.pod_annotations import MIRROR, pod_annotations_update
from muntin.model.windows import Feature, gate

_WHOLE = "[]"  # how upstream shows a path that names no field
_RESIZABLE = ("cpu", "memory")


def ephemeral_containers_update(new: Object, old: Object, found: Findings) -> None:
    """Ephemeral containers are added, never changed or removed."""
    if _is_static(old):
        found.forbidden(_WHOLE, "static pods do not support ephemeral containers")
        return
    pod_content(new, found)
    annotations = new["metadata"].get("annotations") or {}
    pod_annotations_update(annotations, old["metadata"].get("annotations") or {}, found)
    path = "spec.ephemeralContainers"
    rows = new["spec"].get("ephemeralContainers") or ()
    now = {row["name"]: row for row in rows if "name" in row}
    for row in old["spec"].get("ephemeralContainers") or ():
        name = json.dumps(row["name"])
        if row["name"] not in now:
            found.forbidden(path, f"existing ephemeral containers {name} may not be removed\n")
        elif now[row["name"]] != row:
            found.forbidden(path, f"existing ephemeral containers {name} may not be changed\n")


def resize_update(new: Object, old: Object, found: Findings) -> None:
    """CPU and memory may be set anew, where the node can do it."""
    whole = found.has("resize-whole-pods")
    has_own = any(_amounts(pod["spec"].get("resources") or {}) for pod in (new, old))
    if has_own and not whole:
        found.forbidden(_WHOLE, "pods with pod-level resources cannot be resized")
        return
    if _is_static(old):
        found.forbidden(_WHOLE, "static pods cannot be resized")
        return
    if _is_windows(old) and gate(Feature.POD_RESIZE).holds is Never.NEVER:
        found.forbidden(_WHOLE, gate(Feature.POD_RESIZE).message)
        return
    so_far = len(found.causes)
    pod_content(new, found)
    before = (old.get("status") or {}).get("qosClass") or pods.qos_class(old)
    if pods.qos_class(new) != before:
        text = "Pod QOS Class may not change as a result of resizing"
        found.invalid("spec", before, text)
    if not _node_can_resize(old):
        found.forbidden("spec", "Pod running on node without support for resize")
    if has_own:
        _own_resources(new["spec"].get("resources"), old["spec"].get("resources"), found)
    if not _same_containers(new["spec"], old["spec"], found):
        return
    for path, row, was in _pairs(new, old):
        _resources(path, row, was, found, whole=whole)
    if len(found.causes) == so_far and _left(new["spec"]) != _left(old["spec"]):
        found.forbidden("spec", "only cpu and memory resources are mutable")


def _amounts(resources: Object) -> bool:
    return bool(resources.get("requests") or resources.get("limits"))


def _left(spec: Object) -> Object:
    """What a resize does not change."""
    return {key: row for key, row in spec.items()
            if key not in ("containers", "initContainers", "resources")}  # fmt: skip


def _own_resources(now: Object | None, before: Object | None, found: Findings) -> None:
    """The resources of the whole pod."""
    if before is not None and now is None:
        found.forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    if before is not None:
        _not_removed("spec.resources", now or {}, before, "pod-level resource", found)
    if _fixed(now or {}) != _fixed(before or {}):
        found.forbidden("spec", "only cpu and memory resources are mutable at pod-level")


def _same_containers(new: Object, old: Object, found: Findings) -> bool:
    """Whether both have the same containers in the same order."""
    so_far = len(found.causes)
    for kind in ("containers", "initContainers"):
        rows, before = new.get(kind) or (), old.get(kind) or ()
        if len(rows) != len(before):
            found.forbidden(f"spec.{kind}", f"{kind} may not be added or removed on resize")
            continue
        for index, (row, was) in enumerate(zip(rows, before, strict=True)):
            if row.get("name") != was.get("name"):
                text = f"{kind} may not be renamed or reordered on resize"
                found.forbidden(f"spec.{kind}[{index}].name", text)
    return len(found.causes) == so_far


def _is_static(pod: Object) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})


def _is_windows(pod: Object) -> bool:
    return (pod["spec"].get("os") or {}).get("name") == "windows"


def _node_can_resize(pod: Object) -> bool:
    """Kubelets that can say with which resources a container runs; before it runs, all can."""
    for row in (pod.get("status") or {}).get("containerStatuses") or ():
        if (row.get("state") or {}).get("running") is not None:
            return row.get("resources") is not None
    return True


def _pairs(new: Object, old: Object) -> Iterator[tuple[str, Object, Object]]:
    """Path, new and old form of the containers whose resources may change."""
    for kind in ("initContainers", "containers"):
        rows = zip(new["spec"].get(kind) or (), old["spec"].get(kind) or (), strict=True)
        for index, (row, was) in enumerate(rows):
            yield f"spec.{kind}[{index}]", row, was


def _resources(path: str, row: Object, was: Object, found: Findings, *, whole: bool) -> None:
    now, before = row.get("resources") or {}, was.get("resources") or {}
    is_init = path.startswith("spec.init")
    is_sidecar = was.get("restartPolicy") == "Always"
    if is_init and not is_sidecar and not whole:
        if now != before:
            found.forbidden("spec", "resources for non-sidecar init containers are immutable")
        return
    _not_removed(f"{path}.resources", now, before, "resource", found)
    policies = [one.get("resizePolicy") for one in (row, was)]
    if _fixed(now) != _fixed(before) or policies[0] != policies[1]:
        _immutable(path if is_init and whole else "spec", is_init, whole, found)
    if is_init and not is_sidecar and row != was and _restarts(policies[0]):
        text = (
            "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
        )
        found.forbidden(path, text)
    if not found.has("resize-to-less-memory"):
        _memory_limit(f"{path}.resources.limits[memory]", row, now, before, found)


def _immutable(path: str, is_init: bool, whole: bool, found: Findings) -> None:
    if not is_init:
        text = "only cpu and memory resources are mutable"
    elif whole:
        text = "only cpu and memory resources for init or sidecar containers are mutable"
    else:
        text = "only cpu and memory resources for sidecar containers are mutable"
    found.forbidden(path, text)


def _restarts(policies: Any) -> bool:
    return any(policy.get("restartPolicy") == "RestartContainer" for policy in policies or ())


def _not_removed(path: str, now: Object, before: Object, what: str, found: Findings) -> None:
    for field in ("requests", "limits"):
        if (before.get(field) or {}).keys() - (now.get(field) or {}).keys():
            found.forbidden(f"{path}.{field}", f"{what} {field} cannot be removed")


def _fixed(resources: Object) -> dict[str, Any]:
    """What of the resources may not change."""
    result = dict(resources)
    for field in ("requests", "limits"):
        amounts = dict(result.pop(field, None) or {})
        rest = {name: value for name, value in amounts.items() if name not in _RESIZABLE}
        if rest:
            result[field] = rest
    return result


def _memory_limit(path: str, row: Object, now: Object, before: Object, found: Findings) -> None:
    policies: Mapping[str, str] = {
        policy["resourceName"]: policy["restartPolicy"] for policy in row.get("resizePolicy") or ()
    }
    if policies.get("memory", "NotRequired") != "NotRequired":
        return
    limit, was = ((side.get("limits") or {}).get("memory") for side in (now, before))
    if limit is None:
        return
    rule = "unless resizePolicy is RestartContainer"
    if was is None:
        found.forbidden(path, f"memory limits cannot be added {rule}")
    elif quantity.compare(limit, was) < 0:
        found.forbidden(path, f"memory limits cannot be decreased {rule}")
