"""win-bridge with apiVersion 1: endpoints of HNS' older form, hot-attached to containers.

The sandbox comes with ``CNI_NETNS=none``, a workload with ``container:<sandbox>``; all containers
of a pod share the sandbox's endpoint. Source: containernetworking/plugins v0.8.6
plugins/main/windows/win-bridge and pkg/hns, as the CNI project documents them.
"""

from __future__ import annotations

from muntin.cni import addresses, delegate
from muntin.cni.hns_call import HnsCall, HnsCallError
from muntin.cni.plugin import Orders, PluginError, result_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Object = dict[str, Any]

_NETWORK_TYPES = ("l2bridge", "l2tunnel")
SANDBOX = "none"


def add(hns: HnsCall, orders: Orders) -> Object:
    """ADD. Whatever fails, the address goes back to IPAM."""
    try:
        network, endpoint = _attached(hns, orders)
    except PluginError:
        _ipam(orders, "DEL")
        raise
    return _result(orders, network, endpoint)


def _attached(hns: HnsCall, orders: Orders) -> tuple[Object, Object]:
    """The network, and the endpoint attached to the container."""
    network = _network(hns, orders.conf["name"])
    name = endpoint_name(orders)
    endpoint = _named(hns, "endpoints", name)
    if orders.netns != SANDBOX and endpoint is None:
        raise PluginError(f"failed to find HNSEndpoint {name}")
    if endpoint and endpoint["VirtualNetwork"].upper() != network["ID"].upper():
        hns.call("DELETE", f"/endpoints/{endpoint['ID']}")
        endpoint = None
    is_new = endpoint is None
    if endpoint is None:
        endpoint = dict(hns.call("POST", "/endpoints/", _document(orders, network, name)))
    try:
        _hot(hns, endpoint["ID"], "attach", orders.container_id)
    except HnsCallError:
        if is_new:
            hns.call("DELETE", f"/endpoints/{endpoint['ID']}")
        raise
    return network, endpoint


def delete(hns: HnsCall, orders: Orders) -> None:
    """DEL: a workload leaves the endpoint, with the sandbox it goes."""
    _ipam(orders, "DEL")
    endpoint = _named(hns, "endpoints", endpoint_name(orders)) if orders.netns else None
    if endpoint is None:
        return
    try:
        _hot(hns, endpoint["ID"], "detach", orders.container_id)
    except HnsCallError:
        if orders.netns != SANDBOX:
            raise
    if orders.netns == SANDBOX:
        try:
            hns.call("DELETE", f"/endpoints/{endpoint['ID']}")
        except HnsCallError as err:
            if not err.is_not_found:
                raise


def endpoint_name(orders: Orders) -> str:
    """One name for all containers of a pod: the sandbox and the network."""
    _, _, sandbox = orders.netns.partition(":")
    return f"{sandbox or orders.container_id}_{orders.conf['name']}"


def _network(hns: HnsCall, name: str) -> Object:
    network = _named(hns, "networks", name)
    if network is None:
        raise PluginError(f"error while hns.GetHNSNetworkByName({name}): Network {name} not found")
    if network["Type"].lower() not in _NETWORK_TYPES:
        raise PluginError(f"network {name} is of an unexpected type: {network['Type']}")
    return network


def _named(hns: HnsCall, kind: str, name: str) -> Object | None:
    found = [item for item in hns.call("GET", f"/{kind}/") if item.get("Name") == name]
    return dict(found[0]) if found else None


def _document(orders: Orders, network: Object, name: str) -> Object:
    conf = orders.conf
    static = conf.get("dns") or {}
    runtime = (conf.get("runtimeConfig") or {}).get("dns") or {}
    document: Object = {
        "Name": name,
        "VirtualNetwork": network["ID"],
        "DNSServerList": ",".join(runtime.get("servers") or static.get("nameservers") or []),
        "DNSSuffix": ",".join(runtime.get("searches") or static.get("search") or []),
        "Policies": _policies(conf),
    }
    result = _ipam(orders, "ADD")
    if result is not None:
        if result.get("ips"):
            address = str(result["ips"][0]["address"])
        elif result.get("ip4"):
            address = str(result["ip4"]["ip"])
        else:
            raise PluginError("IPAM plugin returned missing IP config")
        base, length = addresses.parse_prefix(address)
        document["IPAddress"] = address.partition("/")[0]
        document["GatewayAddress"] = addresses.text((base & addresses.mask(length)) + 2)
    return document


def _policies(conf: Object) -> list[Object]:
    """The policies of the configuration, and those that its other members stand for."""
    policies: list[Object] = [
        item["value"]
        for item in conf.get("policies") or ()
        if str(item.get("name", "")).lower() == "endpointpolicy" and isinstance(item["value"], dict)
    ]
    masked = conf.get("ipMasqNetwork")
    nat = [policy for policy in policies if policy.get("Type") == "OutBoundNAT"]
    if masked and not any(masked in (policy.get("ExceptionList") or ()) for policy in nat):
        policies.append({"Type": "OutBoundNAT", "ExceptionList": [masked]})
    runtime = conf.get("runtimeConfig") or {}
    for mapping in runtime.get("portMappings") or ():
        policies.append(
            {
                "Type": "NAT",
                "Protocol": str(mapping.get("protocol", "TCP")).upper(),
                "InternalPort": mapping.get("containerPort"),
                "ExternalPort": mapping.get("hostPort"),
            }
        )
    return policies


def _hot(hns: HnsCall, endpoint_id: str, verb: str, container: str) -> None:
    body = {"ContainerId": container, "SystemType": "Container", "CompartmentId": 0}
    hns.call("POST", f"/endpoints/{endpoint_id}/{verb}", body)


def _ipam(orders: Orders, command: str) -> Object | None:
    """What the IPAM plugin says; None without one. Workloads have the sandbox's address."""
    kind = (orders.conf.get("ipam") or {}).get("type")
    if not kind or orders.netns not in ("", SANDBOX):
        return None
    return delegate.run(orders, kind, command)


def _result(orders: Orders, network: Object, endpoint: Object) -> Object:
    length = network["Subnets"][0]["AddressPrefix"].partition("/")[2]
    ip: Object = {"address": f"{endpoint['IPAddress']}/{length}"}
    if endpoint.get("GatewayAddress"):
        ip["gateway"] = endpoint["GatewayAddress"]
    result: Object = {
        "interfaces": [{"name": endpoint["Name"], "mac": endpoint["MacAddress"]}],
        "ips": [ip],
        "dns": {
            "nameservers": str(endpoint.get("DNSServerList") or "").split(","),
            "search": str(endpoint.get("DNSSuffix") or "").split(","),
        },
    }
    return result_in(orders.version, result)
