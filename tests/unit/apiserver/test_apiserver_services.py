import pytest

from muntin.apiserver.services import ranges
from muntin.apiserver.services import spec as specs
from muntin.apiserver.services.pools import AddressPools, OutOfRange, PortPool, Taken
from muntin.kit import errors


def test_each_address_has_one_owner():
    pool = AddressPools(["10.0.0.0/28"])
    drawn = {pool.draw("a") for _ in range(14)}
    assert len(drawn) == 14
    assert not drawn & {"10.0.0.0", "10.0.0.15"}
    with pytest.raises(errors.Exhausted):
        pool.draw("a")
    pool.release("10.0.0.5", "b")  # not its owner
    with pytest.raises(Taken):
        pool.hold("10.0.0.5", "b")
    pool.release("10.0.0.5", "a")
    assert pool.draw("b") == "10.0.0.5"


@pytest.mark.parametrize("address", ["10.0.0.0", "10.0.1.1", "2001:db8::1"])
def test_addresses_outside_the_range(address):
    with pytest.raises(OutOfRange):
        AddressPools(["10.0.0.0/24"]).hold(address, "a")


def test_addresses_of_several_ranges():
    pools = AddressPools(["10.0.0.0/30", "10.0.0.0/29", "fd00::/64", "10.1.0.0/32"])
    drawn = {pools.draw("a") for _ in range(6)}
    assert drawn == {f"10.0.0.{number}" for number in range(1, 7)}
    with pytest.raises(errors.Exhausted):
        pools.draw("a")
    with pytest.raises(Taken):
        pools.hold("10.0.0.1", "b")
    pools.offer(["10.2.0.0/29"])  # what was given out keeps its owner
    with pytest.raises(OutOfRange):
        pools.hold("10.0.0.1", "a")
    pools.release("10.0.0.1", "a")
    pools.offer(["10.0.0.0/30"])
    assert pools.draw("b") == "10.0.0.1"


def service_cidr(name, *cidrs, ready=None, **meta):
    rows = [{"type": "Ready", "status": ready}] if ready else []
    status = {"conditions": rows}
    return {"metadata": {"name": name, **meta}, "spec": {"cidrs": list(cidrs)}, "status": status}


def test_ranges_of_service_cidrs_that_are_ready():
    service_cidrs = [
        service_cidr("b", "10.2.0.0/16", ready="True"),
        service_cidr("a", "10.1.0.0/16", "fd00::/64"),
        service_cidr("c", "10.3.0.0/16", ready="False"),
        service_cidr("d", "10.4.0.0/16", ready="True", deletionTimestamp="2026-01-01T00:00:00Z"),
    ]
    wanted = ["10.1.0.0/16", "fd00::/64", "10.2.0.0/16"]
    assert ranges.ready(service_cidrs, "10.96.0.0/12") == ["10.96.0.0/12", *wanted]
    service_cidrs.append(service_cidr("kubernetes", "10.0.0.0/16"))
    assert ranges.ready(service_cidrs, "10.96.0.0/12") == ["10.0.0.0/16", *wanted]


def test_drawn_ports_leave_the_lower_band_to_those_who_choose():
    pool = PortPool(30000, 32767)
    assert min(pool.draw("a") for _ in range(300)) >= 30086


def service(kind, *ports, **spec):
    return {"metadata": {"name": "s"}, "spec": {"type": kind, "ports": list(ports), **spec}}


def test_what_an_update_leaves_out_is_carried_over():
    port = {"port": 80, "protocol": "TCP"}
    old = service("NodePort", {**port, "nodePort": 30001}, clusterIP="10.0.0.9")
    new = service("NodePort", dict(port))
    specs.carry_over(new, old)
    assert new["spec"]["clusterIP"] == "10.0.0.9"
    assert new["spec"]["ports"][0]["nodePort"] == 30001


def test_changing_the_type_gives_ports_back():
    port = {"port": 80, "protocol": "TCP", "nodePort": 30001}
    old = service("NodePort", dict(port), externalTrafficPolicy="Cluster")
    new = service("ClusterIP", dict(port), externalTrafficPolicy="Cluster")
    specs.carry_over(new, old)
    assert "nodePort" not in new["spec"]["ports"][0]
    assert "externalTrafficPolicy" not in new["spec"]


def test_one_that_has_no_load_balancer_any_more_has_nothing_of_it():
    fields = {"allocateLoadBalancerNodePorts": True, "loadBalancerClass": "example.com/a"}
    old = service("LoadBalancer", **fields)
    new = service("ClusterIP", **fields)
    for one in (old, new):
        one["status"] = {"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}, "conditions": []}
    specs.carry_over(new, old)
    assert not fields.keys() & new["spec"].keys()
    assert new["status"] == {"loadBalancer": {}, "conditions": []}
    changed = service("ClusterIP", allocateLoadBalancerNodePorts=False)
    specs.carry_over(changed, old)
    assert changed["spec"]["allocateLoadBalancerNodePorts"] is False  # validation refuses it


@pytest.mark.parametrize(
    ("kind", "policy"), [("LoadBalancer", "Cluster"), ("NodePort", "Local"), ("ClusterIP", None)]
)
def test_a_health_check_port_that_nobody_asks_any_more_is_given_back(kind, policy):
    fields = {"healthCheckNodePort": 31000}
    old = service("LoadBalancer", externalTrafficPolicy="Local", **fields)
    new = service(kind, **fields, **({"externalTrafficPolicy": policy} if policy else {}))
    specs.carry_over(new, old)
    assert "healthCheckNodePort" not in new["spec"]


def test_both_protocols_of_a_port_share_a_number():
    new = service("NodePort", {"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"})
    specs.fill(new, "a", AddressPools(["10.0.0.0/24"]), PortPool(30000, 30100))
    first, second = (port["nodePort"] for port in new["spec"]["ports"])
    assert first == second
