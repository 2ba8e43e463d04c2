"""What the cluster's edge makes of Services with addresses of its pool."""

from __future__ import annotations

import asyncio
from ipaddress import IPv4Address, IPv4Network

import pytest

from muntin.cluster import fabric_plan, load_balancer
from muntin.cluster.load_balancer import Balanced, desired, elements, health_port, ways
from muntin.cluster.settings import Draft, resolve
from muntin.kit.errors import Invalid

POOL = IPv4Network("203.0.113.0/24")
ONE = IPv4Address("203.0.113.1")
N1, N2 = IPv4Address("172.31.0.11"), IPv4Address("172.31.0.12")


def node(name, address, ready="True", **labels):
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {
            "addresses": [{"type": "InternalIP", "address": str(address)}],
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


NODES = [N1, N2]


def service(ip="203.0.113.1", **spec):
    ports = [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    return {
        "metadata": {"name": "s", "namespace": "ns"},
        "spec": {"type": "LoadBalancer", "ports": ports, **spec},
        "status": {"loadBalancer": {"ingress": [{"ip": ip}]}},
    }


def test_every_ready_node_is_a_way():
    wanted = Balanced(frozenset({("tcp", 80), ("udp", 53)}), (), (N1, N2))
    assert desired([service()], NODES, {}, POOL) == {ONE: wanted}


@pytest.mark.parametrize(
    "found",
    [
        service(ip="198.51.100.1"),  # an address of somebody else
        service(type="ClusterIP"),
        {**service(), "metadata": {"name": "s", "namespace": "ns", "deletionTimestamp": "now"}},
        {**service(), "status": {}},
    ],
)
def test_what_is_not_served(found):
    assert desired([found], NODES, {}, POOL) == {}


def test_nodes_that_are_a_way():
    label = {"node.kubernetes.io/exclude-from-external-load-balancers": ""}
    rows = [node("n2", N2), node("n1", N1)]
    assert ways(rows, {N1, N2}) == [N1, N2]
    assert ways(rows, {N2}) == [N2], "the other is simulated"
    assert ways([node("n1", N1), node("n2", "2001:db8::1"), node("n3", "here")], {N1}) == [N1]
    rows = [node("n1", N1, ready="Unknown"), node("n2", N2, **label)]
    assert ways(rows, {N1, N2}) == []
    assert desired([service()], [], {}, POOL) == {}


def test_of_a_local_service_the_nodes_that_say_that_they_have_endpoints():
    found = service(externalTrafficPolicy="Local", healthCheckNodePort=31000)
    assert health_port(found) == 31000
    assert desired([found], NODES, {}, POOL) == {}
    assert desired([found], NODES, {"ns/s": frozenset({N2})}, POOL)[ONE].gateways == (N2,)
    assert health_port(service(healthCheckNodePort=31000)) == 0


def test_ranges_are_written_without_overlaps():
    ranges = ["10.0.0.0/8", " 10.1.0.0/16", "192.0.2.1/32", "2001:db8::/32"]
    found = desired([service(loadBalancerSourceRanges=ranges)], NODES, {}, POOL)
    assert elements(found) == (
        "flush set ip balancer served\n"
        "add element ip balancer served { 203.0.113.1 . tcp . 80, 203.0.113.1 . udp . 53 }\n"
        "flush set ip balancer guarded\n"
        "add element ip balancer guarded { 203.0.113.1 }\n"
        "flush set ip balancer admitted\n"
        "add element ip balancer admitted "
        "{ 203.0.113.1 . 10.0.0.0/8, 203.0.113.1 . 192.0.2.1/32 }\n"
    )


def test_ranges_of_the_other_family_hold_nobody_back():
    found = desired([service(loadBalancerSourceRanges=["2001:db8::/32"])], NODES, {}, POOL)
    assert "add element ip balancer guarded" not in elements(found)


def test_the_pool_lies_behind_the_router():
    config = resolve(Draft(name="x", load_balancer_subnet="198.51.100.0/28"))
    routes = {(row.place, str(row.destination)): str(row.gateway)
              for row in fabric_plan.plan(config).routes}  # fmt: skip
    assert routes["outside", "198.51.100.0/28"] == "192.0.2.1"
    with pytest.raises(Invalid, match=r"loadBalancerSubnet: 192\.0\.2\.0/25 overlaps"):
        resolve(Draft(name="x", load_balancer_subnet="192.0.2.0/25"))


@pytest.mark.parametrize(
    ("answer", "good"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", True),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", False),
        (b"x" * 400_000, False),
        (b"", False),
        (b"\r\n", False),
        (b"200\n", False),
    ],
    ids=["healthy", "unhealthy", "no end of line", "nothing", "empty line", "one word"],
)
def test_a_health_port_may_say_anything(answer, good):
    async def main():
        async def serve(reader, writer):
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await load_balancer._is_healthy(IPv4Address("127.0.0.1"), port)

    assert asyncio.run(main()) is good
