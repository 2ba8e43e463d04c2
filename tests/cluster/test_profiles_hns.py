"""What HNS of each Windows release can: one request to the real process on either side of the edge.

The sides are typed by hand from hcsshim's hcnglobals.go and the releases' HNS versions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from profile_lab import ProfileLab

from muntin.model.windows import Feature
from muntin.seams.hns import Kind
from muntin.seams.hns.client import UnixHnsClient
from muntin.seams.hns.errors import HnsFailure

Act = Callable[[UnixHnsClient], Awaitable[Any]]


async def _cbr0(hns: UnixHnsClient) -> str:
    found = await hns.call("GET", "/networks/")
    return str(next(item["ID"] for item in found if item["Name"] == "cbr0"))


def endpoint(*policies: Any, **more: Any) -> Act:
    """An endpoint with version 1's flat policies is made and goes."""

    async def act(hns: UnixHnsClient) -> None:
        network = await _cbr0(hns)
        body = {"Name": "edge", "VirtualNetwork": network, "Policies": list(policies), **more}
        made = await hns.call("POST", "/endpoints/", body)
        await hns.call("DELETE", f"/endpoints/{made['ID']}")

    return act


def network(*policies: Any, **more: Any) -> Act:
    """So is a network."""

    async def act(hns: UnixHnsClient) -> None:
        body = {"Name": "edge", "Type": "L2Bridge", "Policies": list(policies), **more}
        made = await hns.call("POST", "/networks/", body)
        await hns.call("DELETE", f"/networks/{made['ID']}")

    return act


def balancer(elb: Any, and_then: Callable[[UnixHnsClient, str], Awaitable[None]] | None) -> Act:
    """So is a policy list, in front of a remote endpoint."""

    async def act(hns: UnixHnsClient) -> None:
        body = {
            "VirtualNetwork": await _cbr0(hns),
            "IPAddress": "10.244.200.9",
            "MacAddress": "02-11-0A-F4-C8-09",
            "IsRemoteEndpoint": True,
        }
        behind = await hns.call("POST", "/endpoints/", body)
        elb_ = {"Type": "ELB", "Protocol": 6, "InternalPort": 80, "ExternalPort": 80, **elb}
        document = {"References": [f"/endpoints/{behind['ID']}"], "Policies": [elb_]}
        try:
            made = await hns.call("POST", "/policylists/", document)
            try:
                if and_then:
                    await and_then(hns, made["ID"])
            finally:
                await hns.call("DELETE", f"/policylists/{made['ID']}")
        finally:
            with suppress(HnsFailure):
                await hns.call("DELETE", f"/endpoints/{behind['ID']}")

    return act


async def _change(hns: UnixHnsClient, balancer_id: str) -> None:
    document = await hns.query(Kind.LOAD_BALANCER, balancer_id)
    await hns.modify(
        Kind.LOAD_BALANCER, balancer_id, {"RequestType": "Update", "Settings": document}
    )


async def _hcn(hns: UnixHnsClient) -> None:
    await hns.enumerate(Kind.NETWORK)


async def _version(hns: UnixHnsClient) -> None:
    await hns.call("GET", "/globals/version")


async def _accelnet(hns: UnixHnsClient) -> None:
    await hns.call("GET", "/accelnet")


async def _slash32(hns: UnixHnsClient) -> None:
    where = next(n for n in await hns.call("GET", "/networks/") if n["Name"] == "cbr0")
    address = where["Subnets"][0]["AddressPrefix"].replace(".0/24", ".250")
    await endpoint(IPAddress=address, PrefixLength=32)(hns)


def acl(**more: Any) -> Any:
    return {"Type": "ACL", "Action": "Allow", "Direction": "In", "Priority": 200, **more}


VIP = {"VIPs": ["10.96.250.250"]}
SETS = {"Type": "SetPolicy", "Name": "s", "Id": "s", "Values": "10.0.0.1", "PolicyType": "IPSET"}
# Row: what is asked, where it works, where it does not, and (part of) what is said there.
EDGES: dict[Feature, tuple[Act, str, str, str]] = {
    Feature.HNS_VERSION_QUERY: (_version, "w1803 w1809", "w2016 w1709", "Element not found"),
    Feature.HCN_V2: (_hcn, "w1809 w1903", "w1709 w1803", "no HCN"),
    Feature.ACL_LISTS: (
        endpoint(acl(LocalPorts="80,81")),
        "w1803 w1809",
        "w2016 w1709",
        "lists are not supported by this build",
    ),
    Feature.ACL_PROTOCOL_252: (
        endpoint(acl(Protocols="252")),
        "w20h2 w2022",
        "w1809 w2004",
        "protocol 252 is not supported by this build",
    ),
    Feature.REMOTE_SUBNET: (
        network({"Type": "RemoteSubnetRoute", "DestinationPrefix": "10.9.0.0/24"}),
        "w1809 w1903",
        "w1803",
        "RemoteSubnetRoute is not supported by this build",
    ),
    Feature.HOST_ROUTE: (network({"Type": "HostRoute"}), "w1809", "w1803", "HostRoute is not"),
    Feature.DSR: (balancer({"IsDSR": True, **VIP}, None), "w1809 w2004", "w1803 w1903 w1909", ""),
    Feature.SLASH32_ENDPOINTS: (_slash32, "w1809 w2004", "w1803 w1903 w1909", "no /32 prefix"),
    Feature.VXLAN_PORT: (
        network({"Type": "VxlanPort", "Port": 8472}),
        "w2004 w20h2",
        "w1809 w1909",
        "VxlanPort is not supported by this build",
    ),
    Feature.SET_POLICY: (network(SETS), "w2022", "w20h2", "SetPolicy is not supported"),
    Feature.L4_PROXY: (
        endpoint({"Type": "PROXY", "Port": "15001"}),
        "w1809 w2004 w2022",
        "w1803 w1903 w20h2",
        "L4Proxy is not supported by this build",
    ),
    Feature.L4_WFP_PROXY: (endpoint({"Type": "L4WFPPROXY"}), "w2022 w23h2", "w20h2", "L4WFPPROXY"),
    Feature.TIER_ACL: (endpoint({"Type": "TierAcl"}), "w23h2 w2025", "w2022", "TierAcl is not"),
    Feature.NETWORK_ACL: (network({"Type": "NetworkACL"}), "w2025", "w23h2 w2022", "NetworkACL is"),
    Feature.NESTED_IP_SET: (
        network({**SETS, "PolicyType": "NESTEDIPSET"}),
        "w2025",
        "w2022 w23h2",
        "Nested sets are not supported by this build",
    ),
    Feature.DISABLE_HOST_PORT: (network(Flags=1024), "w2025", "w23h2", "without a host port"),
    Feature.MODIFY_LOAD_BALANCER: (balancer(VIP, _change), "w2025", "w23h2 w1809", ""),
    Feature.ACCELNET: (_accelnet, "w2025", "w23h2", "accelnet"),
}


@pytest.mark.reproduces(
    Feature.HNS_VERSION_QUERY,
    Feature.HCN_V2,
    Feature.ACL_LISTS,
    Feature.ACL_PROTOCOL_252,
    Feature.REMOTE_SUBNET,
    Feature.HOST_ROUTE,
    Feature.DSR,
    Feature.SLASH32_ENDPOINTS,
    Feature.VXLAN_PORT,
    Feature.SET_POLICY,
    Feature.L4_PROXY,
    Feature.L4_WFP_PROXY,
    Feature.TIER_ACL,
    Feature.NETWORK_ACL,
    Feature.NESTED_IP_SET,
    Feature.DISABLE_HOST_PORT,
    Feature.MODIFY_LOAD_BALANCER,
    Feature.ACCELNET,
)
@pytest.mark.parametrize("feature", EDGES, ids=str)
def test_hns_does_what_its_release_can(profiles: ProfileLab, feature: Feature):
    act, works, fails, words = EDGES[feature]
    for node in works.split():
        profiles.hns(node, act)
    for node in fails.split():
        with pytest.raises(HnsFailure) as caught:
            profiles.hns(node, act)
        assert words in caught.value.message, node


@pytest.mark.reproduces(Feature.IPV6_DUAL_STACK)
def test_a_second_address_is_refused_for_the_reason_of_the_release(profiles: ProfileLab):
    async def two(hns: UnixHnsClient) -> None:
        addresses = [{"IpAddress": "10.244.0.250"}, {"IpAddress": "fd00::250"}]
        settings = {"HostComputeNetwork": await _cbr0(hns), "IpConfigurations": addresses}
        await hns.create(Kind.ENDPOINT, settings)

    for node, words in (("w20h2", "one address an endpoint"), ("w2022", "IPv6 is not emulated")):
        with pytest.raises(HnsFailure, match=words):
            profiles.hns(node, two)


def test_the_mark_names_all_of_them():
    (mark,) = [
        one for one in test_hns_does_what_its_release_can.pytestmark if one.name == "reproduces"
    ]
    assert set(mark.args) == set(EDGES)
