"""Version 1 (HNSCall): the same objects in the older, flatter documents."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from muntin.hns import endpoints, namespaces, networks, policies
from muntin.hns.host import Host, members
from muntin.hns.loadbalancers import DSR, ILB
from muntin.hns.store import Record
from muntin.model.windows import Feature, is_open
from muntin.seams.hns import Kind, Object
from muntin.seams.hns.errors import failure

if TYPE_CHECKING:
    from muntin.hns.service import Hns

_KINDS = {
    "networks": Kind.NETWORK,
    "endpoints": Kind.ENDPOINT,
    "policylists": Kind.LOAD_BALANCER,
    "namespaces": Kind.NAMESPACE,
}
_LOCAL_ROUTED_VIP = 2
_WINDOWS_EPOCH_S = 11_644_473_600
_EXTENSIONS = (
    ("E7C3B2F0-F3C5-48DF-AF2B-10FED6D72E7A", False, "Microsoft Windows Filtering Platform"),
    ("F74F241B-440F-4433-BB28-00F89EAD20D8", True, "Microsoft Azure VFP Switch Filter Extension"),
    ("430BDADD-BAB0-41AB-A369-94B67FA5BE0A", True, "Microsoft NDIS Capture"),
)


def call(hns: Hns, method: str, parts: list[str], body: Object) -> Any:
    """One HNSCall."""
    host = hns.host
    match method, parts:
        case "GET", ["globals", "version"]:
            return version(host)
        case "GET", ["accelnet", *_] if is_open(Feature.ACCELNET, host.profile):
            return []
        case "GET", ["activities" | "plugins" | "portpools"]:
            return []
        case "GET", ["endpointstats", object_id]:
            return stats(host, host.find(Kind.ENDPOINT, object_id))
    if not parts or parts[0] not in _KINDS:
        raise failure("REQUEST_UNSUPPORTED", f"{method} /{'/'.join(parts)}.")
    kind = _KINDS[parts[0]]
    match method, parts[1:]:
        case "GET", []:
            return [document(host, kind, record) for record in host.store.all(kind)]
        case "POST", []:
            return document(host, kind, create(hns, kind, body))
        case "GET", [object_id]:
            return document(host, kind, host.find(kind, object_id))
        case "DELETE", [object_id]:
            return hns.delete(kind, object_id)
        case "POST", [object_id]:
            return _update(host, kind, host.find(kind, object_id), body)
        case "POST", [object_id, verb]:
            return _act(hns, kind, object_id, verb, body)
    raise failure("REQUEST_UNSUPPORTED", f"{method} /{'/'.join(parts)}.")


def version(host: Host) -> Object:
    """The HNS version; builds before 1803 do not know the question."""
    if not is_open(Feature.HNS_VERSION_QUERY, host.profile):
        raise failure("NOT_FOUND")
    major, minor = host.profile.hns[:2]
    return {"Major": major, "Minor": minor}


def create(hns: Hns, kind: Kind, body: Object) -> Record:
    """Make an object from its version 1 document."""
    record = hns.create(kind, _FROM[kind](body))
    namespace = (body.get("Namespace") or {}).get("ID") if kind is Kind.ENDPOINT else None
    if namespace:
        endpoints.attach(hns.host, record, hns.host.find(Kind.NAMESPACE, namespace).id)
    return record


def document(host: Host, kind: Kind, record: Record) -> Object:
    """The object in version 1's form."""
    return _TO[kind](host, record)


def stats(host: Host, record: Record) -> Object:
    """Traffic counters, the same in both versions."""
    traffic = host.dataplane.traffic(record.id)
    return {
        "EndpointId": record.id,
        "InstanceId": record.id,
        "BytesReceived": traffic.bytes_received,
        "BytesSent": traffic.bytes_sent,
        "DroppedPacketsIncoming": traffic.dropped_incoming,
        "DroppedPacketsOutgoing": traffic.dropped_outgoing,
        "PacketsReceived": traffic.packets_received,
        "PacketsSent": traffic.packets_sent,
    }


def _update(host: Host, kind: Kind, record: Record, body: Object) -> Object:
    """POST on an object: its policies are replaced where the body has any."""
    if kind is Kind.ENDPOINT and "Policies" in body:
        given = [policies.from_v1(policy) for policy in members(body, "Policies")]
        checked = policies.check(given, policies.ENDPOINT_POLICIES, host.profile)
        endpoints.replace_policies(host, record, checked)
    elif kind is Kind.NETWORK and "Policies" in body:
        given = [policies.from_v1(policy) for policy in members(body, "Policies")]
        checked = policies.check(given, policies.NETWORK_POLICIES, host.profile)
        record.document["Policies"] = checked
        host.store.put(kind, record)
    elif kind not in (Kind.ENDPOINT, Kind.NETWORK):
        raise failure("REQUEST_UNSUPPORTED", "This object cannot be updated.")
    return document(host, kind, record)


def _act(hns: Hns, kind: Kind, object_id: str, verb: str, body: Object) -> Object | None:
    host, record = hns.host, hns.host.find(kind, object_id)
    if kind is Kind.ENDPOINT and verb in ("attach", "detach"):
        _attach(host, record, body) if verb == "attach" else _detach(host, record, body)
        return document(host, kind, record)
    if kind is Kind.NAMESPACE and verb in ("addresource", "removeresource"):
        data = body.get("Data") or {}
        settings = {f"{body.get('Type')}Id": data.get("ID") or data.get("Id")}
        request = {
            "ResourceType": body.get("Type"),
            "RequestType": "Add" if verb == "addresource" else "Remove",
            "Settings": settings,
        }
        namespaces.modify(host, record, request)
        return None
    raise failure("REQUEST_UNSUPPORTED", f"{verb}.")


def _attach(host: Host, record: Record, body: Object) -> None:
    if body.get("SystemType") == "Host":
        endpoints.attach(host, record, "")
        return
    container = body.get("ContainerId")
    if not container:
        raise failure("E_INVALIDARG", "ContainerId is missing.")
    if container not in record.meta["Containers"]:
        compartment = namespaces.of_container(host, container)
        if compartment is not None and endpoints.attachment(record) is None:
            endpoints.attach(host, record, compartment.id)
        record.meta["Containers"].append(container)
        host.store.put(Kind.ENDPOINT, record)


def _detach(host: Host, record: Record, body: Object) -> None:
    container = body.get("ContainerId")
    if container in record.meta["Containers"]:
        record.meta["Containers"].remove(container)
        compartment = namespaces.of_container(host, container)
        if compartment is not None and not record.meta["Containers"]:
            endpoints.detach(host, record)
        host.store.put(Kind.ENDPOINT, record)
    elif not container:
        endpoints.detach(host, record)


# -- version 1 to version 2 ----------------------------------------------------------------------


def _without(body: Object, *keys: str) -> Object:
    return {key: value for key, value in body.items() if key not in keys}


def _network_from(body: Object) -> Object:
    given = [policies.from_v1(policy) for policy in members(body, "Policies")]
    if body.get("NetworkAdapterName"):
        settings = {"NetworkAdapterName": body["NetworkAdapterName"]}
        given.append({"Type": "NetAdapterName", "Settings": settings})
    if body.get("SourceMac"):
        settings = {"SourceMacAddress": body["SourceMac"]}
        given.append({"Type": "SourceMacAddress", "Settings": settings})
    subnets = [_subnet_from(subnet) for subnet in members(body, "Subnets")]
    made = _without(
        body, "Policies", "NetworkAdapterName", "SourceMac", "Subnets", "MacPools", "ManagementIP",
        "DNSSuffix", "DNSServerList",
    )  # fmt: skip
    made |= {"Policies": given, "Ipams": [{"Type": "Static", "Subnets": subnets}]}
    if body.get("MacPools"):
        made["MacPool"] = {"Ranges": body["MacPools"]}
    return made | {"Dns": _dns_from(body)}


def _subnet_from(subnet: Object) -> Object:
    gateway = subnet.get("GatewayAddress")
    routes = [{"NextHop": gateway, "DestinationPrefix": "0.0.0.0/0"}] if gateway else []
    made = _without(subnet, "AddressPrefix", "GatewayAddress", "Policies")
    return made | {
        "IpAddressPrefix": subnet.get("AddressPrefix"),
        "Routes": routes,
        "Policies": [policies.from_v1(policy) for policy in members(subnet, "Policies")],
    }


def _dns_from(body: Object) -> Object:
    suffix, servers = body.get("DNSSuffix") or "", body.get("DNSServerList") or ""
    return {
        "Domain": suffix.split(",")[0],
        "Search": [part for part in suffix.split(",") if part],
        "ServerList": [part for part in servers.split(",") if part],
        "Options": [],
    }


def _endpoint_from(body: Object) -> Object:
    made = _without(
        body, "VirtualNetwork", "Policies", "IPAddress", "GatewayAddress", "DNSSuffix",
        "DNSServerList", "IsRemoteEndpoint", "Namespace", "PrefixLength", "SharedContainers",
    )  # fmt: skip
    made |= {
        "HostComputeNetwork": body.get("VirtualNetwork"),
        "Policies": [policies.from_v1(policy) for policy in members(body, "Policies")],
        "Flags": 1 if body.get("IsRemoteEndpoint") else 0,
    }
    if body.get("DNSSuffix") or body.get("DNSServerList"):
        made["Dns"] = _dns_from(body)
    if body.get("IPAddress"):
        length = body.get("PrefixLength") or 0
        made["IpConfigurations"] = [{"IpAddress": body["IPAddress"], "PrefixLength": length}]
    if body.get("GatewayAddress"):
        hop = body["GatewayAddress"]
        made["Routes"] = [{"NextHop": hop, "DestinationPrefix": "0.0.0.0/0"}]
    return made


def _policy_list_from(body: Object) -> Object:
    balancers = [item for item in members(body, "Policies") if item.get("Type") == "ELB"]
    if len(balancers) != 1:
        raise failure("INVALID_POLICY", "A policy list needs one ELB policy.")
    elb = balancers[0]
    references = [str(item) for item in members(body, "References")]
    if any(not item.startswith("/endpoints/") for item in references):
        raise failure("INVALID_JSON_REFERENCE")
    port_flags = (ILB if elb.get("ILB") else 0) | (
        _LOCAL_ROUTED_VIP if elb.get("LocalRoutedVip") else 0
    )
    mapping = {
        "Protocol": elb.get("Protocol"),
        "InternalPort": elb.get("InternalPort"),
        "ExternalPort": elb.get("ExternalPort"),
        "Flags": port_flags,
    }
    return _without(body, "References", "Policies") | {
        "HostComputeEndpoints": [item.removeprefix("/endpoints/") for item in references],
        "SourceVIP": elb.get("SourceVIP") or "",
        "FrontendVIPs": [vip for vip in elb.get("VIPs") or [] if vip],
        "PortMappings": [mapping],
        "Flags": DSR if elb.get("IsDSR") else 0,
    }


def _namespace_from(body: Object) -> Object:
    made = _without(body, "IsDefault", "ResourceList", "CompartmentId")
    return made | {"Type": "HostDefault" if body.get("IsDefault") else "Host"}


# -- version 2 to version 1 ----------------------------------------------------------------------

_V2_ONLY = frozenset(
    {
        "Policies", "Ipams", "MacPool", "Dns", "SchemaVersion", "HostComputeNetwork",
        "HostComputeNamespace", "IpConfigurations", "Routes", "HostComputeEndpoints", "Flags",
        "FrontendVIPs", "PortMappings", "SourceVIP", "NamespaceId", "Health",
    }
)  # fmt: skip


def _shared(record: Record) -> Object:
    return _without(record.document, *_V2_ONLY)


def _dns_to(dns: Object) -> Object:
    search = dns.get("Search") or ([dns["Domain"]] if dns.get("Domain") else [])
    servers = dns.get("ServerList") or []
    return {"DNSSuffix": ",".join(search), "DNSServerList": ",".join(servers)}


def _network_to(host: Host, record: Record) -> Object:
    document = record.document
    major, minor = host.profile.hns[:2]
    local = endpoints.of_network(host, record.id)
    filetime = int((record.meta["CreatedAt"] + _WINDOWS_EPOCH_S) * 10_000_000)
    return {
        **_shared(record),
        **_dns_to(document.get("Dns") or {}),
        "ActivityId": str(uuid.uuid5(uuid.NAMESPACE_OID, record.id)).upper(),
        "AdditionalParams": {},
        "CurrentEndpointCount": len(local),
        "Extensions": [
            {"Id": guid, "IsEnabled": enabled, "Name": name} for guid, enabled, name in _EXTENSIONS
        ],
        "Flags": document.get("Flags") or 0,
        "Health": {"LastErrorCode": 0, "LastUpdateTime": filetime},
        "IPv6": False,
        "MacPools": document["MacPool"]["Ranges"],
        "ManagementIP": networks.management_ip(host, record),
        "MaxConcurrentEndpoints": len(local),
        "NetworkAdapterName": host.adapters[0],
        "Policies": [policies.to_v1(policy) for policy in document["Policies"]],
        "State": 1,
        "Subnets": [_subnet_to(item) for ipam in document["Ipams"] for item in ipam["Subnets"]],
        "TotalEndpoints": record.meta["TotalEndpoints"],
        "Version": major << 32 | minor,
    }


def _subnet_to(subnet: Object) -> Object:
    gateway = networks.default_gateway(subnet)
    prefix = subnet["IpAddressPrefix"]
    return _without(subnet, "IpAddressPrefix", "Routes", "Policies") | {
        "AddressPrefix": prefix,
        "GatewayAddress": str(gateway) if gateway else "",
        "Policies": [policies.to_v1(policy) for policy in subnet["Policies"]],
        "ObjectType": 5,
        "State": 1,
        "IpSubnets": [{"IpAddressPrefix": prefix, "ObjectType": 6, "Flags": 3}],
    }


def _endpoint_to(host: Host, record: Record) -> Object:
    document = record.document
    configuration = document["IpConfigurations"][0]
    network = host.store.get(Kind.NETWORK, document["HostComputeNetwork"])
    routes = document.get("Routes") or []
    shown = {
        **_shared(record),
        **_dns_to(document.get("Dns") or {}),
        "VirtualNetwork": document["HostComputeNetwork"],
        "VirtualNetworkName": network.document["Name"] if network else "",
        "Policies": [policies.to_v1(policy) for policy in document["Policies"]],
        "IPAddress": configuration["IpAddress"],
        "PrefixLength": configuration["PrefixLength"],
        "GatewayAddress": routes[0]["NextHop"] if routes else "",
        "IsRemoteEndpoint": endpoints.is_remote(record),
        "SharedContainers": record.meta["Containers"],
        "State": endpoints.state(record),
    }
    namespace = host.store.get(Kind.NAMESPACE, document.get("HostComputeNamespace") or "")
    if namespace is not None:
        compartment = namespace.document["NamespaceId"]
        shown["Namespace"] = {"ID": namespace.id, "CompartmentId": compartment}
    return shown


def _policy_list_to(host: Host, record: Record) -> Object:
    document = record.document
    balancers = [
        {
            "Type": "ELB",
            "VIPs": document["FrontendVIPs"],
            "Protocol": mapping["Protocol"],
            "InternalPort": mapping["InternalPort"],
            "ExternalPort": mapping["ExternalPort"],
            "SourceVIP": document["SourceVIP"],
            "ILB": bool(mapping["Flags"] & ILB),
            "IsDSR": bool(document["Flags"] & DSR),
            "LocalRoutedVip": bool(mapping["Flags"] & _LOCAL_ROUTED_VIP),
        }
        for mapping in document["PortMappings"]
    ]
    return {
        **_shared(record),
        "References": [f"/endpoints/{item}" for item in document["HostComputeEndpoints"]],
        "Policies": balancers,
        "State": 2,
        "NetworkId": record.meta["NetworkID"],
    }


def _namespace_to(host: Host, record: Record) -> Object:
    document = record.document
    return {
        **_shared(record),
        "IsDefault": document["Type"] in ("HostDefault", "GuestDefault"),
        "CompartmentId": document["NamespaceId"],
        "ResourceList": namespaces.resources(host, record),
    }


_FROM = {
    Kind.NETWORK: _network_from,
    Kind.ENDPOINT: _endpoint_from,
    Kind.LOAD_BALANCER: _policy_list_from,
    Kind.NAMESPACE: _namespace_from,
}
_TO = {
    Kind.NETWORK: _network_to,
    Kind.ENDPOINT: _endpoint_to,
    Kind.LOAD_BALANCER: _policy_list_to,
    Kind.NAMESPACE: _namespace_to,
}
