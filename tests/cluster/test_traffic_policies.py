"""Session affinity, traffic policies, limits and clean-up, where the systems and builds differ."""

from __future__ import annotations

import pytest
from traffic_lab import PORT, REFUSED, SILENT, eventually, pod_object, service_object

from muntin.model.windows import Feature

ALL = {"app": "echo"}


def servers(place, address, port=80, *, times=24, udp=False):
    """Which pods answered that many connections."""
    ask = place.udp if udp else place.tcp
    return {ask(address, port, wait_s=4).split()[0] for _ in range(times)}


@pytest.fixture(scope="module")
def services(traffic):
    """Services over all pods; each policy has its own."""
    traffic.apply(
        service_object("spread", ALL),
        service_object("sticky", ALL, sessionAffinity="ClientIP"),
        service_object("near", ALL, internalTrafficPolicy="Local"),
        service_object("near-l2", {"pod": "l2"}, internalTrafficPolicy="Local"),
        service_object("kept-l1", {"pod": "l1"}, type="NodePort", externalTrafficPolicy="Local"),
        service_object("kept-w1", {"pod": "w1"}, type="NodePort", externalTrafficPolicy="Local"),
        service_object("kept-w3", {"pod": "w3"}, type="NodePort", externalTrafficPolicy="Local"),
    )
    for source in ("l1", "w1", "w2", "w3", "w4", "master"):
        for name in ("spread", "sticky", "kept-l1", "kept-w1", "kept-w3"):
            assert traffic.answers(source, traffic.vip(name)), f"{source} to {name}"
    assert traffic.answers("l2", traffic.vip("near-l2"))
    return traffic


@pytest.mark.parametrize("source", ["l1", "w1", "w3", "w4", "lin01", "master"])
@pytest.mark.parametrize("udp", [False, True], ids=["tcp", "udp"])
def test_a_service_spreads_over_its_pods(services, source, udp):
    assert len(servers(services.place(source), services.vip("spread"), udp=udp)) > 2


@pytest.mark.reproduces(Feature.SVC_SESSION_AFFINITY, Feature.SESSION_AFFINITY)
@pytest.mark.parametrize(
    ("source", "sticks"),
    [("l1", True), ("l2", True), ("lin01", True), ("master", True), ("w4", True), ("w1", False)],
)
def test_session_affinity_where_it_works(services, source, sticks):
    """Windows Server 2019 ignores it (HNS knows it from a later version on)."""
    found = servers(services.place(source), services.vip("sticky"))
    assert (len(found) == 1) == sticks, found


@pytest.mark.reproduces(Feature.SVC_SESSION_AFFINITY)
def test_windows_nodes_say_that_affinity_is_ignored(services):
    def messages():
        events = services.cluster.get("events")["items"]
        return [row["message"] for row in events if row["involvedObject"]["name"] == "sticky"]

    def said(node, words):
        return any(f"node {node}" in text and words in text for text in messages())

    assert eventually(lambda: said("win01", "sessionAffinity")), messages()
    assert not any("node lin" in text for text in messages())


@pytest.mark.parametrize(
    ("source", "found"),
    [("l1", {"l1", "l1b"}), ("l2", {"l2"}), ("lin01", {"l1", "l1b"}), ("w2", {"w2"})],
)
def test_internal_traffic_stays_on_the_node(services, source, found):
    assert services.answers(source, services.vip("near"))
    assert servers(services.place(source), services.vip("near")) == found


@pytest.mark.parametrize("source", ["l1", "w1", "lin01"])
def test_internal_traffic_without_a_pod_here_is_lost(services, source):
    assert services.place("l2").tcp(services.vip("near-l2"), 80).startswith("l2 ")
    place, vip = services.place(source), services.vip("near-l2")
    assert eventually(lambda: place.tcp(vip, 80, wait_s=0.4) == SILENT)


@pytest.mark.reproduces(Feature.LOCAL_TRAFFIC_POLICY_DSR)
@pytest.mark.parametrize(
    ("service", "node", "other"),
    [("kept-l1", "lin01", "lin02"), ("kept-w1", "win01", "win02"), ("kept-w3", "win03", "win01")],
)
@pytest.mark.parametrize("source", ["master", "outside"])
def test_external_traffic_stays_on_the_node_and_keeps_its_address(
    services, service, node, other, source
):
    port, udp_port = services.node_ports(service)
    place = services.place(source)
    client = {"master": "172.31.0.10", "outside": "192.0.2.10"}[source]
    pod = service.removeprefix("kept-")
    answer = f"{pod} {client}"
    assert place.tcp(services.nodes[node], port, wait_s=4) == answer
    assert place.udp(services.nodes[node], udp_port, wait_s=4) == answer
    assert place.tcp(services.nodes[other], port, wait_s=0.4) in (SILENT, REFUSED)


@pytest.mark.parametrize("source", ["l2", "w2", "lin02"])
def test_the_policy_for_external_traffic_is_not_for_service_addresses(services, source):
    for pod in ("l1", "w1"):
        answer = services.place(source).tcp(services.vip(f"kept-{pod}"), 80)
        assert answer.startswith(f"{pod} "), answer


def many_endpoints(name, address, count):
    """A slice of that many endpoints, of which only the first is a pod."""
    rows = [address, *(f"10.244.200.{number}" for number in range(1, count))]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": f"{name}-1", "labels": {"kubernetes.io/service-name": name}},
        "addressType": "IPv4",
        "ports": [{"name": "tcp", "port": PORT, "protocol": "TCP"}],
        "endpoints": [{"addresses": [row], "conditions": {"ready": True}} for row in rows],
    }


@pytest.mark.reproduces(Feature.MORE_THAN_64_BACKENDS)
def test_more_backends_than_an_old_build_of_windows_takes(traffic):
    """65 are one too many for Windows Server 2019: no load balancer at all, which events say."""
    name = "crowded"
    service = service_object(name, None, sessionAffinity="None")
    del service["spec"]["ports"][1]
    traffic.apply(service, many_endpoints(name, traffic.ips["l1"], 65))

    def reports():
        events = traffic.cluster.get("events")["items"]
        rows = [row for row in events if row["involvedObject"]["name"] == name]
        return {node for node in traffic.nodes for row in rows if node in row["message"]}

    assert eventually(lambda: reports() >= {"win01", "win02", "win03"}), reports()
    assert reports() == {"win01", "win02", "win03"}, "not the Linux nodes, not the newer build"
    vip = traffic.vip(name)
    for source in ("l2", "w4"):
        place = traffic.place(source)
        assert eventually(lambda place=place: reached(place, vip), limit_s=60)
    assert traffic.place("w1").tcp(vip, 80, wait_s=0.3) == SILENT
    # One less, and all have it.
    traffic.apply(many_endpoints(name, traffic.ips["l1"], 64))
    assert eventually(lambda: reached(traffic.place("w1"), vip, rounds=60), limit_s=60)


def reached(place, vip, rounds=400):
    """Whether one of many connections meets the only endpoint that lives."""
    return any(place.tcp(vip, 80, wait_s=0.02).startswith("l1 ") for _ in range(rounds))


@pytest.mark.parametrize("source", ["l2", "w2", "w3", "master"])
def test_udp_flows_leave_a_backend_that_is_gone(traffic, source):
    """One socket that goes on asking meets the next backend, not the hole that the first left."""
    name = f"moves-{source}"
    traffic.apply(service_object(name, {"pod": "l1"}))
    place, vip = traffic.place(source), traffic.vip(name)
    assert eventually(lambda: place.udp(vip, 80, wait_s=0.2).startswith("l1 "))
    with place.flow(vip, 80) as ask:
        assert eventually(lambda: ask().startswith("l1 "))
        traffic.apply(service_object(name, {"pod": "w1"}))
        assert eventually(lambda: ask().startswith("w1 ")), ask()


def test_udp_flows_start_when_the_service_gets_its_first_backend(traffic):
    """What was sent to a Service without backends must not stick to having none."""
    traffic.apply(service_object("later", {"pod": "nobody"}))
    place, vip = traffic.place("l2"), traffic.vip("later")
    windows = traffic.place("w2")
    assert eventually(lambda: place.udp(vip, 80, wait_s=0.2) == REFUSED), "rejected on Linux"
    with place.flow(vip, 80) as ask, windows.flow(vip, 80) as ask_there:
        assert not ask().startswith("l1 ")
        assert not ask_there().startswith("l1 ")
        traffic.apply(service_object("later", {"pod": "l1"}))
        assert eventually(lambda: ask().startswith("l1 ")), ask()
        assert eventually(lambda: ask_there().startswith("l1 ")), ask_there()


@pytest.mark.parametrize("node", ["lin01", "win01"])
def test_udp_flows_to_a_port_of_the_node_start_when_it_becomes_a_node_port(traffic, node):
    name, port = f"later-{node}", 30043 + (node == "win01")
    with traffic.place("outside").flow(traffic.nodes[node], port) as ask:
        assert ask() in (REFUSED, SILENT)
        service = service_object(name, {"pod": "l1"}, type="NodePort")
        service["spec"]["ports"][1]["nodePort"] = port
        traffic.apply(service)
        assert eventually(lambda: ask().startswith("l1 ")), ask()


def test_a_service_without_backends(traffic):
    """Refused on Linux; on Windows the packets are nobody's and get lost."""
    traffic.apply(service_object("empty", {"pod": "nobody"}))
    vip = traffic.vip("empty")
    assert eventually(lambda: traffic.place("l1").tcp(vip, 80, wait_s=0.3) == REFUSED)
    assert traffic.place("lin01").tcp(vip, 80, wait_s=0.3) == REFUSED
    assert traffic.place("w1").tcp(vip, 80, wait_s=0.3) == SILENT


@pytest.mark.parametrize("node", ["lin01", "win01"])
def test_host_ports(traffic, node):
    """A port of the node leads to the pod, from elsewhere and for UDP too; it ends with the pod."""
    name = f"host-port-{node}"
    ports = [
        {"containerPort": PORT, "hostPort": 9090, "protocol": protocol}
        for protocol in ("TCP", "UDP")
    ]
    traffic.apply(pod_object(name, node, container={"ports": ports}))
    traffic.cluster.wait_ready("-l", f"pod={name}")
    traffic.adopt(name, node)
    try:
        own = ("lin01", "l1", name) if node == "lin01" else ("w1", name)
        for source in ("master", "outside", "l2", "w2", *own):
            place = traffic.place(source)
            answer = place.tcp(traffic.nodes[node], 9090, wait_s=3)
            assert answer.startswith(f"{name} "), f"from {source}: {answer}"
            answer = place.udp(traffic.nodes[node], 9090, wait_s=3)
            assert answer.startswith(f"{name} "), f"UDP from {source}: {answer}"
        if node == "win01":  # as with a node port of its own
            assert traffic.place(node).tcp(traffic.nodes[node], 9090) == REFUSED
    finally:
        traffic.drop(name)
    assert traffic.place("master").tcp(traffic.nodes[node], 9090, wait_s=0.4) == REFUSED
