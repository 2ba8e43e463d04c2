"""From which ranges Services get their addresses: those of the ServiceCIDRs that are ready.

Source: kubernetes v1.34 pkg/registry/core/service/ipallocator/cidrallocator.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DEFAULT = "kubernetes"
"""The ServiceCIDR with the range of the configuration."""


def ready(service_cidrs: Iterable[Mapping[str, Any]], own_range: str) -> list[str]:
    """The ranges of ``service_cidrs`` that are ready; the default one first.

    ``own_range``, that of the configuration, counts until the default ServiceCIDR is there.
    """
    found = {obj["metadata"]["name"]: obj for obj in service_cidrs}
    first = [] if DEFAULT in found else [own_range]
    names = sorted(found, key=lambda name: (name != DEFAULT, name))
    specs = [found[name].get("spec") or {} for name in names if is_ready(found[name])]
    return [*first, *(text for spec in specs for text in spec.get("cidrs") or ())]


def is_ready(service_cidr: Mapping[str, Any]) -> bool:
    """Whether it gives out addresses: also where no controller has said so yet."""
    if service_cidr["metadata"].get("deletionTimestamp"):
        return False
    conditions = (service_cidr.get("status") or {}).get("conditions") or ()
    states = [row.get("status") for row in conditions if row.get("type") == "Ready"]
    return states in ([], ["True"])
