"""HCN's verbs over version 1 of HNS, for builds of Windows that have no HCN (before 10.0.17763).

Programs that speak HCN documents use this client there: every call is an ``HNSCall`` in version 1's
flat form. What version 1 cannot say (direct server return, session affinity, ports of DSR) is left
out, as in kube-proxy's own path for such nodes.
Source: kubernetes v1.20 pkg/proxy/winkernel/hnsV1.go, hcsshim hnspolicylist.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.seams.hns import HnsClient, HnsId, Kind, Object
from muntin.seams.hns.errors import failure

_COLLECTIONS = {
    Kind.NETWORK: "networks",
    Kind.ENDPOINT: "endpoints",
    Kind.LOAD_BALANCER: "policylists",
}
_FILTERS = ("ID", "Name", "VirtualNetwork")
_REMOTE = 1
_DEFAULT_ROUTE = "0.0.0.0/0"


class V1HnsClient:
    """An ``HnsClient`` that sends nothing but version 1 to ``hns``."""

    def __init__(self, hns: HnsClient) -> None:
        self._hns = hns

    async def enumerate(self, kind: Kind, *, query_filter: Mapping[str, str] = {}) -> list[HnsId]:
        """See ``HnsClient``: version 1 gives all, which are picked from here."""
        found = await self._hns.call("GET", f"/{_COLLECTIONS[kind]}/")
        return [HnsId(item["ID"]) for item in found if _matches(item, query_filter)]

    async def create(self, kind: Kind, settings: Mapping[str, Any]) -> Object:
        """See ``HnsClient``."""
        body = _TO_V1[kind](settings)
        return _from_v1(kind, await self._hns.call("POST", f"/{_COLLECTIONS[kind]}/", body))

    async def query(self, kind: Kind, object_id: str) -> Object:
        """See ``HnsClient``."""
        return _from_v1(kind, await self._hns.call("GET", f"/{_COLLECTIONS[kind]}/{object_id}"))

    async def modify(self, kind: Kind, object_id: str, request: Mapping[str, Any]) -> None:
        """Version 1 has no such verb."""
        raise failure("REQUEST_UNSUPPORTED", "Version 1 cannot modify.")

    async def delete(self, kind: Kind, object_id: str) -> None:
        """See ``HnsClient``."""
        await self._hns.call("DELETE", f"/{_COLLECTIONS[kind]}/{object_id}")

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """See ``HnsClient``."""
        return await self._hns.call(method, path, body)


def _matches(item: Mapping[str, Any], query_filter: Mapping[str, str]) -> bool:
    return all(key in _FILTERS and item.get(key) == value for key, value in query_filter.items())


def network_to_v1(settings: Mapping[str, Any]) -> Object:
    """``settings`` of HCN as a version 1 network."""
    made: Object = {"Name": settings["Name"], "Type": settings["Type"], "Subnets": []}
    for policy in settings.get("Policies") or ():
        if policy["Type"] == "NetAdapterName":
            made["NetworkAdapterName"] = policy["Settings"]["NetworkAdapterName"]
    for ipam in settings.get("Ipams") or ():
        for subnet in ipam["Subnets"]:
            item = {"AddressPrefix": subnet["IpAddressPrefix"]}
            made["Subnets"].append({**item, **_gateway(subnet)})
    return made


def endpoint_to_v1(settings: Mapping[str, Any]) -> Object:
    """``settings`` of HCN as a version 1 endpoint."""
    made: Object = {"VirtualNetwork": settings["HostComputeNetwork"], **_gateway(settings)}
    for key in ("Name", "MacAddress"):
        if settings.get(key):
            made[key] = settings[key]
    for configuration in settings.get("IpConfigurations") or ():
        made["IPAddress"] = configuration["IpAddress"]
    if int(settings.get("Flags") or 0) & _REMOTE:
        made["IsRemoteEndpoint"] = True
    return made


def policy_list_to_v1(settings: Mapping[str, Any]) -> Object:
    """``settings`` of HCN as a policy list: one load balancer, for one port."""
    (mapping,) = settings["PortMappings"]
    balancer: Object = {
        "Type": "ELB",
        "ILB": False,
        "SourceVIP": settings.get("SourceVIP") or "",
        "Protocol": mapping["Protocol"],
        "InternalPort": mapping["InternalPort"],
        "ExternalPort": mapping["ExternalPort"],
    }
    if settings.get("FrontendVIPs"):
        balancer["VIPs"] = list(settings["FrontendVIPs"])
    references = [f"/endpoints/{item}" for item in settings["HostComputeEndpoints"]]
    return {"References": references, "Policies": [balancer]}


def _gateway(settings: Mapping[str, Any]) -> Object:
    hops = [
        route["NextHop"]
        for route in settings.get("Routes") or ()
        if route.get("DestinationPrefix") == _DEFAULT_ROUTE
    ]
    return {"GatewayAddress": hops[0]} if hops else {}


_TO_V1: Mapping[Kind, Callable[[Mapping[str, Any]], Object]] = {
    Kind.NETWORK: network_to_v1,
    Kind.ENDPOINT: endpoint_to_v1,
    Kind.LOAD_BALANCER: policy_list_to_v1,
}


def _from_v1(kind: Kind, item: Mapping[str, Any]) -> Object:
    """What readers of HCN documents look at."""
    made: Object = {"ID": item["ID"], "Name": item.get("Name", "")}
    if kind is Kind.NETWORK:
        subnets = [
            {"IpAddressPrefix": subnet["AddressPrefix"]} for subnet in item.get("Subnets") or ()
        ]
        address = {"ProviderAddress": item.get("ManagementIP") or ""}
        made |= {
            "Type": item["Type"],
            "Ipams": [{"Subnets": subnets}],
            "Policies": [{"Type": "ProviderAddress", "Settings": address}],
        }
    elif kind is Kind.ENDPOINT:
        made["HostComputeNetwork"] = item["VirtualNetwork"]
        made["IpConfigurations"] = [{"IpAddress": item.get("IPAddress", "")}]
        made["Flags"] = _REMOTE if item.get("IsRemoteEndpoint") else 0
    return made


def client_for(hns: HnsClient, *, has_hcn: bool) -> HnsClient:
    """``hns`` where the build has HCN, and else version 1 in its stead."""
    return hns if has_hcn else V1HnsClient(hns)
