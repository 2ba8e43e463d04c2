"""Validation of a Service's addresses: families, dual stack, headless.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go
(ValidateServiceClusterIPsRelatedFields).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.addresses import dual_stack, is_ipv6
from muntin.model.validation.findings import Findings, Object

_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_HEADLESS = "None"


def cluster_ips(spec: Object) -> list[str]:
    """``clusterIPs``, or the one that the older field names."""
    many: list[str] = list(spec.get("clusterIPs") or ())
    if many or not spec.get("clusterIP"):
        return many
    return [spec["clusterIP"]]


def is_headless(spec: Object) -> bool:
    """Whether it has no address of its own."""
    return cluster_ips(spec) == [_HEADLESS]


def families(spec: Object, found: Findings) -> None:
    """Addresses, their families, and how many there are to be."""
    if spec.get("type") == "ExternalName":
        return
    ips, one = cluster_ips(spec), spec.get("clusterIP")
    if one and ips[0] != one:
        found.invalid("spec.clusterIPs", ips, "first value must match `clusterIP`")
    elif not one and ips:
        found.invalid("spec.clusterIPs", ips, "must be empty when `clusterIP` is not specified")
    seen: set[Any] = set()
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in _FAMILIES:
            found.not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        found.unique(f"spec.ipFamilies[{index}]", family, seen)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        found.not_supported("spec.ipFamilyPolicy", policy, _POLICIES)
    if _addresses(ips, found) and not is_headless(spec):
        _of_families(ips, spec.get("ipFamilies") or (), found)


def _addresses(ips: list[str], found: Findings) -> bool:
    """Whether each is an address, so that the rest can be judged."""
    path, valid = "spec.clusterIPs", True
    for index, ip in enumerate(ips):
        if index == 0 and ip == _HEADLESS:
            if len(ips) > 1:
                valid = False
                found.invalid(path, ips, "'None' must be the first and only value")
            continue
        problems = names.ip_address(ip)
        found.each_invalid(f"{path}[{index}]", ip, problems)
        valid = valid and not problems
    if len(ips) > 2:
        found.invalid(path, ips, "may only hold up to 2 values")
    if valid and len(ips) > 1 and not dual_stack(ips):
        found.invalid(path, ips, "may specify no more than one IP for each IP family")
    return valid


def _of_families(ips: list[str], wanted: Any, found: Findings) -> None:
    for index, (ip, family) in enumerate(zip(ips, wanted, strict=False)):
        if family in _FAMILIES and is_ipv6(ip) != (family == "IPv6"):
            found.invalid(
                f"spec.clusterIPs[{index}]",
                ip,
                f"expected an {family} value as indicated by `ipFamilies[{index}]`",
            )
