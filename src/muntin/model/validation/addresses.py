"""Validation of addresses and address ranges, and of the kinds that are made of them.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateNonSpecialIP),
pkg/apis/networking/validation/validation.go (ValidateIPAddress, ValidateServiceCIDR).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

_IPV6_LINK_LOCAL_MULTICAST = ipaddress.ip_network("ff02::/16")
_IPV4_LINK_LOCAL_MULTICAST = ipaddress.ip_network("224.0.0.0/24")


def is_ipv6(value: str) -> bool:
    """Whether a valid address or range is of IPv6."""
    return ":" in value


def dual_stack(values: Iterable[str]) -> bool:
    """Whether valid addresses or ranges are of both families, and each is of one."""
    return len({is_ipv6(value) for value in values}) == 2


def special(ip: str, path: str, found: Findings) -> None:
    """An address that another machine can stand behind."""
    if not names.is_ip(ip):
        found.invalid(path, ip, "must be a valid IP address")
        return
    address = ipaddress.ip_address(ip)
    if address.is_unspecified:
        found.invalid(path, ip, f"may not be unspecified ({ip})")
    if address.is_loopback:
        found.invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        found.invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    block = _IPV6_LINK_LOCAL_MULTICAST if is_ipv6(ip) else _IPV4_LINK_LOCAL_MULTICAST
    if address in block:
        found.invalid(
            path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        )


def cidr(value: str, path: str, found: Findings) -> None:
    """A range such as ``10.9.8.0/24``."""
    found.each_invalid(path, value, names.cidr(value))


def ip_address_object(obj: Object, found: Findings) -> None:
    """An IPAddress: whose it is."""
    parent = (obj.get("spec") or {}).get("parentRef")
    path = "spec.parentRef"
    if parent is None:
        found.required(path)
        return
    if parent.get("group"):
        problems = names.dns1123_subdomain(parent["group"])
        found.each_invalid(f"{path}.group", parent["group"], problems)
    for field in ("resource", "name", "namespace"):
        value = parent.get(field)
        if value:
            found.each_invalid(f"{path}.{field}", value, names.path_segment(value))
        elif field != "namespace":
            found.required(f"{path}.{field}")


def ip_address_update(new: Object, old: Object, found: Findings) -> None:
    """A changed IPAddress is still of the same owner."""
    ip_address_object(new, found)
    after, before = ((obj.get("spec") or {}).get("parentRef") for obj in (new, old))
    found.immutable("spec.parentRef", after, before)


def service_cidr(obj: Object, found: Findings) -> None:
    """A ServiceCIDR: one range, or one of each family."""
    path, blocks = "spec.cidrs", (obj.get("spec") or {}).get("cidrs") or ()
    if not blocks:
        found.required(path, "at least one CIDR required")
        return
    if len(blocks) > 2:
        found.invalid(path, obj["spec"], "may only hold up to 2 values")
        return
    if len(blocks) == 2 and (any(map(names.cidr, blocks)) or not dual_stack(blocks)):
        found.invalid(
            path,
            obj["spec"],
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
            "2001:db8::/64",
        )
        return
    for index, block in enumerate(blocks):
        cidr(block, f"{path}[{index}]", found)


def service_cidr_update(new: Object, old: Object, found: Findings) -> None:
    """A changed ServiceCIDR has the same ranges; one of the other family may be added."""
    after, before = ((obj.get("spec") or {}).get("cidrs") or [] for obj in (new, old))
    added = len(before) == 1 and len(after) == 2
    if len(after) != len(before) and not added:
        found.immutable("spec.cidrs", after, before)
        return
    for index, cidr in enumerate(before):
        found.immutable(f"spec.cidrs[{index}]", after[index], cidr)
    if added:
        service_cidr(new, found)
