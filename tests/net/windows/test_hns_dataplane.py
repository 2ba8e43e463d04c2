"""The emulator's packets: pods of two Windows nodes, a Linux machine, and one outside."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from ipaddress import IPv4Address, IPv4Network

import pytest
from netlab import Lab, answered, ask, ask_udp, ping, serving

from muntin.hns.config import Switching
from muntin.kit import rtnetlink as rt
from muntin.model.windows import Feature
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.hns import Kind

SERVER_2019 = profile_of(build_named("2019"))
SERVER_2022 = profile_of(build_named("2022"))
VIP = "10.96.7.7"


def balancer(
    endpoints, *, vip=VIP, port=80, target=8080, protocol=6, flags=0, affinity=0, source=""
):
    mapping = {
        "Protocol": protocol,
        "InternalPort": target,
        "ExternalPort": port,
        "DistributionType": affinity,
    }
    return {
        "HostComputeEndpoints": [endpoint["ID"] for endpoint in endpoints],
        "FrontendVIPs": [vip] if vip else [],
        "PortMappings": [mapping],
        "Flags": flags,
    }


async def remote_endpoint(node, address):
    last = "-".join(f"{int(part):02X}" for part in address.split("."))
    return await node.hns.create(
        Kind.ENDPOINT,
        {
            "HostComputeNetwork": node.network["ID"],
            "IpConfigurations": [{"IpAddress": address}],
            "MacAddress": f"02-11-{last}",
            "Flags": 1,
        },
    )


@pytest.mark.parametrize("switching", [Switching.NETFILTER, Switching.ROUTED])
@pytest.mark.parametrize("dsr", [True, False], ids=["dsr", "snat"])
def test_services_between_pods(lab: Lab, windows_node, switching, dsr):
    async def scene():
        lab.add("outside", "172.31.0.1")
        async with (
            windows_node("win01", 11, SERVER_2022, switching) as one,
            windows_node("win02", 12, SERVER_2022, switching) as two,
        ):
            client, client_ep = await one.add_pod(10)
            near, near_ep = await one.add_pod(11)
            far, _ = await two.add_pod(12)
            far_ep = await remote_endpoint(one, two.pod_address(12))
            async with serving(near, "near"), serving(far, "far"), serving(client, "self"):
                # Without services: pods of one node, across nodes, and to and from the nodes.
                assert await ask(client, one.pod_address(11), 8080) == ("near", one.pod_address(10))
                assert await ask(client, two.pod_address(12), 8080) == ("far", one.pod_address(10))
                assert await ping(client, two.pod_address(12))
                assert await ask(one.machine.name, one.pod_address(11), 8080) == (
                    "near",
                    one.pod_address(2),
                )
                assert await ask(two.machine.name, one.pod_address(11), 8080) == (
                    "near",
                    "172.31.0.12",
                )
                assert not answered(await ask(client, VIP, 80))

                flags = 1 if dsr else 0
                await one.hns.create(Kind.LOAD_BALANCER, balancer([near_ep, far_ep], flags=flags))
                await one.hns.create(
                    Kind.LOAD_BALANCER, balancer([near_ep, far_ep], flags=flags, protocol=17)
                )
                seen = Counter([await ask(client, VIP, 80) for _ in range(40)])
                source = one.pod_address(10) if dsr else "172.31.0.11"
                assert set(seen) == {("near", source), ("far", source)}
                assert min(seen.values()) >= 8
                answers = {await ask_udp(client, VIP, 80) for _ in range(30)}
                assert answers == {("near", source), ("far", source)}
                assert not await ping(client, VIP)

                # A pod behind its own service, which needs the policy with Destinations or SNAT.
                own = balancer([client_ep], vip="10.96.7.8", flags=flags)
                await one.hns.create(Kind.LOAD_BALANCER, own)
                assert await ask(client, "10.96.7.8", 80) == ("self", "172.31.0.11")

                # The node itself meets no load balancer.
                assert not answered(await ask(one.machine.name, VIP, 80))

    asyncio.run(scene())


def test_node_ports_and_affinity(lab: Lab, windows_node):
    async def scene():
        outside = lab.add("outside", "172.31.0.1")
        async with (
            windows_node("win01", 11, SERVER_2022) as one,
            windows_node("win02", 12, SERVER_2022) as two,
        ):
            near, near_ep = await one.add_pod(11)
            far, _ = await two.add_pod(12)
            far_ep = await remote_endpoint(one, two.pod_address(12))
            client, _ = await one.add_pod(10)
            async with serving(near, "near"), serving(far, "far"):
                ends = [near_ep, far_ep]
                await one.hns.create(Kind.LOAD_BALANCER, balancer(ends, vip="", port=30080))
                answers = {await ask(outside.name, "172.31.0.11", 30080) for _ in range(20)}
                assert answers == {("near", "172.31.0.11"), ("far", "172.31.0.11")}
                assert await ask(client, "172.31.0.11", 30080) in answers
                assert await ask(one.machine.name, "172.31.0.11", 30080) == "refused"
                assert await ask(one.machine.name, "127.0.0.1", 30080) == "refused"

                await one.hns.create(Kind.LOAD_BALANCER, balancer(ends, flags=1, affinity=2))
                assert len({await ask(client, VIP, 80) for _ in range(15)}) == 1

    asyncio.run(scene())


@pytest.mark.reproduces(Feature.CNI_OUTBOUNDNAT_EXCEPTIONS, Feature.OUTBOUND_ICMP)
def test_outbound_nat_translates_tcp_but_not_ping(lab: Lab, windows_node):
    async def scene():
        outside = lab.add("outside", "172.31.0.1")
        async with windows_node("win01", 11, SERVER_2019) as one:
            plain = [
                {
                    "Type": "OutBoundNAT",
                    "Settings": {"Exceptions": ["10.244.0.0/16", "172.31.0.1/32"]},
                }
            ]
            narrow = [
                {
                    "Type": "OutBoundNAT",
                    "Settings": {"Exceptions": ["10.244.0.0/16", "10.96.0.0/12"]},
                }
            ]
            excepted, _ = await one.add_pod(10, policies=plain)
            translated, endpoint = await one.add_pod(11, policies=narrow)
            async with serving(outside.name, "outside"):
                assert await ask(excepted, "172.31.0.1", 8080) == ("outside", one.pod_address(10))
                assert await ask(translated, "172.31.0.1", 8080) == ("outside", "172.31.0.11")
                assert await ping(excepted, "172.31.0.1")
                assert not await ping(translated, "172.31.0.1")
                stats = await one.hns.call("GET", f"/endpointstats/{endpoint['ID']}")
                assert stats["BytesSent"] > 0
                assert stats["PacketsReceived"] > 0
            # From outside, pods can be pinged: that is no outbound connection.
            assert await ping(outside.name, one.pod_address(11))

    asyncio.run(scene())


def test_a_nat_network_hides_its_endpoints(lab: Lab, windows_node):
    """As Docker's default network on Windows: out as the node, in by nobody."""

    async def scene():
        outside = lab.add("outside", "172.31.0.1")
        async with windows_node("win01", 11, SERVER_2019) as one:
            subnet = {
                "IpAddressPrefix": "192.168.77.0/24",
                "Routes": [{"NextHop": "192.168.77.1", "DestinationPrefix": "0.0.0.0/0"}],
            }
            network = {"Name": "nat", "Type": "NAT", "Ipams": [{"Subnets": [subnet]}]}
            made = await one.hns.create(Kind.NETWORK, network)
            space = await one.hns.create(Kind.NAMESPACE, {})
            endpoint = await one.hns.create(
                Kind.ENDPOINT,
                {
                    "HostComputeNetwork": made["ID"],
                    "IpConfigurations": [{"IpAddress": "192.168.77.5"}],
                    "Routes": subnet["Routes"],
                },
            )
            settings = {"EndpointId": endpoint["ID"]}
            body = {"ResourceType": "Endpoint", "RequestType": "Add", "Settings": settings}
            await one.hns.modify(Kind.NAMESPACE, space["ID"], body)
            inside = one.config.netns_prefix + space["ID"].lower()
            with rt.RouteSocket(outside.name) as routes:
                hop = IPv4Address("172.31.0.11")
                routes.request(rt.route_replace(IPv4Network("192.168.77.0/24"), hop))
            async with serving(outside.name, "outside"), serving(inside, "inside"):
                assert await ask(inside, "172.31.0.1", 8080) == ("outside", "172.31.0.11")
                assert await ask_udp(inside, "172.31.0.1", 8080) == ("outside", "172.31.0.11")
                assert (await ask(one.machine.name, "192.168.77.5", 8080))[0] == "inside"
                assert await ask(outside.name, "192.168.77.5", 8080) == "lost"
            await one.hns.delete(Kind.NETWORK, made["ID"])
            assert await ask(inside, "172.31.0.1", 8080) != ("outside", "172.31.0.11")

    asyncio.run(scene())


@pytest.mark.reproduces(Feature.CNI_ROUTE_NEEDENCAP)
def test_a_pod_without_the_service_route_loses_source_nat_services(lab: Lab, windows_node):
    async def scene():
        async with windows_node("win01", 11, SERVER_2019) as one:
            back, back_ep = await one.add_pod(11)
            bare, _ = await one.add_pod(10, policies=[])
            async with serving(back, "back"):
                await one.hns.create(Kind.LOAD_BALANCER, balancer([back_ep]))
                assert not answered(await ask(bare, VIP, 80))
                await one.hns.create(Kind.LOAD_BALANCER, balancer([back_ep], port=81, flags=1))
                assert await ask(bare, VIP, 81) == ("back", one.pod_address(10))

    asyncio.run(scene())


def test_acl_policies(lab: Lab, windows_node):
    async def scene():
        async with windows_node("win01", 11, SERVER_2022) as one:
            server, endpoint = await one.add_pod(11)
            friend, _ = await one.add_pod(10)
            stranger, _ = await one.add_pod(12)
            acls = [
                {
                    "Type": "ACL",
                    "Settings": {
                        "Protocols": "6",
                        "Action": "Allow",
                        "Direction": "In",
                        "RemoteAddresses": f"{one.pod_address(10)}/32",
                        "LocalPorts": "8080",
                        "RuleType": "Switch",
                        "Priority": 200,
                    },
                },
                {
                    "Type": "ACL",
                    "Settings": {"Action": "Block", "Direction": "In", "Priority": 65500},
                },
            ]
            modify = {"ResourceType": "Policy", "Settings": {"Policies": acls}}
            change = partial(one.hns.modify, Kind.ENDPOINT, endpoint["ID"])
            async with serving(server, "server"):
                address = one.pod_address(11)
                assert answered(await ask(stranger, address, 8080))
                await change({**modify, "RequestType": "Update"})
                assert await ask(friend, address, 8080) == ("server", one.pod_address(10))
                assert await ask(stranger, address, 8080) == "lost"
                await change({**modify, "RequestType": "Remove"})
                assert answered(await ask(stranger, address, 8080))

    asyncio.run(scene())
