"""What Node objects say of the machines behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

# The newer label first: old kubelets set the other one alone.
_OS_LABELS = ("kubernetes.io/os", "beta.kubernetes.io/os")


def os_of(node: Mapping[str, Any]) -> str:
    """``linux`` or ``windows``; empty where the node does not say."""
    labels = node["metadata"].get("labels") or {}
    return next((str(labels[key]) for key in _OS_LABELS if labels.get(key)), "")


def addresses(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Type and text of each address that the node's status names, in order.

    A node writes its own status: rows without a type or an address are left out.
    """
    for row in (node.get("status") or {}).get("addresses") or ():
        kind, text = (row or {}).get("type"), (row or {}).get("address")
        if kind and text:
            yield str(kind), str(text)


def internal_addresses(node: Mapping[str, Any]) -> list[IPv4Address]:
    """Its internal IPv4 addresses; IPv6 and invalid addresses are left out."""
    addresses_v4 = []
    for kind, text in addresses(node):
        if kind == "InternalIP":
            try:
                addresses_v4.append(IPv4Address(text))
            except ValueError:
                continue
    return addresses_v4


def pod_subnet(node: Mapping[str, Any]) -> IPv4Network | None:
    """The range of its pods' addresses; None without one.

    Raises:
        ValueError: it is no IPv4 range.
    """
    text = (node.get("spec") or {}).get("podCIDR")
    return IPv4Network(text) if text else None
