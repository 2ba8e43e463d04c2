"""Validation of priority classes, runtime classes, leases and bindings.

Source: kubernetes v1.34 pkg/apis/{scheduling,node,coordination}/validation/validation.go;
pkg/apis/core/validation/validation.go (ValidatePodBinding).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.amounts import resource_requirements
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_map
from muntin.model.validation.placement import tolerations
from muntin.model.validation.pod import PREEMPTION

_MAX_USER_PRIORITY = 1_000_000_000
_SYSTEM = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_SYSTEM_PREFIX = "system-"


def priority_class(obj: Object, found: Findings) -> None:
    """A priority class: those below ``system-`` are the cluster's own."""
    name, value = obj["metadata"].get("name") or "", obj.get("value") or 0
    if name.startswith(_SYSTEM_PREFIX):
        problem = _system_problem(name, value, obj)
        if problem:
            found.forbidden(
                "metadata.name",
                f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use "
                f"only. error: {problem}",
            )
    elif value > _MAX_USER_PRIORITY:
        text = f"maximum allowed value of a user defined priority is {_MAX_USER_PRIORITY}"
        found.forbidden("value", text)
    policy = obj.get("preemptionPolicy")
    if policy is not None:
        found.one_of("preemptionPolicy", policy, PREEMPTION)


def _system_problem(name: str, value: int, obj: Object) -> str:
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if value != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    return (
        f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""
    )


def priority_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed priority class keeps its value."""
    if (new.get("value") or 0) != (old.get("value") or 0):
        found.forbidden("value", "may not be changed in an update.")
    found.immutable("preemptionPolicy", new.get("preemptionPolicy"), old.get("preemptionPolicy"))


def runtime_class(obj: Object, found: Findings) -> None:
    """A runtime class: its handler, what it costs, and which nodes have it."""
    handler = obj.get("handler") or ""
    if not handler and found.has("immutable-classes"):
        found.required("handler")
    else:
        found.each_invalid("handler", handler, names.dns1123_label(handler))
    fixed = (obj.get("overhead") or {}).get("podFixed")
    if fixed:
        resource_requirements({"limits": fixed}, "overhead", found)
    scheduling = obj.get("scheduling")
    if scheduling is None:
        return
    label_map(scheduling.get("nodeSelector"), "scheduling.nodeSelector", found)
    rows: list[Any] = scheduling.get("tolerations") or []
    tolerations(rows, "scheduling.tolerations", found)
    for index, row in enumerate(rows):
        if row in rows[:index]:
            found.duplicate(f"scheduling.tolerations[{index}]", row)


def runtime_class_update(new: Object, old: Object, found: Findings) -> None:
    """A changed runtime class keeps its handler, and the rest of it is right."""
    if found.has("immutable-classes"):
        runtime_class(new, found)
    found.immutable("handler", new.get("handler"), old.get("handler"))


def lease(obj: Object, found: Findings) -> None:
    """A lease."""
    spec = obj.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        found.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    found.not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))
