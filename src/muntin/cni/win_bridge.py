"""The win-bridge plugin: pods of a Windows node on an l2bridge network, through HCN (apiVersion 2).

What apiVersion 1 asks for, which builds without HCN need, is in ``win_bridge_v1``.

Idempotent: a second ADD of a sandbox finds the endpoint of the first. It knows nothing but HNS'
JSON and its IPAM plugin. Source: containernetworking/plugins v1.9.1 plugins/main/windows/win-bridge
and pkg/hns, as described in Kubernetes' and the CNI project's documentation.
"""

from __future__ import annotations

import os

from muntin.cni import addresses, delegate
from muntin.cni.hns_call import ALREADY_IN_NAMESPACE, HnsCall, HnsCallError
from muntin.cni.plugin import Orders, PluginError, main, result_in
from muntin.kit import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Object = dict[str, Any]
    Range = tuple[tuple[int, ...] | None, tuple[int, ...] | None]

SOCKET_VARIABLE = "HNS_SOCKET"
_NETWORK_TYPES = ("L2Bridge", "L2Tunnel")
_PROTOCOLS = {"tcp": 6, "udp": 17, "icmpv4": 1, "igmp": 2, "icmpv6": 58}


class WinBridge:
    """The plugin of one node. ``dsr`` are the HNS versions with direct server return."""

    def __init__(self, hns: HnsCall, dsr: tuple[Range, ...]) -> None:
        self._hns = hns
        self._dsr = dsr

    def add(self, orders: Orders) -> Object:
        if _is_v1(orders):
            from muntin.cni import win_bridge_v1

            return win_bridge_v1.add(self._hns, orders)
        conf = orders.conf
        network = self._network(conf["name"])
        name = endpoint_name(orders)
        endpoint = self._hns.find("endpoints", name)
        if endpoint and endpoint["HostComputeNetwork"].upper() != network["ID"].upper():
            self._delete_endpoint(endpoint["ID"])
            endpoint = None
        if endpoint is None:
            endpoint = self._create(orders, network, name)
        else:
            self._attach(endpoint, orders.netns)
        return self._result(orders, network, endpoint)

    def delete(self, orders: Orders) -> None:
        if _is_v1(orders):
            from muntin.cni import win_bridge_v1

            return win_bridge_v1.delete(self._hns, orders)
        conf = orders.conf
        ipam = (conf.get("ipam") or {}).get("type")
        if ipam:
            delegate.run(orders, ipam, "DEL")
        endpoint = self._hns.find("endpoints", endpoint_name(orders))
        if endpoint is None:
            return
        namespace = endpoint.get("HostComputeNamespace")
        if namespace:
            try:
                self._modify(namespace, "Remove", endpoint["ID"])
            except HnsCallError as err:
                if not err.is_not_found:
                    raise
        self._delete_endpoint(endpoint["ID"])

    def check(self, orders: Orders) -> None:
        """As upstream's, this looks at nothing."""

    def status(self, orders: Orders) -> None:
        ipam = (orders.conf.get("ipam") or {}).get("type")
        if ipam:
            delegate.run(orders, ipam, "STATUS")

    def _network(self, name: str) -> Object:
        network = self._hns.find("networks", name)
        if network is None:
            raise PluginError(
                f"error while hcn.GetNetworkByName({name}): Network name {name!r} not found"
            )
        # HCN leaves the type NAT out, the zero of its enumeration.
        kind = network.get("Type", "NAT")
        if kind not in _NETWORK_TYPES:
            wanted = " or ".join(_NETWORK_TYPES)
            raise PluginError(f"network {name} is of unexpected type: {kind}, not {wanted}")
        return dict(network)

    def _create(self, orders: Orders, network: Object, name: str) -> Object:
        conf = orders.conf
        ipam = (conf.get("ipam") or {}).get("type")
        address = gateway = None
        try:
            if ipam:
                address = _first_address(delegate.run(orders, ipam, "ADD"))
                base, length = addresses.parse_prefix(address)
                gateway = addresses.text((base & addresses.mask(length)) + 2)
            document = self._document(conf, network, name, address, gateway)
            endpoint = self._hns.create("endpoints", document)
            try:
                self._modify(orders.netns, "Add", endpoint["ID"])
            except PluginError:
                self._delete_endpoint(endpoint["ID"])
                raise
        except PluginError:
            if ipam:
                delegate.run(orders, ipam, "DEL")
            raise
        return dict(endpoint)

    def _document(
        self, conf: Object, network: Object, name: str, address: str | None, gateway: str | None
    ) -> Object:
        ip = address.partition("/")[0] if address else None
        document: Object = {
            "Name": name,
            "HostComputeNetwork": network["ID"],
            "Policies": self._policies(conf, ip),
            "Dns": _hns_dns(conf),
        }
        if ip and gateway:
            document["IpConfigurations"] = [{"IpAddress": ip}]
            document["Routes"] = [{"NextHop": gateway, "DestinationPrefix": "0.0.0.0/0"}]
        return document

    def _policies(self, conf: Object, ip: str | None) -> list[Object]:
        """The policies of the configuration, and those that its other members stand for."""
        policies = [
            item["value"]
            for item in conf.get("policies") or ()
            if str(item.get("name", "")).lower() == "endpointpolicy"
            and isinstance(item.get("value"), dict)
            and "Type" in item["value"]
        ]
        masked = conf.get("ipMasqNetwork")
        if masked and not _listed(policies, "Exceptions", masked):
            policies.append({"Type": "OutBoundNAT", "Settings": {"Exceptions": [masked]}})
        wants_loopback = conf.get("loopbackDSR") and ip
        if wants_loopback and not _listed(policies, "Destinations", ip) and self._has_dsr():
            policies.append({"Type": "OutBoundNAT", "Settings": {"Destinations": [ip]}})
        runtime = conf.get("runtimeConfig") or {}
        for mapping in runtime.get("portMappings") or ():
            policies += _port_mapping(mapping)
        return policies

    def _has_dsr(self) -> bool:
        version = self._hns.call("GET", "/globals/version")
        has = (version["Major"], version["Minor"])
        return any(
            (low is None or has >= low) and (high is None or has[: len(high)] <= high)
            for low, high in self._dsr
        )

    def _attach(self, endpoint: Object, namespace: str) -> None:
        if str(endpoint.get("HostComputeNamespace") or "").upper() == namespace.upper():
            return
        try:
            self._modify(namespace, "Add", endpoint["ID"])
        except HnsCallError as err:
            if err.hresult != ALREADY_IN_NAMESPACE:
                raise

    def _modify(self, namespace: str, request_type: str, endpoint_id: str) -> None:
        request = {
            "ResourceType": "Endpoint",
            "RequestType": request_type,
            "Settings": {"EndpointId": endpoint_id},
        }
        self._hns.call("POST", f"/v2/namespaces/{namespace}/modify", request)

    def _delete_endpoint(self, endpoint_id: str) -> None:
        try:
            self._hns.call("DELETE", f"/v2/endpoints/{endpoint_id}")
        except HnsCallError as err:
            if not err.is_not_found:
                raise

    def _result(self, orders: Orders, network: Object, endpoint: Object) -> Object:
        subnet = network["Ipams"][0]["Subnets"][0]["IpAddressPrefix"]
        length = subnet.partition("/")[2]
        ip = endpoint["IpConfigurations"][0]["IpAddress"]
        dns = endpoint.get("Dns") or {}
        routes = endpoint.get("Routes") or [{}]
        result: Object = {
            "interfaces": [{"name": endpoint["Name"], "mac": endpoint["MacAddress"]}],
            "ips": [{"address": f"{ip}/{length}"}],
            "dns": {
                "nameservers": dns.get("ServerList") or [],
                "domain": dns.get("Domain") or "",
                "search": dns.get("Search") or [],
                "options": dns.get("Options") or [],
            },
        }
        if routes[0].get("NextHop"):
            result["ips"][0]["gateway"] = routes[0]["NextHop"]
        return result_in(orders.version, result)


def endpoint_name(orders: Orders) -> str:
    """One name for all containers of a pod: the sandbox and the network."""
    _, colon, sandbox = orders.netns.partition(":")
    in_sandbox = colon and orders.netns not in ("", "none")
    return f"{sandbox if in_sandbox else orders.container_id}_{orders.conf['name']}"


def _is_v1(orders: Orders) -> bool:
    """Whether HNS is spoken to in version 1: unless the configuration says 2."""
    return bool(orders.conf.get("apiVersion") != 2)


def _first_address(result: Object | None) -> str:
    document = result or {}
    if document.get("ips"):
        return str(document["ips"][0]["address"])
    if document.get("ip4"):
        return str(document["ip4"]["ip"])
    raise PluginError("IPAM plugin returned missing IP config")


def _hns_dns(conf: Object) -> Object:
    """The configured DNS, each list replaced by the runtime's where that has one."""
    static = conf.get("dns") or {}
    runtime = (conf.get("runtimeConfig") or {}).get("dns") or {}
    return {
        "Domain": static.get("domain") or "",
        "Search": runtime.get("searches") or static.get("search") or [],
        "ServerList": runtime.get("servers") or static.get("nameservers") or [],
        "Options": static.get("options") or [],
    }


def _listed(policies: list[Object], key: str, value: str | None) -> bool:
    return any(
        policy["Type"] == "OutBoundNAT" and value in ((policy.get("Settings") or {}).get(key) or ())
        for policy in policies
    )


def _port_mapping(mapping: Object) -> list[Object]:
    name = str(mapping.get("protocol", "tcp")).lower()
    protocol = numbers.int_or_none(name, 0, 255)
    protocol = _PROTOCOLS.get(name) if protocol is None else protocol
    if protocol is None:
        return []
    settings: Object = {
        "Protocol": protocol,
        "InternalPort": mapping.get("containerPort"),
        "ExternalPort": mapping.get("hostPort"),
    }
    if mapping.get("hostIP"):
        settings["VIP"] = mapping["hostIP"]
    return [{"Type": "PortMapping", "Settings": settings}]


def run(hns_socket: str, dsr: tuple[Range, ...]) -> NoReturn:
    """The program: ``HNS_SOCKET`` of the environment wins over the installed path."""
    plugin = WinBridge(HnsCall(os.environ.get(SOCKET_VARIABLE) or hns_socket), dsr)
    main(
        {
            "ADD": plugin.add,
            "DEL": plugin.delete,
            "CHECK": plugin.check,
            "STATUS": plugin.status,
        }
    )
