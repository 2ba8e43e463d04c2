"""Addresses of the pool, met from outside: for pods of both systems, and as policies say."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

import pytest
from traffic_lab import REFUSED, SILENT, eventually, service_object

from muntin.cluster.config import LOAD_BALANCER_SUBNET

ALL = {"app": "echo"}
OUTSIDE = "192.0.2.10"
KIND = {"type": "LoadBalancer"}
NO_PORTS = {"allocateLoadBalancerNodePorts": False}
LOCAL = {"externalTrafficPolicy": "Local"}
FINALIZER = "service.kubernetes.io/load-balancer-cleanup"


@pytest.fixture(scope="module")
def balanced(traffic):
    """Services with addresses of the pool, by name."""
    traffic.apply(
        service_object("lb-linux", {"pod": "l2"}, **KIND),
        service_object("lb-windows", {"pod": "w2"}, **KIND, **NO_PORTS),
        service_object("lb-all", ALL, **KIND),
        service_object("lb-local-l1", {"pod": "l1"}, **KIND, **LOCAL),
        service_object("lb-local-w1", {"pod": "w1"}, **KIND, **LOCAL),
        service_object("lb-closed", ALL, **KIND, loadBalancerSourceRanges=["198.51.100.0/24"]),
        service_object("lb-open", ALL, **KIND, loadBalancerSourceRanges=[f"{OUTSIDE}/32"]),
        service_object("lb-other", ALL, **KIND, loadBalancerClass="example.com/other"),
    )
    return traffic


def address_of(lab, name):
    """The Service's address, once it has one."""

    def found():
        status = lab.cluster.get("service", name)["status"]["loadBalancer"]
        return [row["ip"] for row in status.get("ingress") or ()]

    (address,) = eventually(found)
    return address


def ask(lab, name, source="outside", wait_s=2.0, udp=False):
    place = lab.place(source)
    return (place.udp if udp else place.tcp)(address_of(lab, name), 80, wait_s=wait_s)


def meets(lab, name, pod, source="outside", udp=False):
    wanted = lambda: ask(lab, name, source, udp=udp).startswith(f"{pod} ")  # noqa: E731
    return eventually(wanted)


@pytest.mark.parametrize(("name", "pod"), [("lb-linux", "l2"), ("lb-windows", "w2")])
@pytest.mark.parametrize("source", ["outside", "master", "lin01", "l1", "w1"])
def test_an_address_answers(balanced, name, pod, source):
    address = address_of(balanced, name)
    assert IPv4Address(address) in LOAD_BALANCER_SUBNET
    assert meets(balanced, name, pod, source)
    assert meets(balanced, name, pod, source, udp=True)


def test_traffic_spreads_over_pods_of_both_systems(balanced):
    assert eventually(lambda: ask(balanced, "lb-all") not in (SILENT, REFUSED))

    def found():
        servers = {ask(balanced, "lb-all").split()[0] for _ in range(24)}
        return {name[0] for name in servers} >= {"l", "w"} and servers

    assert eventually(found)


def test_no_port_of_the_node_is_needed(balanced):
    spec = balanced.cluster.get("service", "lb-windows")["spec"]
    assert not any("nodePort" in row for row in spec["ports"])
    assert all("nodePort" in row for row in ports(balanced, "lb-linux"))


def ports(lab, name):
    return lab.cluster.get("service", name)["spec"]["ports"]


def test_other_ports_of_an_address_are_nobodys(balanced):
    assert meets(balanced, "lb-linux", "l2")
    place = balanced.place("outside")
    assert place.tcp(address_of(balanced, "lb-linux"), 81, wait_s=0.4) == SILENT
    unused = str(IPv4Network(LOAD_BALANCER_SUBNET)[-2])
    assert place.tcp(unused, 80, wait_s=0.4) == SILENT


@pytest.mark.parametrize("pod", ["l1", "w1"])
def test_local_traffic_keeps_the_clients_address(balanced, pod):
    """Only the node with the pod gets it: the others say on the health check port that they have
    none, and the node that has one does not translate the client's address."""
    name = f"lb-local-{pod}"
    assert balanced.cluster.get("service", name)["spec"]["healthCheckNodePort"]
    assert meets(balanced, name, pod)
    wanted = {f"{pod} {OUTSIDE}"}
    assert eventually(lambda: {ask(balanced, name) for _ in range(12)} == wanted, limit_s=60)


def test_ranges_of_sources_hold_in_front_of_all_nodes(balanced):
    assert eventually(lambda: ask(balanced, "lb-open") not in (SILENT, REFUSED))
    assert {ask(balanced, "lb-closed", wait_s=0.3) for _ in range(8)} == {SILENT}


def test_a_class_is_somebody_elses(balanced):
    address_of(balanced, "lb-all")
    found = balanced.cluster.get("service", "lb-other")
    assert found["status"]["loadBalancer"] == {}
    assert not found["metadata"].get("finalizers")


def test_what_is_told_and_what_is_left_when_it_goes(balanced):
    name = "lb-goes"
    balanced.apply(service_object(name, {"pod": "l1"}, type="ClusterIP"))
    balanced.apply(service_object(name, {"pod": "l1"}, **KIND))
    address = address_of(balanced, name)
    assert meets(balanced, name, "l1")
    found = balanced.cluster.get("service", name)
    assert found["metadata"]["finalizers"] == [FINALIZER]
    balanced.apply(service_object(name, {"pod": "l1"}, type="ClusterIP"))
    assert eventually(lambda: is_plain(balanced, name))
    assert eventually(lambda: is_silent(balanced, address))
    balanced.apply(service_object(name, {"pod": "l1"}, **KIND))
    assert address_of(balanced, name) == address, "the first that is free"
    balanced.cluster.kubectl("delete", "service", name)
    reasons = ["Type", "EnsuringLoadBalancer", "EnsuredLoadBalancer", "DeletingLoadBalancer"]
    assert eventually(lambda: told(balanced, name) >= {*reasons, "DeletedLoadBalancer"})
    assert eventually(lambda: is_silent(balanced, address))


def is_silent(lab, address):
    return lab.place("outside").tcp(address, 80, wait_s=0.4) == SILENT


def is_plain(lab, name):
    found = lab.cluster.get("service", name)
    return not found["metadata"].get("finalizers") and found["status"]["loadBalancer"] == {}


def told(lab, name):
    events = lab.cluster.get("events")["items"]
    return {row["reason"] for row in events if row["involvedObject"]["name"] == name}
