"""Validation of resource names and quantities: requests, limits, capacities, quotas.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateResourceRequirements and
what it calls), pkg/apis/core/helper/helpers.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import names, quantity
from muntin.model.validation.findings import NOT_NEGATIVE, Findings, Object

NANO = 10**9
NOT_POSITIVE = "must be greater than zero"
_COMPUTE = frozenset({"cpu", "memory"})
_CONTAINER = _COMPUTE | {"ephemeral-storage"}
_OBJECTS = frozenset(
    {"pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps",
     "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"}
)  # fmt: skip
_QUOTA = (
    _CONTAINER
    | _OBJECTS
    | {
        "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage",
        "limits.cpu", "limits.memory", "limits.ephemeral-storage",
    }
)  # fmt: skip
_STANDARD = _QUOTA | {"storage"}
_HUGE_PAGES = "hugepages-"
_QUOTA_HUGE_PAGES = "requests.hugepages-"
_REQUESTS = "requests."
_NATIVE = "kubernetes.io/"
_OVERCOMMIT = "Limit must be set for non overcommitable resources"

NameRule = Callable[[str, str, Findings], None]


def is_huge_page(name: str) -> bool:
    """``hugepages-2Mi`` and its like."""
    return name.startswith(_HUGE_PAGES)


def is_native(name: str) -> bool:
    """Without a domain, or in that of Kubernetes."""
    return "/" not in name or _NATIVE in name


def may_overcommit(name: str) -> bool:
    """Whether more of it may be promised than there is."""
    return is_native(name) and not is_huge_page(name)


def is_extended(name: str) -> bool:
    """A resource that devices or administrators advertise."""
    if is_native(name) or name.startswith(_REQUESTS):
        return False
    return not names.qualified_name(_REQUESTS + name)


def is_standard_quota(name: str) -> bool:
    """Counted by quotas without a domain."""
    return name in _QUOTA or name.startswith((_QUOTA_HUGE_PAGES, _HUGE_PAGES))


def is_integer(name: str) -> bool:
    """Whether only whole units of it exist."""
    return name in _OBJECTS or is_extended(name)


def resource_name(name: str, path: str, found: Findings) -> bool:
    """A resource of any kind; whether it is one."""
    problems = names.qualified_name(name)
    if problems:
        found.each_invalid(path, name, problems)
        return False
    if "/" in name or name in _STANDARD or name.startswith((_HUGE_PAGES, _QUOTA_HUGE_PAGES)):
        return True
    found.invalid(path, name, "must be a standard resource type or fully qualified")
    return False


def container_resource_name(name: str, path: str, found: Findings) -> None:
    """A resource that a container can ask for."""
    if name in _CONTAINER:
        return
    resource_name(name, path, found)
    if "/" not in name:
        if not is_huge_page(name):
            found.invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        found.invalid(path, name, "doesn't follow extended resource name standard")


def pod_resource_name(name: str, path: str, found: Findings) -> None:
    """A resource that can be asked for a whole pod."""
    if resource_name(name, path, found) and name not in _COMPUTE and not is_huge_page(name):
        found.not_supported(path, name, ("cpu", "hugepages-", "memory"))


def quota_resource_name(name: str, path: str, found: Findings) -> None:
    """A resource that a quota can limit, ``count/pods`` among them."""
    resource_name(name, path, found)
    if "/" not in name and not is_standard_quota(name):
        found.invalid(path, name, "must be a standard resource for quota")


def resource_quantity(name: str, text: str, path: str, found: Findings) -> None:
    """An amount of ``name``: not negative, and whole where only whole ones exist."""
    nano = quantity.parse(text).nano
    if nano < 0:
        found.invalid(path, text, NOT_NEGATIVE)
    if nano % NANO and is_integer(name):
        found.invalid(path, text, "must be an integer")


def amount(text: str, path: str, found: Findings) -> None:
    """One quantity that is not negative."""
    if quantity.parse(text).nano < 0:
        found.invalid(path, text, NOT_NEGATIVE)


def positive_amount(text: str, path: str, found: Findings) -> None:
    """One quantity above zero."""
    if quantity.parse(text).nano <= 0:
        found.invalid(path, text, NOT_POSITIVE)


def resource_requirements(
    resources: Object,
    path: str,
    found: Findings,
    claims: frozenset[str] = frozenset(),
    name_rule: NameRule = container_resource_name,
) -> None:
    """Limits and requests: no request above its limit; ``claims`` are the pod's, by name."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, text in limits.items():
        _one(name, text, f"{path}.limits[{name}]", found, name_rule)
    for name, text in requests.items():
        _request(name, text, limits, path, found, name_rule)
    computes = _COMPUTE & limits.keys() or _COMPUTE & requests.keys()
    if not computes and any(map(is_huge_page, (*limits, *requests))):
        found.forbidden(path, "HugePages require cpu or memory")
    if resources.get("claims"):
        _claims(resources["claims"], f"{path}.claims", found, claims)


def _one(name: str, text: str, path: str, found: Findings, name_rule: NameRule) -> None:
    name_rule(name, path, found)
    resource_quantity(name, text, path, found)
    if is_huge_page(name) and not _divides(name, text):
        found.invalid(path, text, f"{text} is not positive integer multiple of {name}")


def _request(
    name: str,
    text: str,
    limits: Mapping[str, Any],
    path: str,
    found: Findings,
    name_rule: NameRule,
) -> None:
    here = f"{path}.requests[{name}]"
    name_rule(name, here, found)
    resource_quantity(name, text, here, found)
    limit = limits.get(name)
    if limit is not None:
        order = quantity.compare(text, limit)
        if order and not may_overcommit(name):
            found.invalid(f"{path}.requests", text, f"must be equal to {name} limit of {limit}")
        elif order > 0:
            found.invalid(
                f"{path}.requests", text, f"must be less than or equal to {name} limit of {limit}"
            )
    elif not may_overcommit(name):
        found.required(f"{path}.limits", _OVERCOMMIT)
    if is_huge_page(name) and not _divides(name, text):
        found.invalid(here, text, f"{text} is not positive integer multiple of {name}")


def _divides(name: str, text: str) -> bool:
    """Whether ``text`` is a whole number of pages of the size that ``name`` ends with."""
    try:
        size = quantity.parse(name.removeprefix(_HUGE_PAGES)).nano
    except Invalid:
        return False
    return size > 0 and quantity.parse(text).nano % size == 0


def _claims(rows: Any, path: str, found: Findings, claims: frozenset[str]) -> None:
    seen: set[str] = set()
    for index, row in enumerate(rows):
        here, name, request = f"{path}[{index}]", row.get("name") or "", row.get("request") or ""
        if not name:
            found.required(here)
            continue
        if name in seen:
            found.duplicate(here, name)
        else:
            if request:
                found.each_invalid(f"{here}.request", request, names.dns1123_label(request))
            key = f"{name}/{request}" if request else name
            overlaps = not request and any(one.partition("/")[0] == name for one in seen)
            if key in seen or overlaps:
                found.duplicate(here, key)
            seen.add(key)
        if name not in claims:
            names_ = ", ".join(sorted(claims))
            tail = f": {names_}" if claims else " which is empty"
            found.not_found(
                here, name, f"must be one of the names in pod.spec.resourceClaims{tail}"
            )
