"""Validation of a pod's status.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePodStatusUpdate).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.pods import is_sidecar
from muntin.model.validation.addresses import dual_stack
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name
from muntin.model.validation.pod_annotations import pod_annotations_update

_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_HEALTH = ("Healthy", "Unhealthy", "Unknown")


def pod_status(new: Object, old: Object, found: Findings) -> None:
    """A pod whose status was to change."""
    annotations = new["metadata"].get("annotations") or {}
    pod_annotations_update(annotations, old["metadata"].get("annotations") or {}, found)
    status, before = new.get("status") or {}, old.get("status") or {}
    for index, row in enumerate(status.get("conditions") or ()):
        if row.get("type") not in _SYSTEM_CONDITIONS:
            label_name(row.get("type") or "", f"status.conditions[{index}].Type", found)
        _generation(row, f"status.conditions[{index}]", found)
    _generation(status, "status", found)
    spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    if spec.get("nodeName") != old_spec.get("nodeName"):
        found.forbidden("status.nodeName", "may not be changed directly")
    node = status.get("nominatedNodeName")
    if node and node != before.get("nominatedNodeName"):
        found.each_invalid("status.nominatedNodeName", node, names.dns1123_subdomain(node))
    if status.get("qosClass") and before.get("qosClass"):
        found.immutable("status.qosClass", status["qosClass"], before["qosClass"])
    for field in _STATUSES:
        _transitions(field, status, before, old_spec, found)
    _claim_statuses(status, spec, found)
    _addresses(status, found)
    for field in _STATUSES:
        _users(status.get(field) or (), spec, f"status.{field}", found)
    for field in _STATUSES:
        _allocated(status.get(field) or (), spec, field, found)


def _generation(holder: Object, path: str, found: Findings) -> None:
    seen = holder.get("observedGeneration") or 0
    if seen < 0:
        found.invalid(f"{path}.observedGeneration", seen, "must be a non-negative integer")


def _transitions(field: str, status: Object, before: Object, spec: Object, found: Findings) -> None:
    """What has ended and will not be started again stays ended."""
    policy = "Never" if field.startswith("ephemeral") else spec.get("restartPolicy")
    if policy == "Always":
        return
    now = {row.get("name"): row for row in status.get(field) or ()}
    sidecars = {row.get("name") for row in spec.get("initContainers") or () if is_sidecar(row)}
    for index, row in enumerate(before.get(field) or ()):
        ended = (row.get("state") or {}).get("terminated")
        if ended is None or (ended.get("exitCode") and policy == "OnFailure"):
            continue
        if field.startswith("init") and row.get("name") in sidecars:
            continue
        other = now.get(row.get("name"))
        if other is not None and (other.get("state") or {}).get("terminated") is None:
            found.forbidden(
                f"status.{field}[{index}].state", "may not be transitioned to non-terminated state"
            )


def _claim_statuses(status: Object, spec: Object, found: Findings) -> None:
    known = {row.get("name") for row in spec.get("resourceClaims") or ()}
    seen: set[Any] = set()
    for index, row in enumerate(status.get("resourceClaimStatuses") or ()):
        here, name = f"status.resourceClaimStatuses[{index}]", row.get("name") or ""
        path = f"{here}.name"
        if name not in known:
            text = "must match the name of an entry in `spec.resourceClaims`"
            found.invalid(path, name, text)
        found.unique(path, name, seen)
        claim = row.get("resourceClaimName")
        if claim is not None:
            problems = names.dns1123_subdomain(claim)
            found.each_invalid(f"{here}.resourceClaimName", claim, problems)


def _addresses(status: Object, found: Findings) -> None:
    for field in ("podIPs", "hostIPs"):
        rows = status.get(field) or ()
        ips = [row.get("ip") or "" for row in rows]
        path = f"status.{field}"
        if field == "hostIPs" and rows and status.get("hostIP") != ips[0]:
            found.invalid(f"{path}[0].ip", ips[0], "must be equal to `hostIP`")
        for index, ip in enumerate(ips):
            found.each_invalid(f"{path}[{index}]", ip, names.ip_address(ip))
        if len(rows) < 2:
            continue
        if len(rows) > 2 or not dual_stack(ips):
            found.invalid(path, rows, "may specify no more than one IP for each IP family")


def _users(rows: Any, spec: Object, path: str, found: Findings) -> None:
    system = (spec.get("os") or {}).get("name") or "linux"
    for index, row in enumerate(rows):
        user = (row.get("user") or {}).get("linux")
        here = f"{path}[{index}].linux"
        if user is None:
            continue
        if system == "windows":
            found.forbidden(here, "cannot be set for a windows pod")
            continue
        for field in ("uid", "gid"):
            found.each_invalid(f"{here}.{field}", user.get(field), names.user_id(user.get(field)))
        for number, group in enumerate(user.get("supplementalGroups") or ()):
            found.each_invalid(f"{here}.supplementalGroups[{number}]", group, names.user_id(group))


def _allocated(rows: Any, spec: Object, field: str, found: Findings) -> None:
    kind = {"containerStatuses": "containers", "initContainerStatuses": "initContainers"}.get(field)
    specs = {row.get("name"): row for row in (spec.get(kind) or () if kind else ())}
    for index, row in enumerate(rows):
        given = row.get("allocatedResourcesStatus")
        path = f"status.{field}[{index}].allocatedResourcesStatus"
        if not given:
            continue
        if kind is None:
            found.forbidden(path, "must not be specified in container status")
            continue
        for number, one in enumerate(given):
            _health(one, specs.get(row.get("name")), f"{path}[{number}]", found)


def _health(one: Object, container: Object | None, path: str, found: Findings) -> None:
    name = one.get("name") or ""
    if container is not None:
        resources = container.get("resources") or {}
        if name.startswith("claim:"):
            pairs = [(row.get("name"), row.get("request")) for row in resources.get("claims") or ()]
            known = {f"claim:{claim}/{part}" if part else f"claim:{claim}" for claim, part in pairs}
            text = (
                "must match one of the container's resource claims in a format "
                "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
            )
        else:
            known = set(resources.get("requests") or ())
            text = "must match one of the container's resource requests"
        if name not in known:
            found.invalid(f"{path}.name", name, text)
    seen: set[Any] = set()
    for number, row in enumerate(one.get("resources") or ()):
        here, health = f"{path}.resources[{number}]", row.get("health") or ""
        if health not in _HEALTH:
            found.not_supported(f"{here}.health", health, _HEALTH)
        found.unique(f"{here}.resourceID", row.get("resourceID") or "", seen)
