"""Networks: L2Bridge and NAT ones are carried out, the other types are refused by name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from muntin.hns import policies
from muntin.hns.dataplane import NetworkOrder
from muntin.hns.host import Host, address, members
from muntin.hns.store import Record
from muntin.model.windows import Feature, is_open
from muntin.seams.hns import Kind, Object
from muntin.seams.hns.errors import failure

TYPES = (
    "NAT", "ICS", "Internal", "Private", "Transparent", "L2Bridge", "L2Tunnel", "Overlay",
    "Layered",
)  # fmt: skip
CARRIED_OUT = ("NAT", "L2Bridge")
_SPELLED = {name.lower(): name for name in TYPES}
_KEEP_GATEWAY_FREE = 1  # of a subnet's Flags
_DISABLE_HOST_PORT = 1024  # of a network's


def create(host: Host, document: Object) -> Record:
    """Make a network and its virtual switch."""
    kind = _type(document.get("Type"))
    name = document.get("Name")
    if not isinstance(name, str) or not name:
        raise failure("INVALID_NETWORK", "Name is missing.")
    if any(record.document.get("Name") == name for record in host.store.all(Kind.NETWORK)):
        raise failure("NETWORK_ALREADY_EXISTS")
    network_id = host.new_id(Kind.NETWORK, document.get("ID"))
    _check_flags(host, document)
    document = {
        **document,
        "ID": network_id,
        "Type": kind,
        "Policies": _policies(host, document),
        "MacPool": document.get("MacPool") or _mac_pool(network_id),
        "Ipams": _ipams(host, document),
    }
    record = Record(network_id, document, {"CreatedAt": host.clock.now(), "TotalEndpoints": 0})
    host.dataplane.add_network(order(record))
    host.store.put(Kind.NETWORK, record)
    return record


def delete(host: Host, record: Record) -> None:
    """Remove a network whose endpoints are gone."""
    host.dataplane.remove_network(order(record))
    host.store.remove(Kind.NETWORK, record.id)


def modify(host: Host, record: Record, request: Object) -> None:
    """Add, remove or replace policies; other resource types are refused."""
    if request.get("ResourceType") not in ("Policy", None):
        raise failure("REQUEST_UNSUPPORTED", f"{request.get('ResourceType')}.")
    settings = request.get("Settings") or {}
    given = policies.check(settings.get("Policies"), policies.NETWORK_POLICIES, host.profile)
    record.document["Policies"] = policies_after(
        record.document["Policies"], given, str(request.get("RequestType"))
    )
    host.store.put(Kind.NETWORK, record)


def policies_after(current: list[Object], given: list[Object], request_type: str) -> list[Object]:
    """The list after a modify request: Add appends, Remove takes equal ones, Update replaces.

    Update replaces all policies of the types it brings and leaves the others.
    """
    if request_type == "Add":
        return [*current, *given]
    if request_type == "Remove":
        return [policy for policy in current if policy not in given]
    if request_type in ("Update", "Refresh"):
        kinds = {policy["Type"] for policy in given}
        return [policy for policy in current if policy["Type"] not in kinds] + given
    raise failure("REQUEST_UNSUPPORTED", f"{request_type}.")


def order(record: Record) -> NetworkOrder:
    """What the machine has to hold for this network."""
    found = list(subnets(record))
    return NetworkOrder(
        id=record.id,
        is_nat=record.document["Type"] == "NAT",
        subnets=tuple(prefix for prefix, _ in found),
        gateways=tuple(gateway for _, gateway in found if gateway is not None),
        mac=_mac_range(record)[0],
    )


def subnets(record: Record) -> Iterator[tuple[IPv4Network, IPv4Address | None]]:
    """(prefix, gateway) of every subnet."""
    for ipam in record.document["Ipams"]:
        for subnet in ipam["Subnets"]:
            prefix = IPv4Network(subnet["IpAddressPrefix"])
            yield prefix, default_gateway(subnet)


def default_gateway(subnet: Object) -> IPv4Address | None:
    """The next hop of a subnet's default route."""
    for route in subnet.get("Routes") or ():
        if route.get("DestinationPrefix") in ("0.0.0.0/0", "::/0", None, ""):
            return IPv4Address(route["NextHop"])
    return None


def reserved(record: Record) -> set[IPv4Address]:
    """Addresses that no endpoint may have: base, broadcast and (unless freed) gateway."""
    found: set[IPv4Address] = set()
    for ipam in record.document["Ipams"]:
        for subnet in ipam["Subnets"]:
            prefix = IPv4Network(subnet["IpAddressPrefix"])
            found |= {prefix.network_address, prefix.broadcast_address}
            gateway = default_gateway(subnet)
            if gateway and not int(subnet.get("Flags") or 0) & _KEEP_GATEWAY_FREE:
                found.add(gateway)
    return found


def management_ip(host: Host, record: Record) -> str:
    """The host's address on the uplink; empty while a new network is still being bound."""
    if host.clock.now() < record.meta["CreatedAt"] + host.management_ip_delay_s:
        return ""
    interface = host.dataplane.management_address()
    return str(interface.ip) if interface else ""


def free_mac(host: Host, record: Record) -> str:
    """The next address of the pool that no endpoint of the network has."""
    low, high = (int(text.replace("-", ""), 16) for text in _mac_range(record))
    size = high - low
    start = int(record.meta["TotalEndpoints"])
    for step in range(size):
        # The pool's first address is the switch's own.
        text = f"{low + 1 + (start + step) % size:012X}"
        mac = "-".join(text[at : at + 2] for at in range(0, 12, 2))
        if not host.directory.has_mac(record.id.upper(), mac):
            return mac
    raise failure("E_FAIL", "The MAC address pool is exhausted.")


def _mac_range(record: Record) -> tuple[str, str]:
    pool = record.document["MacPool"]["Ranges"][0]
    return pool["StartMacAddress"], pool["EndMacAddress"]


def _mac_pool(network_id: str) -> Object:
    """4096 addresses of the prefix that Hyper-V uses, chosen by the network's identity."""
    digest = hashlib.sha256(network_id.upper().encode()).digest()
    head = f"00-15-5D-{digest[0]:02X}-{digest[1] >> 4:X}"
    pool = {"StartMacAddress": f"{head}0-00", "EndMacAddress": f"{head}F-FF"}
    return {"Ranges": [pool]}


def _type(value: object) -> str:
    kind = _SPELLED.get(value.lower()) if isinstance(value, str) else None
    if kind is None:
        raise failure("INVALID_NETWORK_TYPE", f"{value}.")
    if kind not in CARRIED_OUT:
        supported = " and ".join(CARRIED_OUT)
        raise failure("REQUEST_UNSUPPORTED", f"{kind} networks are not emulated, only {supported}.")
    return kind


def _check_flags(host: Host, document: Object) -> None:
    flags = int(document.get("Flags") or 0)
    if flags & _DISABLE_HOST_PORT and not is_open(Feature.DISABLE_HOST_PORT, host.profile):
        raise failure("REQUEST_UNSUPPORTED", "Networks without a host port.")


def _policies(host: Host, document: Object) -> list[Object]:
    checked = policies.check(document.get("Policies"), policies.NETWORK_POLICIES, host.profile)
    for policy in checked:
        nested = policy["Settings"].get("PolicyType") == "NESTEDIPSET"
        if nested and not is_open(Feature.NESTED_IP_SET, host.profile):
            raise failure("INVALID_POLICY", "Nested sets are not supported by this build.")
        name = policy["Settings"].get("NetworkAdapterName")
        if policy["Type"] == "NetAdapterName" and name and name not in host.adapters:
            raise failure("ADAPTER_NOT_FOUND", f"{name}.")
    return checked


def _ipams(host: Host, document: Object) -> list[Object]:
    ipams = []
    for ipam in members(document, "Ipams"):
        subnets_ = [_subnet(host, subnet) for subnet in members(ipam, "Subnets")]
        ipams.append({**ipam, "Type": ipam.get("Type") or "Static", "Subnets": subnets_})
    return ipams


def _subnet(host: Host, subnet: Any) -> Object:
    try:
        prefix = IPv4Network(subnet["IpAddressPrefix"])
    except (KeyError, TypeError, ValueError) as err:
        raise failure("E_INVALIDARG", "A subnet has no usable IpAddressPrefix.") from err
    for route in members(subnet, "Routes"):
        address(route.get("NextHop"))
    checked = policies.check(subnet.get("Policies"), policies.SUBNET_POLICIES, host.profile)
    return {**subnet, "IpAddressPrefix": str(prefix), "Policies": checked}
