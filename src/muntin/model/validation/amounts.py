"""Validation of quantities of resources: requests, limits, capacities.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateContainerResources...).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.model import names, quantity
from muntin.model.validation.findings import NOT_NEGATIVE, Findings, Object

STANDARD = frozenset({"cpu", "memory", "ephemeral-storage", "storage"})
_HUGE_PAGES = "hugepages-"


def resource_list(values: Mapping[str, Any] | None, path: str, found: Findings) -> None:
    """A map from resource names to quantities that are not negative."""
    for name, text in (values or {}).items():
        amount(text, f"{path}[{name}]", found)


def amount(text: str, path: str, found: Findings) -> None:
    """One quantity that is not negative."""
    if quantity.parse(text).nano < 0:
        found.invalid(path, text, NOT_NEGATIVE)


def _container_resource(name: str, text: str, path: str, found: Findings) -> None:
    here = f"{path}[{name}]"
    problems = names.qualified_name(name)
    found.each_invalid(path, name, problems)
    if not problems and "/" not in name and name not in STANDARD:
        if not name.startswith(_HUGE_PAGES):
            found.invalid(path, name, "must be a standard resource for containers")
    elif "/" in name and quantity.parse(text).nano % 10**9:
        found.invalid(here, text, "must be an integer")
    amount(text, here, found)


def resource_requirements(resources: Object, path: str, found: Findings) -> None:
    """Limits and requests of a container: no request above its limit."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, text in limits.items():
        _container_resource(name, text, f"{path}.limits", found)
    for name, text in requests.items():
        here = f"{path}.requests"
        _container_resource(name, text, here, found)
        limit = limits.get(name)
        if limit is None:
            if "/" in name:
                found.required(
                    f"{path}.limits", "Limit must be set for non overcommitable resources"
                )
            continue
        overcommits = name in STANDARD
        order = quantity.compare(text, limit)
        if not overcommits and order:
            found.invalid(here, text, f"must be equal to {name} limit of {limit}")
        elif overcommits and order > 0:
            found.invalid(here, text, f"must be less than or equal to {name} limit of {limit}")
