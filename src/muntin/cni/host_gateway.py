"""The network of a Windows node in a host-gateway cluster, made through HNS alone.

What flanneld does on a real node: the l2bridge network ``cbr0`` on the node's pod CIDR, and the
host's endpoint at .2, attached to compartment 1. Running it again changes nothing.
"""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Network
from typing import Any

from muntin.seams.hns import HnsClient, Kind, Object, query_by_name
from muntin.seams.hns.errors import HnsAlreadyExists

NETWORK_NAME = "cbr0"
ENDPOINT_NAME = "cbr0_ep"
_POLL_S = 0.05


async def ensure_network(
    hns: HnsClient,
    pod_cidr: IPv4Network,
    *,
    name: str = NETWORK_NAME,
    adapter: str = "Ethernet",
    timeout_s: float = 5.0,
) -> Object:
    """The network, once it has a management address; one on another prefix is replaced.

    Raises:
        TimeoutError: HNS gave it no management address.
    """
    network = await query_by_name(hns, Kind.NETWORK, name)
    if network is not None and _prefix(network) != str(pod_cidr):
        await hns.delete(Kind.NETWORK, network["ID"])
        network = None
    if network is None:
        network = await hns.create(Kind.NETWORK, network_document(name, pod_cidr, adapter))
    async with asyncio.timeout(timeout_s):
        while not _management_ip(network):
            await asyncio.sleep(_POLL_S)
            network = await hns.query(Kind.NETWORK, network["ID"])
    await _ensure_host_endpoint(hns, network, pod_cidr)
    return network


def network_document(name: str, pod_cidr: IPv4Network, adapter: str) -> dict[str, Any]:
    """An l2bridge network on ``pod_cidr`` with its gateway at .1."""
    gateway = {"NextHop": str(pod_cidr.network_address + 1), "DestinationPrefix": "0.0.0.0/0"}
    return {
        "Name": name,
        "Type": "L2Bridge",
        "Policies": [{"Type": "NetAdapterName", "Settings": {"NetworkAdapterName": adapter}}],
        "Ipams": [{"Subnets": [{"IpAddressPrefix": str(pod_cidr), "Routes": [gateway]}]}],
    }


async def _ensure_host_endpoint(hns: HnsClient, network: Object, pod_cidr: IPv4Network) -> None:
    endpoint = await query_by_name(hns, Kind.ENDPOINT, ENDPOINT_NAME)
    if endpoint is None:
        settings = {
            "Name": ENDPOINT_NAME,
            "HostComputeNetwork": network["ID"],
            "IpConfigurations": [{"IpAddress": str(pod_cidr.network_address + 2)}],
            # No default route: the host has its own.
            "Routes": [{"NextHop": "0.0.0.0", "DestinationPrefix": "0.0.0.0/0"}],
        }
        endpoint = await hns.create(Kind.ENDPOINT, settings)
    try:
        body = {"SystemType": "Host", "CompartmentId": 1}
        await hns.call("POST", f"/endpoints/{endpoint['ID']}/attach", body)
    except HnsAlreadyExists:
        pass  # "This endpoint is already attached to the switch."


def _prefix(network: Object) -> str:
    subnets = [subnet for ipam in network["Ipams"] for subnet in ipam["Subnets"]]
    return str(subnets[0]["IpAddressPrefix"]) if subnets else ""


def _management_ip(network: Object) -> str:
    for policy in network.get("Policies") or ():
        if policy["Type"] == "ProviderAddress":
            return str(policy["Settings"].get("ProviderAddress") or "")
    return ""
