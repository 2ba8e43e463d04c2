"""The answer of ADD, in every version that plugins print.

:class:`CniResult` is a view of the current form; :func:`convert` gives the form of a version.
Source: CNI specification 1.1.0 section 5, and the older ones 0.2.0 to 0.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv6Address,
    IPv6Interface,
    ip_address,
    ip_interface,
)
from typing import Any

from muntin.kit.errors import Invalid

OLD_VERSIONS = ("0.1.0", "0.2.0")
LIST_VERSIONS = ("0.3.0", "0.3.1", "0.4.0")
CURRENT_VERSIONS = ("1.0.0", "1.1.0")
VERSIONS = (*OLD_VERSIONS, *LIST_VERSIONS, *CURRENT_VERSIONS)


@dataclass(frozen=True, slots=True)
class ResultAddress:
    """One address that the container got."""

    interface: IPv4Interface | IPv6Interface
    gateway: IPv4Address | IPv6Address | None = None


@dataclass(frozen=True, slots=True)
class CniResult:
    """What a network made of ADD; ``raw`` is the plugin's own JSON."""

    addresses: tuple[ResultAddress, ...] = ()
    interfaces: tuple[Mapping[str, Any], ...] = ()
    routes: tuple[Mapping[str, Any], ...] = ()
    dns: Mapping[str, Any] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)


def parse(document: Mapping[str, Any]) -> CniResult:
    """A view of ``document``, whichever version it is in.

    Raises:
        Invalid: an address cannot be read.
    """
    try:
        if "ips" not in document and ("ip4" in document or "ip6" in document):
            old = [document[key] for key in ("ip4", "ip6") if document.get(key)]
            addresses = tuple(_address(item["ip"], item.get("gateway")) for item in old)
            routes = tuple(route for item in old for route in item.get("routes") or ())
        else:
            items = document.get("ips") or ()
            addresses = tuple(_address(item["address"], item.get("gateway")) for item in items)
            routes = tuple(document.get("routes") or ())
        interfaces = tuple(document.get("interfaces") or ())
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise Invalid(f"CNI result: {err}") from err
    return CniResult(addresses, interfaces, routes, document.get("dns") or {}, document)


def _address(address: str, gateway: str | None) -> ResultAddress:
    if not isinstance(address, str) or not isinstance(gateway or "", str):
        raise TypeError("an address is not a string")  # numbers are addresses to `ipaddress`
    return ResultAddress(ip_interface(address), ip_address(gateway) if gateway else None)
