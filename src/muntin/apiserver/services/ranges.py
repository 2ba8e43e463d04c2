"""The ranges that Services get their addresses from: those of ready ServiceCIDRs.

Source: kubernetes v1.34 pkg/registry/core/service/ipallocator/cidrallocator.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

DEFAULT = "kubernetes"
"""The ServiceCIDR with the range of the configuration."""


def ready(service_cidrs: Iterable[Mapping[str, Any]], own_range: str) -> list[str]:
    """The ranges of ``service_cidrs`` that are ready; the default one first.

    ``own_range``, the configured range, is used until the default ServiceCIDR exists.
    """
    by_name = {obj["metadata"]["name"]: obj for obj in service_cidrs}
    first = [] if DEFAULT in by_name else [own_range]
    names = sorted(by_name, key=lambda name: (name != DEFAULT, name))
    specs = [by_name[name].get("spec") or {} for name in names if is_ready(by_name[name])]
    return [*first, *(text for spec in specs for text in spec.get("cidrs") or ())]


def is_ready(service_cidr: Mapping[str, Any]) -> bool:
    """Whether addresses can be allocated from it; true if it has no condition Ready yet."""
    if service_cidr["metadata"].get("deletionTimestamp"):
        return False
    conditions = (service_cidr.get("status") or {}).get("conditions") or ()
    states = [row.get("status") for row in conditions if row.get("type") == "Ready"]
    return states in ([], ["True"])
