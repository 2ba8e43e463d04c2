"""Validation of Endpoints and EndpointSlices.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateEndpointSubsets),
pkg/apis/discovery/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from muntin.model import names
from muntin.model.validation.addresses import is_ipv6, special
from muntin.model.validation.containers import PROTOCOLS
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_map, label_name

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_ENDPOINTS, _ADDRESSES, _PORTS, _TOPOLOGY, _HINTS = 1000, 100, 20000, 16, 8


def endpoints(obj: Object, found: Findings) -> None:
    """Endpoints of the core group."""
    for index, subset in enumerate(obj.get("subsets") or ()):
        path = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            found.required(path, "must specify `addresses` or `notReadyAddresses`")
        for field in ("addresses", "notReadyAddresses"):
            for at, row in enumerate(subset.get(field) or ()):
                _address(row, f"{path}.{field}[{at}]", found)
        ports = subset.get("ports") or ()
        for at, port in enumerate(ports):
            _port(port, f"{path}.ports[{at}]", len(ports) > 1, found)


def _address(row: Object, path: str, found: Findings) -> None:
    ip, node = row.get("ip") or "", row.get("nodeName")
    found.each_invalid(f"{path}.ip", ip, names.ip_address(ip))
    if row.get("hostname"):
        problems = names.dns1123_label(row["hostname"])
        found.each_invalid(f"{path}.hostname", row["hostname"], problems)
    if node is not None:
        found.each_invalid(f"{path}.nodeName", node, names.dns1123_subdomain(node))
    special(ip, f"{path}.ip", found)


def _port(port: Object, path: str, needs_name: bool, found: Findings) -> None:
    name = port.get("name")
    if name:
        found.each_invalid(f"{path}.name", name, names.dns1123_label(name))
    elif needs_name:
        found.required(f"{path}.name")
    number = port.get("port") or 0
    found.each_invalid(f"{path}.port", number, names.port_number(number))
    found.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
    if port.get("appProtocol") is not None:
        label_name(port["appProtocol"], f"{path}.appProtocol", found)


def endpoint_slice(obj: Object, found: Findings) -> None:
    """An endpoint slice."""
    kind, rows, ports = obj.get("addressType"), obj.get("endpoints") or (), obj.get("ports") or ()
    found.one_of("addressType", kind, _ADDRESS_TYPES)
    if len(ports) > _PORTS:
        found.too_many("ports", len(ports), _PORTS)
    else:
        _slice_ports(ports, found)
    if len(rows) > _ENDPOINTS:
        found.too_many("endpoints", len(rows), _ENDPOINTS)
    else:
        for index, row in enumerate(rows):
            _endpoint(row, kind, f"endpoints[{index}]", found)


def _slice_ports(ports: Any, found: Findings) -> None:
    seen: set[Any] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port.get("name") or ""
        if name:
            found.each_invalid(f"{path}.name", name, names.dns1123_label(name))
        found.unique(f"{path}.name", name, seen)
        found.one_of(f"{path}.protocol", port.get("protocol"), PROTOCOLS)
        if port.get("appProtocol") is not None:
            label_name(port["appProtocol"], f"{path}.appProtocol", found)


def _endpoint(row: Object, kind: str | None, path: str, found: Findings) -> None:
    addresses = row.get("addresses") or ()
    if not addresses:
        found.required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > _ADDRESSES:
        found.too_many(f"{path}.addresses", len(addresses), _ADDRESSES)
    for index, address in enumerate(addresses):
        if kind == "FQDN":
            _full_name(address, f"{path}.addresses[{index}]", found)
        elif kind in _ADDRESS_TYPES:
            _ip(address, kind, f"{path}.addresses[{index}]", found)
    if row.get("nodeName") is not None:
        problems = names.dns1123_subdomain(row["nodeName"])
        found.each_invalid(f"{path}.nodeName", row["nodeName"], problems)
    topology = row.get("deprecatedTopology") or row.get("topology") or {}
    if len(topology) > _TOPOLOGY:
        found.too_many(f"{path}.deprecatedTopology", len(topology), _TOPOLOGY)
    label_map(topology, f"{path}.deprecatedTopology", found)
    if row.get("hostname") is not None:
        problems = names.dns1123_label(row["hostname"])
        found.each_invalid(f"{path}.hostname", row["hostname"], problems)
    hints = row.get("hints")
    if hints:
        zones, nodes = hints.get("forZones") or (), hints.get("forNodes") or ()
        _hints(zones, f"{path}.hints.forZones", found, names.label_value)
        _hints(nodes, f"{path}.hints.forNodes", found, names.dns1123_subdomain)


def _ip(address: str, kind: str, path: str, found: Findings) -> None:
    if not names.is_ip(address) or is_ipv6(address) != (kind == "IPv6"):
        found.invalid(path, address, f"must be an {kind} address")
    special(address, path, found)


def _full_name(name: str, path: str, found: Findings) -> None:
    bare = name.removesuffix(".")
    if not name:
        found.required(path)
        return
    problems = names.dns1123_subdomain(bare)
    found.each_invalid(path, bare, problems)
    if problems:
        return
    labels = bare.split(".")
    if len(labels) < 2:
        found.invalid(path, bare, "should be a domain with at least two segments separated by dots")
        return
    for label in labels:
        found.each_invalid(path, label, names.dns1123_label(label))


def _hints(rows: Any, path: str, found: Findings, problems: Callable[[str], Sequence[str]]) -> None:
    if len(rows) > _HINTS:
        found.too_many(path, len(rows), _HINTS)
        return
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here, name = f"{path}[{index}].name", row.get("name") or ""
        found.unique(here, name, seen)
        found.each_invalid(here, name, problems(name))


def endpoint_slice_update(new: Object, old: Object, found: Findings) -> None:
    """A changed endpoint slice keeps its address type."""
    endpoint_slice(new, found)
    found.immutable("addressType", new.get("addressType"), old.get("addressType"))
