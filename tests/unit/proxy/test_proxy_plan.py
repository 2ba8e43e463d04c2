"""Services and slices to front ends, row by row."""

from ipaddress import IPv4Address, IPv4Network

import pytest

from muntin.proxy.plan import (
    Backend,
    FrontendKey,
    FrontendKind,
    HealthCheck,
    frontends,
    health_check,
    is_proxied,
)

HERE, THERE = "win01", "win02"


def service(**spec):
    ports = spec.pop("ports", [{"port": 80, "targetPort": 8080, "protocol": "TCP"}])
    status = spec.pop("status", {})
    meta = {"namespace": "shop", "name": "web", "annotations": spec.pop("annotations", {})}
    base = {"clusterIP": "10.96.0.5", "clusterIPs": ["10.96.0.5"], "ports": ports}
    return {"metadata": meta, "spec": base | spec, "status": status}


def endpoint(address, node=HERE, **conditions):
    return {"addresses": [address], "nodeName": node, "conditions": conditions}


def slices(*endpoints, port=8080, name="", protocol="TCP", family="IPv4"):
    ports = [{"name": name, "port": port, "protocol": protocol}]
    return [{"addressType": family, "ports": ports, "endpoints": list(endpoints)}]


def addresses(backends):
    return [str(item.address) for item in backends]


def test_a_cluster_ip():
    (front,) = frontends(
        service(), slices(endpoint("10.244.1.5"), endpoint("10.244.2.5", THERE)), HERE
    )
    assert front.key == FrontendKey(IPv4Address("10.96.0.5"), 6, 80)
    assert front.kind is FrontendKind.CLUSTER_IP
    assert front.service == "shop/web"
    assert front.backends == (
        Backend(IPv4Address("10.244.1.5"), 8080, True),
        Backend(IPv4Address("10.244.2.5"), 8080, False),
    )
    assert front.is_served
    assert front.inside_backends is None


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"clusterIP": "None"}, False),
        ({"clusterIP": ""}, False),
        ({"type": "ExternalName"}, False),
        ({"type": "NodePort"}, True),
        ({}, True),
    ],
)
def test_which_services_are_proxied(spec, expected):
    assert is_proxied(service(**spec)) is expected


def test_another_proxy_name_is_somebody_elses():
    other = service()
    other["metadata"]["labels"] = {"service.kubernetes.io/service-proxy-name": "x"}
    assert frontends(other, [], HERE) == ()


def test_every_kind_of_front_end():
    web = service(
        type="LoadBalancer",
        ports=[{"port": 80, "targetPort": "http", "nodePort": 30080}],
        externalIPs=["198.51.100.1"],
        loadBalancerSourceRanges=["192.0.2.0/24"],
        status={"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}, {"hostname": "x"}]}},
    )
    found = frontends(web, slices(endpoint("10.244.1.5")), HERE)
    assert [(front.kind, str(front.key.vip), front.key.port) for front in found] == [
        (FrontendKind.CLUSTER_IP, "10.96.0.5", 80),
        (FrontendKind.NODE_PORT, "None", 30080),
        (FrontendKind.EXTERNAL_IP, "198.51.100.1", 80),
        (FrontendKind.LOAD_BALANCER, "203.0.113.1", 80),
    ]
    assert [front.source_ranges for front in found] == [
        (),
        (),
        (),
        (IPv4Network("192.0.2.0/24"),),
    ]
    # A named target port is the number that the first endpoint has for it.
    assert {front.target_port for front in found} == {8080}


def test_ranges_of_the_other_family_do_not_count():
    web = service(
        type="LoadBalancer",
        loadBalancerSourceRanges=["2001:db8::/32", "192.0.2.0/24"],
        status={"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}},
    )
    ranges = [front.source_ranges for front in frontends(web, [], HERE)]
    assert ranges[-1] == (IPv4Network("192.0.2.0/24"),)


def test_an_ingress_in_proxy_mode_is_not_ours():
    web = service(
        type="LoadBalancer",
        status={"loadBalancer": {"ingress": [{"ip": "203.0.113.1", "ipMode": "Proxy"}]}},
    )
    kinds = {front.kind for front in frontends(web, [], HERE)}
    assert FrontendKind.LOAD_BALANCER not in kinds


@pytest.mark.parametrize(
    ("conditions", "is_used"),
    [
        ({}, True),
        ({"ready": True}, True),
        ({"ready": None}, True),
        ({"ready": False}, False),
        ({"ready": False, "serving": True, "terminating": True}, True),
        ({"ready": False, "serving": False, "terminating": True}, False),
    ],
)
def test_a_lone_endpoint(conditions, is_used):
    (front,) = frontends(service(), slices(endpoint("10.244.1.5", **conditions)), HERE)
    assert addresses(front.backends) == (["10.244.1.5"] if is_used else [])
    assert front.is_served is is_used


def test_ending_endpoints_serve_only_where_none_is_ready():
    ending = {"ready": False, "serving": True, "terminating": True}
    both = slices(endpoint("10.244.1.5", **ending), endpoint("10.244.1.6", ready=True))
    (front,) = frontends(service(), both, HERE)
    assert addresses(front.backends) == ["10.244.1.6"]


def test_external_traffic_policy_local():
    web = service(
        type="NodePort",
        externalTrafficPolicy="Local",
        ports=[{"port": 80, "targetPort": 8080, "nodePort": 30080}],
    )
    inner, outer = frontends(
        web, slices(endpoint("10.244.1.5"), endpoint("10.244.2.5", THERE)), HERE
    )
    assert addresses(inner.backends) == ["10.244.1.5", "10.244.2.5"]
    assert not inner.local_only
    assert addresses(outer.backends) == ["10.244.1.5"]
    assert addresses(outer.inside_backends) == ["10.244.1.5", "10.244.2.5"]
    assert outer.local_only
    # No endpoint here: outside clients are dropped, not refused.
    _, outer = frontends(web, slices(endpoint("10.244.2.5", THERE)), HERE)
    assert outer.backends == ()
    assert outer.is_served


def test_internal_traffic_policy_local():
    (front,) = frontends(
        service(internalTrafficPolicy="Local"),
        slices(endpoint("10.244.1.5"), endpoint("10.244.2.5", THERE)),
        HERE,
    )
    assert addresses(front.backends) == ["10.244.1.5"]


def test_ports_are_matched_by_name_and_protocol():
    web = service(
        ports=[
            {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 5353},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 5353},
        ]
    )
    both = [
        *slices(endpoint("10.244.1.5"), name="dns", protocol="UDP", port=5353),
        *slices(endpoint("10.244.1.6"), name="dns-tcp", port=5353),
        *slices(endpoint("10.244.1.7"), name="other", port=5353),
    ]
    udp, tcp = frontends(web, both, HERE)
    assert (udp.key.protocol, addresses(udp.backends)) == (17, ["10.244.1.5"])
    assert (tcp.key.protocol, addresses(tcp.backends)) == (6, ["10.244.1.6"])


def test_an_address_in_two_slices_counts_once_and_ipv6_is_left_out():
    parts = slices(endpoint("10.244.1.5")) * 2 + slices(endpoint("fd00::5"), family="IPv6")
    (front,) = frontends(service(), parts, HERE)
    assert addresses(front.backends) == ["10.244.1.5"]


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        ({}, 0),
        ({"sessionAffinity": "None"}, 0),
        ({"sessionAffinity": "ClientIP"}, 10800),
        (
            {
                "sessionAffinity": "ClientIP",
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
            },
            60,
        ),
    ],
)
def test_session_affinity(spec, seconds):
    (front,) = frontends(service(**spec), [], HERE)
    assert front.affinity_s == seconds


def test_the_health_check_port_counts_ready_endpoints_here():
    web = service(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=31000)
    both = slices(
        endpoint("10.244.1.5"),
        endpoint("10.244.1.6", ready=False),
        endpoint("10.244.2.5", THERE),
    )
    assert health_check(web, both, HERE) == HealthCheck(31000, "shop/web", 1)
    assert health_check(web, both, "lin01") == HealthCheck(31000, "shop/web", 0)
    assert health_check(service(healthCheckNodePort=31000), both, HERE) is None
