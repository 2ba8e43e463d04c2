"""Validation of resources that are asked for a whole pod.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validatePodResources).
"""

from __future__ import annotations

from muntin.model import quantity
from muntin.model.pods import is_sidecar
from muntin.model.validation.amounts import pod_resource_name, resource_requirements
from muntin.model.validation.findings import Findings, Object
from muntin.model.windows import Feature, gate


def pod_resources(spec: Object, path: str, found: Findings) -> None:
    """Pod-level requests and limits: enough for what the containers ask for."""
    here, resources = f"{path}.resources", spec["resources"]
    if (spec.get("os") or {}).get("name") == "windows":
        message = gate(Feature.FORBIDS_RESOURCES).message.removeprefix("Forbidden: ")
        found.forbidden(here, message)
        return
    if resources.get("claims") is not None:
        found.forbidden(f"{here}.claims", "claims cannot be set for Resources at pod-level")
    resource_requirements(resources, here, found, name_rule=pod_resource_name)
    requests = resources.get("requests") or {}
    for name, asked in _aggregate(spec).items():
        if name not in requests:
            continue
        if name not in requests:
            continue
        own = quantity.parse(str(requests[name]))
        if asked.nano > own.nano:
            found.invalid(
                f"{here}.requests[{name}]",
                str(own),
                f"must be greater than or equal to aggregate container requests of {asked}",
            )
    limits = resources.get("limits") or {}
    for index, row in enumerate(spec.get("containers") or ()):
        for name, text in ((row.get("resources") or {}).get("limits") or {}).items():
            limit = limits.get(name)
            if limit is not None and quantity.compare(text, limit) > 0:
                found.invalid(
                    f"{here}.containers[{index}][{name}].limits",
                    text,
                    f"must be less than or equal to pod limits of {limit}",
                )


def _aggregate(spec: Object) -> dict[str, quantity.Quantity]:
    """What the containers ask for together; the largest of what runs at one time."""
    total: dict[str, quantity.Quantity] = {}
    for row in spec.get("containers") or ():
        _add(total, row)
    sidecars: dict[str, quantity.Quantity] = {}
    peak: dict[str, quantity.Quantity] = {}
    for row in spec.get("initContainers") or ():
        if is_sidecar(row):
            _add(total, row)
            _add(sidecars, row)
            now = sidecars
        else:
            now = dict(sidecars)
            _add(now, row)
        for name, value in now.items():
            if name not in peak or value.nano > peak[name].nano:
                peak[name] = value
    for name, value in peak.items():
        if name not in total or value.nano > total[name].nano:
            total[name] = value
    return total


def _add(total: dict[str, quantity.Quantity], row: Object) -> None:
    for name, text in ((row.get("resources") or {}).get("requests") or {}).items():
        more = quantity.parse(text)
        have = total.get(name)
        total[name] = (
            more if have is None else quantity.Quantity(have.nano + more.nano, have.format)
        )
