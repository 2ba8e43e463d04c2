"""The two narrow ways to change a pod's spec: ephemeral containers and resources.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePodResize,
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
    """CPU and memory of containers may be set anew, where the node can do it."""
    if new["spec"].get("resources") or old["spec"].get("resources"):
        found.forbidden(_WHOLE, "pods with pod-level resources cannot be resized")
        return
    if _is_static(old):
        found.forbidden(_WHOLE, "static pods cannot be resized")
        return
    if _is_windows(old) and gate(Feature.POD_RESIZE).holds is Never.NEVER:
        found.forbidden(_WHOLE, "windows pods cannot be resized")
        return
    pod_content(new, found)
    before = (old.get("status") or {}).get("qosClass") or pods.qos_class(old)
    if pods.qos_class(new) != before:
        text = "Pod QOS Class may not change as a result of resizing"
        found.invalid("spec", before, text)
    if not _node_can_resize(old):
        found.forbidden("spec", "Pod running on node without support for resize")
    for path, row, was in _pairs(new, old):
        _resources(path, row, was, found)


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
    for kind in ("containers", "initContainers"):
        rows = zip(new["spec"].get(kind) or (), old["spec"].get(kind) or (), strict=True)
        for index, (row, was) in enumerate(rows):
            yield f"spec.{kind}[{index}]", row, was


def _resources(path: str, row: Object, was: Object, found: Findings) -> None:
    now, before = row.get("resources") or {}, was.get("resources") or {}
    if path.startswith("spec.init") and was.get("restartPolicy") != "Always":
        if now != before:
            found.forbidden("spec", "resources for non-sidecar init containers are immutable")
        return
    for field in ("requests", "limits"):
        if (before.get(field) or {}).keys() - (now.get(field) or {}).keys():
            found.forbidden(f"{path}.resources.{field}", f"resource {field} cannot be removed")
    if _fixed(now) != _fixed(before):
        kind = "resources for sidecar containers" if path.startswith("spec.init") else "resources"
        found.forbidden("spec", f"only cpu and memory {kind} are mutable")
    _memory_limit(f"{path}.resources.limits[memory]", row, now, before, found)


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
