"""Who reaches what, and what address the server sees: every source to every kind of target.

The expectations are those of reference pages and of Kubernetes' documentation ("Virtual IPs and
Service Proxies", "Networking on Windows"); pods hold the names of their nodes (l1 on lin01, w1 on
win01 and so on). win03 runs an older Kubernetes, without direct server return; win04 is Windows
Server 2022.
"""

from __future__ import annotations

import pytest
from traffic_lab import PORT, REFUSED, SILENT, TRAFFIC_PODS

from muntin.kit import netns
from muntin.model.windows import Feature

TARGETS = ("l1", "l2", "w1", "w2", "w3", "w4")
PODS = tuple(TRAFFIC_PODS)
NODES = ("lin01", "win01", "win03", "win04")
UNDERLAY = {"master": "172.31.0.10", "outside": "192.0.2.10"}


def gateway(lab, node):
    """The node's own address in its pod subnet: of the host's wires on Linux, its endpoint else."""
    subnet = lab.cluster.get("node", node)["spec"]["podCIDR"].rsplit(".", 1)[0]
    return f"{subnet}.{1 if node.startswith('lin') else 2}"


def own_address(lab, source, target):
    """What ``target`` sees where nothing is translated."""
    if source in TRAFFIC_PODS:
        return lab.ips[source]
    if source == TRAFFIC_PODS[target]:
        return gateway(lab, source)
    return UNDERLAY.get(source) or lab.nodes[source]


def through_vip(lab, source, target):
    node = TRAFFIC_PODS.get(source, source)
    if source == "outside":
        return REFUSED
    if source.startswith("win"):
        return SILENT  # a Windows node reaches no service address
    if source == "w3":
        return lab.nodes[node]  # no direct server return: the node translates
    if source == target:
        return lab.nodes[node] if source.startswith("w") else gateway(lab, node)
    return own_address(lab, source, target)


def through_node_port(lab, source, target, node):
    """The node that was asked answers for everybody; a Windows node does not ask itself."""
    if source == node and source.startswith("win"):
        return REFUSED
    if node == TRAFFIC_PODS[target] and node.startswith("lin"):
        return gateway(lab, node)
    return lab.nodes[node]


def probe(place, address, port, expected):
    wait_s = 0.3 if expected == SILENT else 4.0
    return {
        "tcp": place.tcp(address, port[0], wait_s=wait_s),
        "udp": place.udp(address, port[1], wait_s=wait_s),
    }


def both(target, expected):
    answer = expected if expected in (REFUSED, SILENT) else f"{target} {expected}"
    return {"tcp": answer, "udp": answer}


@pytest.mark.parametrize("source", [*PODS, *NODES, "master"])
def test_pod_addresses(traffic, source):
    place = traffic.place(source)
    seen, expected = {}, {}
    for target in TARGETS:
        address = own_address(traffic, source, target)
        expected[target] = both(target, address)
        seen[target] = probe(place, traffic.ips[target], (PORT, PORT), address)
        assert place.ping(traffic.ips[target]), f"{source} pings {target}"
    assert seen == expected


@pytest.mark.reproduces(Feature.DSR_BY_DEFAULT)
@pytest.mark.parametrize("source", [*PODS, *NODES, "master"])
def test_service_addresses(traffic, source):
    """Hairpins among them: a pod asks its own Service and is answered by itself."""
    place = traffic.place(source)
    seen, expected = {}, {}
    for target in TARGETS if not source.startswith("win") else TARGETS[:3]:
        address = through_vip(traffic, source, target)
        expected[target] = both(target, address)
        seen[target] = probe(place, traffic.vip(f"to-{target}"), (80, 80), address)
    assert seen == expected


@pytest.mark.reproduces(Feature.NODE_REACHES_OWN_NODE_PORT)
@pytest.mark.parametrize("source", ["l1", "w1", "w3", *NODES, "master", "outside"])
def test_node_ports(traffic, source):
    place = traffic.place(source)
    seen, expected = {}, {}
    for target in TARGETS:
        ports = traffic.node_ports(f"to-{target}")
        for node, address in traffic.nodes.items():
            client = through_node_port(traffic, source, target, node)
            expected[target, node] = both(target, client)
            seen[target, node] = probe(place, address, ports, client)
    assert seen == expected


def test_outside_knows_no_address_of_the_cluster(traffic):
    outside = traffic.place("outside")
    assert outside.tcp(traffic.ips["l1"], PORT) == REFUSED
    assert outside.tcp(traffic.vip("to-l1"), 80) == REFUSED
    assert outside.ping(traffic.ips["w1"], wait_s=0.3) is None


@pytest.mark.parametrize("source", ["l1", "w1", "lin01", "win01", "master"])
def test_service_addresses_answer_no_ping(traffic, source):
    assert traffic.place(source).ping(traffic.vip("to-l1"), wait_s=0.3) is None


@pytest.mark.parametrize(
    ("source", "target", "ttl"),
    [("l1", "l1b", 63), ("l1", "l2", 62), ("l1", "w1", 62), ("w1", "l1", 62), ("w1", "w2", 62)],
)
def test_every_router_takes_one_off_the_ttl(traffic, source, target, ttl):
    assert traffic.place(source).ping(traffic.ips[target]) == ttl


@pytest.mark.parametrize(("source", "target"), [("l1", "w1"), ("w1", "l1"), ("w1", "w2")])
def test_packets_of_the_whole_mtu_pass_and_no_larger(traffic, source, target):
    place, address = traffic.place(source), traffic.ips[target]
    assert place.ping(address, size=1500 - 20 - 8), "1500 bytes, unsplit"
    assert place.ping(address, size=1500 - 20 - 6, wait_s=0.3) is None
    payload = b"x" * 9000
    assert place.udp(address, PORT, data=payload, wait_s=4) == payload.decode(), "split and joined"


@pytest.mark.parametrize(("source", "target"), [("l1", "l1b"), ("l1b", "l1")])
def test_services_between_pods_of_one_node_need_no_bridge_netfilter(traffic, source, target):
    """The answer of a pod on the same node used to pass the rules by where it was off."""
    node = traffic.place("lin01")
    key = "net/bridge/bridge-nf-call-iptables"
    before = netns.read_sysctl(node.netns, key)
    try:
        if before is not None:
            netns.write_sysctls(node.netns, {key: 0})
        answer = traffic.place(source).tcp(traffic.vip(f"to-{target}"), 80)
    finally:
        if before is not None:
            netns.write_sysctls(node.netns, {key: before})
    assert answer == f"{target} {traffic.ips[source]}"
