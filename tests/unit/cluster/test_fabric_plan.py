"""The fabric as values, and the routes that follow the nodes."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest

from muntin.cluster import fabric_plan, load_balancer, publish, routes
from muntin.cluster.settings import Draft, resolve


def plan():
    return fabric_plan.plan(resolve(Draft(name="x")))


def test_places_and_addresses():
    fabric = plan()
    assert fabric.places == ("switch", "tor", "outside", "master", "lin01", "win01", "win02")
    assert {wire.near.place: str(wire.near.address) for wire in fabric.wires[:-1]} == {
        "tor": "172.31.0.1/24",
        "master": "172.31.0.10/24",
        "lin01": "172.31.0.11/24",
        "win01": "172.31.0.12/24",
        "win02": "172.31.0.13/24",
    }
    last = fabric.wires[-1]
    assert (str(last.near.address), str(last.far.address)) == ("192.0.2.1/24", "192.0.2.10/24")


def test_ports_fit_the_kernel_and_macs_are_unique():
    fabric = plan()
    links = [(end.place, end.link) for wire in fabric.wires for end in (wire.near, wire.far)]
    assert len(set(links)) == len(links)
    assert all(len(link) < 16 for _, link in links)
    macs = [end.mac for wire in fabric.wires for end in (wire.near, wire.far) if end.mac]
    assert len(set(macs)) == len(macs)
    windows = next(wire.near for wire in fabric.wires if wire.near.place == "win01")
    assert windows.mac == "00:15:5d:1f:00:0c"


def test_everybody_goes_out_through_the_router():
    fabric = plan()
    defaults = {
        route.place: str(route.gateway)
        for route in fabric.routes
        if route.destination == fabric_plan.ANYWHERE
    }
    nodes = dict.fromkeys(("master", "lin01", "win01", "win02"), "172.31.0.1")
    assert defaults == {**nodes, "tor": "192.0.2.10"}


def node(name, cidr, address="172.31.0.11", ready="True", os="linux"):
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/os": os}},
        "spec": {"podCIDR": cidr} if cidr else {},
        "status": {
            "addresses": [
                {"type": "Hostname", "address": name},
                {"type": "InternalIP", "address": address},
            ],
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


PODS = IPv4Network("10.244.0.0/16")


def test_routes_lead_to_other_nodes_only():
    nodes = [node("a", "10.244.0.0/24"), node("b", "10.244.1.0/24", "172.31.0.12"), node("c", "")]
    plan = routes.plan(nodes, PODS)
    a = {IPv4Network("10.244.0.0/24"): IPv4Address("172.31.0.11")}
    b = {IPv4Network("10.244.1.0/24"): IPv4Address("172.31.0.12")}
    assert [plan.table(place) for place in ("tor", "a", "c")] == [{**a, **b}, b, {**a, **b}]
    assert plan.problems == {}


def test_a_node_without_address_has_no_route():
    bare = {"metadata": {"name": "a"}, "spec": {"podCIDR": "10.244.0.0/24"}}
    assert routes.plan([bare], PODS).ways == {}


def strange_nodes():
    """Nodes as a hostile kubelet may write them, each with what is said of it."""
    rows = [{"addresses": [row]} for row in STRANGE_ROWS]
    rows += [{}, {"addresses": None}, {"addresses": [], "conditions": [{}]}]
    return [
        *({"metadata": {"name": "x"}, "spec": {"podCIDR": "10.244.9.0/24"}, "status": row}
          for row in rows),
        {"metadata": {"name": "x"}},
        {"metadata": {"name": "x"}, "spec": None, "status": None},
        *(node("x", cidr, "172.31.0.19") for cidr in STRANGE_CIDRS),
    ]  # fmt: skip


STRANGE_ROWS = [
    None, {}, {"type": "InternalIP"}, {"address": "172.31.0.19"},
    {"type": "InternalIP", "address": ""}, {"type": "InternalIP", "address": None},
    {"type": "InternalIP", "address": "x"}, {"type": "InternalIP", "address": "::1"},
    {"type": "InternalIP", "address": "::ffff:127.0.0.1"},
    {"type": "InternalIP", "address": "1" * 5000}, {"type": "Hostname", "address": "x"},
]  # fmt: skip
STRANGE_CIDRS = [
    "fd00::/64", "x", "10.244.9.1/24", "10.244.9.0/99", "0.0.0.0/0", "10.0.0.0/8", "10.244.0.0/25",
    "192.168.0.0/24", "1" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("strange", strange_nodes())
def test_a_strange_node_changes_nothing_for_others(strange):
    good = node("a", "10.244.0.0/24")
    without_strange = routes.plan([good], PODS)
    assert routes.plan([strange, good], PODS).ways == without_strange.ways
    assert "172.31.0.11" in publish.ready_addresses([strange, good])
    real = [IPv4Address("172.31.0.11")]
    assert load_balancer.ways([strange, good], real) == real


def test_why_a_node_has_no_routes_is_logged():
    nodes = [
        node("a", "10.244.0.0/24"),
        node("b", "fd00::/64"),
        node("c", "10.244.0.0/25"),
        node("d", "0.0.0.0/0"),
    ]
    problems = routes.plan(nodes, PODS).problems
    assert sorted(problems) == ["b", "c", "d"]
    assert "overlaps that of node a" in problems["c"]
    assert "not part of 10.244.0.0/16" in problems["d"]


def test_tcp_node_ports_are_published():
    service = {
        "metadata": {"name": "s"},
        "spec": {
            "ports": [
                {"port": 80, "nodePort": 30080, "protocol": "TCP"},
                {"port": 53, "nodePort": 30053, "protocol": "UDP"},
                {"port": 81},
            ]
        },
    }
    assert list(publish.node_ports([service, {"metadata": {}, "spec": {}}])) == [30080]


def test_ready_nodes_are_asked_linux_first():
    nodes = [
        node("w", "", "172.31.0.12", os="windows"),
        node("l", "", "172.31.0.11"),
        node("down", "", "172.31.0.13", ready="False"),
    ]
    assert publish.ready_addresses(nodes) == ["172.31.0.11", "172.31.0.12"]


class Kernel:
    """Stands for the routes of one namespace; refuses what leads by way of 172.31.0.99."""

    def __init__(self, name):
        self.done = []

    def request(self, *messages):
        refused = [message for message in messages if "172.31.0.99" in message.what]
        self.done += [message.what for message in messages if message not in refused]
        if refused:
            raise OSError(101, f"{refused[0].what}: Network is unreachable")

    def close(self):
        pass


def test_a_route_that_the_kernel_refuses_holds_no_other_up(monkeypatch, caplog):
    monkeypatch.setattr(routes, "RouteSocket", Kernel)
    kept = routes.PodRoutes(resolve(Draft(name="x")), None)
    nodes = [node("a", "10.244.0.0/24"), node("b", "10.244.1.0/24", "172.31.0.99")]
    for number, found in enumerate(nodes, 1):
        found["metadata"]["resourceVersion"] = str(number)
        kept._nodes.observe(found)
    for _ in range(2):
        kept._apply()
    good = {IPv4Network("10.244.0.0/24"): IPv4Address("172.31.0.11")}
    assert kept._written["tor"] == good
    assert any("10.244.0.0/24" in what for what in kept._sockets["tor"].done)
    logged = [row for row in caplog.records if row.message == "route refused"]
    assert len(logged) == len(kept._places)  # once in each place
    nodes[1] = node("b", "10.244.1.0/24", "172.31.0.12")
    nodes[1]["metadata"]["resourceVersion"] = "3"
    kept._nodes.observe(nodes[1])
    kept._apply()
    assert len(kept._written["tor"]) == 2
