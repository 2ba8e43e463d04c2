"""Endpoints: a virtual NIC on a network, or (remote) only an entry in its directory."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

from muntin.hns import networks, policies
from muntin.hns.dataplane import EndpointOrder
from muntin.hns.host import Host, address, members
from muntin.hns.store import Record
from muntin.model.windows import Feature, is_open
from muntin.seams.hns import Kind, Object
from muntin.seams.hns.errors import HnsFailure, failure

REMOTE = 1
_SINGLE = 32
_MAC = re.compile(r"[0-9A-F]{2}(-[0-9A-F]{2}){5}")
# States of version 1.
CREATED, ATTACHED, ATTACHED_SHARING, DETACHED = 1, 2, 3, 4


def is_remote(record: Record) -> bool:
    return bool(int(record.document.get("Flags") or 0) & REMOTE)


def of_network(host: Host, network_id: str) -> list[Record]:
    """The endpoints of one network, remote ones included."""
    ids = host.directory.members(network_id.upper())
    return [host.find(Kind.ENDPOINT, endpoint_id) for endpoint_id in ids]


def address_of(record: Record) -> IPv4Address:
    return IPv4Address(record.document["IpConfigurations"][0]["IpAddress"])


def create(host: Host, document: Object) -> Record:
    """Make an endpoint; addresses that the client left out are allotted."""
    network = host.find(Kind.NETWORK, document.get("HostComputeNetwork"))
    endpoint_id = host.new_id(Kind.ENDPOINT, document.get("ID"))
    remote = bool(int(document.get("Flags") or 0) & REMOTE)
    document = {
        **document,
        "ID": endpoint_id,
        "Name": document.get("Name") or (host.adapters[0] if remote else ""),
        "HostComputeNetwork": network.id,
        "HostComputeNamespace": "",
        "IpConfigurations": [_ip_configuration(host, network, document, remote)],
        "MacAddress": _mac(host, network, document.get("MacAddress")),
        "Policies": _policies(host, document, remote),
    }
    if not remote:
        document["Routes"] = _routes(network, document)
        document["Dns"] = document.get("Dns") or network.document.get("Dns") or {}
    record = Record(endpoint_id, document, {"Containers": [], "HostAttached": False})
    if not remote:
        _claim_ports(host, record)
        host.dataplane.add_endpoint(order(host, record))
    enter(host, record)
    network.meta["TotalEndpoints"] = int(network.meta["TotalEndpoints"]) + 1
    host.store.put(Kind.NETWORK, network)
    host.store.put(Kind.ENDPOINT, record)
    return record


def delete(host: Host, record: Record) -> None:
    """Remove an endpoint; load balancers that name it keep a dangling reference."""
    if not is_remote(record):
        if attachment(record) is not None:
            _detach(host, record)
        host.dataplane.remove_endpoint(order(host, record))
        host.directory.release_ports(record.id.upper())
    host.directory.leave(*_directory_entry(record))
    host.store.remove(Kind.ENDPOINT, record.id)


def modify(host: Host, record: Record, request: Object) -> None:
    """Add, remove or replace policies."""
    if request.get("ResourceType") not in ("Policy", None):
        raise failure("REQUEST_UNSUPPORTED", f"{request.get('ResourceType')}.")
    settings = request.get("Settings") or {}
    given = policies.check(settings.get("Policies"), policies.ENDPOINT_POLICIES, host.profile)
    after = networks.policies_after(
        record.document["Policies"], given, str(request.get("RequestType"))
    )
    replace_policies(host, record, after)


def replace_policies(host: Host, record: Record, after: list[Object]) -> None:
    """Give the endpoint the (checked) policies ``after``."""
    before = record.document
    old = None if is_remote(record) else order(host, record)
    record.document = {**before, "Policies": after}
    if old is not None:
        try:
            new = order(host, record)
            _claim_ports(host, record)
        except HnsFailure:
            record.document = before
            raise
        host.dataplane.change_endpoint(old, new)
    host.store.put(Kind.ENDPOINT, record)


def attachment(record: Record) -> str | None:
    """Where the endpoint has its NIC: a namespace id, "" for the host, None for nowhere."""
    namespace = record.document.get("HostComputeNamespace")
    if namespace:
        return str(namespace)
    return "" if record.meta["HostAttached"] else None


def attach(host: Host, record: Record, namespace_id: str) -> None:
    """Give the endpoint its NIC in a namespace, or ("") in the host's compartment."""
    if is_remote(record):
        raise failure("INVALID_REMOTE_ENDPOINT_OPERATION")
    if attachment(record) is not None:
        raise failure(
            "ENDPOINT_NAMESPACE_ALREADY_EXISTS" if namespace_id else "ENDPOINT_ALREADY_ATTACHED"
        )
    try:
        host.dataplane.attach(order(host, record), namespace_id)
    except OSError as err:
        raise failure("NAMESPACE_ATTACH_FAILED", f"{err}.") from err
    record.document["HostComputeNamespace"] = namespace_id
    record.meta["HostAttached"] = not namespace_id
    host.store.put(Kind.ENDPOINT, record)


def detach(host: Host, record: Record) -> None:
    """Take the NIC away; one that has none is fine."""
    if attachment(record) is not None:
        _detach(host, record)
        host.store.put(Kind.ENDPOINT, record)


def _detach(host: Host, record: Record) -> None:
    host.dataplane.detach(order(host, record), attachment(record) or "")
    record.document["HostComputeNamespace"] = ""
    record.meta |= {"HostAttached": False, "Detached": True}


def state(record: Record) -> int:
    """Version 1's state. An endpoint of a pod is always shared there."""
    if record.document.get("HostComputeNamespace") or record.meta["Containers"]:
        return ATTACHED_SHARING
    if record.meta["HostAttached"]:
        return ATTACHED
    return DETACHED if record.meta.get("Detached") else CREATED


def order(host: Host, record: Record) -> EndpointOrder:
    """What the machine has to hold for this local endpoint."""
    document = record.document
    configuration = document["IpConfigurations"][0]
    routes = []
    for route in document.get("Routes") or ():
        destination = IPv4Network(route.get("DestinationPrefix") or "0.0.0.0/0", strict=False)
        hop = IPv4Address(route["NextHop"])
        if int(hop):  # 0.0.0.0 says: no default route (the host's endpoint)
            routes.append((destination, hop))
    text = f"{configuration['IpAddress']}/{configuration['PrefixLength']}"
    return EndpointOrder(
        id=record.id,
        network_id=document["HostComputeNetwork"],
        mac=document["MacAddress"],
        address=IPv4Interface(text),
        routes=tuple(routes),
        rules=policies.rules_of(document["Policies"], host.profile),
    )


def enter(host: Host, record: Record) -> None:
    """Note the endpoint's addresses as taken."""
    host.directory.enter(*_directory_entry(record))


def _directory_entry(record: Record) -> tuple[str, str, str, IPv4Address | None]:
    document = record.document
    local = None if is_remote(record) else address_of(record)
    return document["HostComputeNetwork"].upper(), record.id, document["MacAddress"], local


def _claim_ports(host: Host, record: Record) -> None:
    rules = policies.rules_of(record.document["Policies"], host.profile)
    host.directory.claim_ports(
        record.id.upper(),
        [(item.vip, item.protocol, item.external_port) for item in rules.port_mappings],
    )


def restore(host: Host, record: Record) -> None:
    """Enter a record that the store had at start into the indexes."""
    enter(host, record)
    if not is_remote(record):
        _claim_ports(host, record)


def _ip_configuration(host: Host, network: Record, document: Object, remote: bool) -> Object:
    given = members(document, "IpConfigurations")
    if not given or not given[0].get("IpAddress"):
        if remote:
            raise failure("INVALID_IP")
        return _allot(host, network)
    if len(given) > 1:
        dual = is_open(Feature.IPV6_DUAL_STACK, host.profile)
        reason = "IPv6 is not emulated." if dual else "This build has one address an endpoint."
        raise failure("INVALID_IP", reason)
    ip = address(given[0]["IpAddress"])
    if remote:
        return {**given[0], "IpAddress": str(ip), "PrefixLength": given[0].get("PrefixLength", 0)}
    prefix = next((prefix for prefix, _ in networks.subnets(network) if ip in prefix), None)
    if prefix is None:
        raise failure("INVALID_IP")
    if ip in networks.reserved(network) or host.directory.has_local(network.id.upper(), ip):
        raise failure("ADDR_INVALID_OR_RESERVED")
    length = given[0].get("PrefixLength") or prefix.prefixlen
    if length == _SINGLE and not is_open(Feature.SLASH32_ENDPOINTS, host.profile):
        raise failure("INVALID_IP", "This build takes no /32 prefix.")
    return {**given[0], "IpAddress": str(ip), "PrefixLength": length}


def _allot(host: Host, network: Record) -> Object:
    used = networks.reserved(network)
    for prefix, _ in networks.subnets(network):
        if network.document["Type"] == "L2Bridge":
            used.add(prefix.network_address + 2)  # the host's endpoint
        for ip in prefix.hosts():
            if ip not in used and not host.directory.has_local(network.id.upper(), ip):
                return {"IpAddress": str(ip), "PrefixLength": prefix.prefixlen}
    raise failure("INVALID_IP", "No address is free.")


def _mac(host: Host, network: Record, given: Any) -> str:
    if not given:
        return networks.free_mac(host, network)
    mac = str(given).upper().replace(":", "-")
    if not _MAC.fullmatch(mac):
        raise failure("INVALID_ENDPOINT", f"{given} is not a MAC address.")
    if host.directory.has_mac(network.id.upper(), mac):
        raise failure("PORT_NOT_FOUND")
    return mac


def _policies(host: Host, document: Object, remote: bool) -> list[Object]:
    given = document.get("Policies")
    checked = policies.check(given, policies.ENDPOINT_POLICIES, host.profile)
    policies.rules_of(checked, host.profile)
    if remote and not any(policy["Type"] == "L2Driver" for policy in checked):
        checked.append({"Type": "L2Driver", "Settings": {}})
    return checked


def _routes(network: Record, document: Object) -> list[Object]:
    given = members(document, "Routes")
    for route in given:
        address(route.get("NextHop"))
    if given:
        return given
    gateways = [gateway for _, gateway in networks.subnets(network) if gateway]
    return [{"NextHop": str(gateways[0]), "DestinationPrefix": "0.0.0.0/0"}] if gateways else []
