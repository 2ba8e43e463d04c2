"""Node ports from the user's own shell, and the host's own network, which stays as it is."""

from __future__ import annotations

import socket
import time

import machine
import pytest
from traffic_lab import REFUSED, eventually, service_object


@pytest.mark.parametrize("pod", ["l1", "l2", "w1", "w3", "w4"])
def test_node_ports_on_the_loopback_of_the_host(traffic, pod):
    port, _ = traffic.node_ports(f"to-{pod}")
    for _ in traffic.nodes:  # each time by way of another node
        assert traffic.place("shell").tcp("127.0.0.1", port, wait_s=4).startswith(f"{pod} ")


def test_nothing_but_the_loopback_listens(traffic):
    port, _ = traffic.node_ports("to-l1")
    with socket.socket() as free:
        free.bind(("127.0.0.2", port))  # nobody else has it


def test_a_node_port_is_withdrawn_with_its_service(traffic):
    shell, port = traffic.place("shell"), 30045
    service = service_object("short-lived", {"pod": "l1"}, type="NodePort")
    service["spec"]["ports"][0]["nodePort"] = port
    traffic.apply(service)
    assert eventually(lambda: shell.tcp("127.0.0.1", port, wait_s=3).startswith("l1 "))
    traffic.cluster.kubectl("delete", "service", "short-lived")
    assert eventually(lambda: shell.tcp("127.0.0.1", port) == REFUSED)


def test_local_traffic_policy_costs_no_long_wait(traffic):
    """Five of six nodes drop the packets; the one with the pod answers all the same."""
    name = "local-for-shell"
    spec = {"type": "NodePort", "externalTrafficPolicy": "Local"}
    traffic.apply(service_object(name, {"pod": "w2"}, **spec))
    port, _ = traffic.node_ports(name)
    shell = traffic.place("shell")
    assert eventually(lambda: shell.tcp("127.0.0.1", port, wait_s=3).startswith("w2 "))
    took = []
    for _ in traffic.nodes:
        began = time.monotonic()
        assert shell.tcp("127.0.0.1", port, wait_s=20).startswith("w2 ")
        took.append(time.monotonic() - began)
    assert sorted(took)[len(took) // 2] < 1.9, "less than one full wait"


def test_a_port_that_the_host_uses_is_said_and_tried_again(traffic):
    cluster, shell, name = traffic.cluster, traffic.place("shell"), "taken"
    port = 30042
    with socket.create_server(("127.0.0.1", port)):
        service = service_object(name, {"pod": "l1"}, type="NodePort")
        service["spec"]["ports"][0]["nodePort"] = port
        traffic.apply(service)
        line = f"node port not published: the host uses it address=127.0.0.1:{port}"
        assert eventually(lambda: line in cluster.muntin("logs", "control-plane").stdout)

        def event():
            rows = cluster.get("events")["items"]
            mine = [row for row in rows if row["involvedObject"]["name"] == name]
            return [row for row in mine if row["reason"] == "NodePortNotPublished"]

        assert eventually(event)
        assert f"127.0.0.1:{port} of the host cannot be used" in event()[0]["message"]
        inside, node = traffic.place("master"), traffic.nodes["lin01"]
        answer = eventually(lambda: inside.tcp(node, port, wait_s=3).startswith("l1 "))
        assert answer, "the cluster itself has it"
    assert eventually(lambda: shell.tcp("127.0.0.1", port, wait_s=3).startswith("l1 "))


def test_the_network_of_the_host_is_what_it_was(traffic):
    """After all that the tests of traffic have done, and with the cluster up."""
    now = machine.network()
    for part, before in traffic.host_before.items():
        assert now[part] == before, part
