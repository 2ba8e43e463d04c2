"""Services of type LoadBalancer: addresses, the finalizer, and what is told."""

from ipaddress import IPv4Address, IPv4Network

import pytest
from objects import meta, node, said

from muntin.controllers.rules import service_load_balancer as rule
from muntin.controllers.rules.actions import Note, Patch

POOL = IPv4Network("203.0.113.0/29")
HOSTS = frozenset({"n1"})
ENSURED = ["note EnsuringLoadBalancer", "patch service s", "note EnsuredLoadBalancer"]


def service(ingress=(), finalizers=(), annotations=None, **spec):
    own = meta("s", finalizers=list(finalizers), annotations=annotations or {})
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": own,
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}], **spec},
        "status": {"loadBalancer": {"ingress": [{"ip": ip} for ip in ingress]} if ingress else {}},
    }


def settled(address="203.0.113.1", **spec):
    return service([address], [rule.FINALIZER], **spec)


def reconcile(found, taken=(), **fields):
    fields = {"pool": POOL, "hosts": HOSTS, **fields}
    others = {IPv4Address(address): "ns/other" for address in taken}
    return rule.reconcile(rule.Snapshot(service=found, taken=others, **fields))


def patches(actions):
    return [action.patch for action in actions if isinstance(action, Patch)]


def ingress(address):
    return {"status": {"loadBalancer": {"ingress": [{"ip": address}]}}}


def test_a_new_one_gets_a_finalizer_first_and_then_an_address():
    actions = reconcile(service())
    assert said(actions) == [*ENSURED, "patch service s"]
    assert patches(actions) == [
        {"metadata": {"finalizers": [rule.FINALIZER]}},
        ingress("203.0.113.1"),
    ]
    assert all(row.subresource == "status" for row in actions if isinstance(row, Patch))


@pytest.mark.parametrize(
    ("found", "taken", "address"),
    [
        (service(), ["203.0.113.1", "203.0.113.2"], "203.0.113.3"),
        (settled("203.0.113.4"), ["203.0.113.1"], None),  # it keeps what it has
        (settled("203.0.113.4"), ["203.0.113.4"], "203.0.113.1"),  # unless another has it
        (settled("198.51.100.1"), [], "203.0.113.1"),  # or it is of another pool
        (service(loadBalancerIP="203.0.113.5"), [], "203.0.113.5"),
        (settled("203.0.113.4", loadBalancerIP="203.0.113.5"), [], "203.0.113.5"),
    ],
)
def test_which_address(found, taken, address):
    (*_, last) = patches(reconcile(found, taken)) or [None]
    assert last == (ingress(address) if address else None)


@pytest.mark.parametrize(
    ("found", "taken", "problem"),
    [
        (
            service(loadBalancerIP="198.51.100.1"),
            [],
            "loadBalancerIP 198.51.100.1 is not in the address pool 203.0.113.0/29",
        ),
        (
            service(loadBalancerIP="203.0.113.2"),
            ["203.0.113.2"],
            "loadBalancerIP 203.0.113.2 is the address of service ns/other",
        ),
        (
            service(),
            [f"203.0.113.{n}" for n in range(1, 7)],
            "all addresses of the pool 203.0.113.0/29 are in use",
        ),
    ],
)
def test_no_address(found, taken, problem):
    actions = reconcile(found, taken)
    assert said(actions) == ["note SyncLoadBalancerFailed", "again 30"]
    begin = "Error syncing load balancer: failed to ensure load balancer"
    assert (actions[0].type, actions[0].message) == ("Warning", f"{begin}: {problem}")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (settled(), []),
        (settled(loadBalancerClass="example.com/x"), None),
        (settled(type="ClusterIP"), None),
        (service(type="NodePort"), []),
        (service(loadBalancerClass="example.com/x"), []),
        (service(type="ClusterIP", finalizers=["other"]), []),
    ],
)
def test_whose_it_is(found, words):
    gone = ["note DeletingLoadBalancer", "patch service s"]
    assert said(reconcile(found)) == (gone if words is None else words)


def test_one_that_goes_gives_its_address_back_before_its_finalizer():
    found = settled()
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    note, patch = reconcile(found)
    assert (note.reason, note.message) == ("DeletingLoadBalancer", "Deleting load balancer")
    assert patch.patch == {
        "metadata": {"$deleteFromPrimitiveList/finalizers": [rule.FINALIZER]},
        "status": {"loadBalancer": {"ingress": None}},
    }
    assert (patch.told.reason, patch.told.message) == (
        "DeletedLoadBalancer",
        "Deleted load balancer",
    )
    found["metadata"]["finalizers"] = ["somebody.else/cleanup"]
    assert reconcile(found) == []


BASE = {
    "externalTrafficPolicy": "Cluster",
    "externalIPs": ["1.1.1.1"],
    "loadBalancerSourceRanges": ["10.0.0.0/8"],
}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({}, None),
        ({"loadBalancerSourceRanges": []}, ("LoadBalancerSourceRanges", "[10.0.0.0/8] -> []")),
        (
            {"loadBalancerSourceRanges": ["10.0.0.0/8", "1.2.3.4/32"]},
            ("LoadBalancerSourceRanges", "[10.0.0.0/8] -> [10.0.0.0/8 1.2.3.4/32]"),
        ),
        ({"externalTrafficPolicy": "Local"}, ("ExternalTrafficPolicy", "Cluster -> Local")),
        ({"healthCheckNodePort": 31000}, ("HealthCheckNodePort", "0 -> 31000")),
        ({"loadBalancerIP": "203.0.113.1"}, ("LoadbalancerIP", " -> 203.0.113.1")),
        ({"externalIPs": []}, ("ExternalIP", "Count: 1 -> 0")),
        ({"externalIPs": ["2.2.2.2"]}, ("ExternalIP", "Added: 2.2.2.2")),
        ({"ports": [{"port": 81}]}, ()),
        ({"sessionAffinity": "ClientIP"}, ()),
        ({"selector": {"a": "b"}}, None),
    ],
)
def test_changes_are_told(spec, told):
    before = rule.view(settled(**BASE))
    actions = reconcile(settled(**{**BASE, **spec}), before=before, hosts_before=HOSTS)
    if told is None:
        assert actions == []
        return
    notes = [(row.reason, row.message) for row in actions if isinstance(row, Note)]
    ensured = [
        ("EnsuringLoadBalancer", "Ensuring load balancer"),
        ("EnsuredLoadBalancer", "Ensured load balancer"),
    ]
    assert notes == [*([told] if told else []), *ensured]
    assert patches(actions) == []


def test_a_new_type_and_new_annotations_are_changes():
    before = rule.view(service(type="ClusterIP"))
    note = reconcile(service(), before=before)[0]
    assert (note.reason, note.message) == ("Type", "ClusterIP -> LoadBalancer")
    before = rule.view(settled())
    other = service(["203.0.113.1"], [rule.FINALIZER], {"a": "b"})
    assert "note EnsuredLoadBalancer" in said(reconcile(other, before=before))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (None, {"n1"}, []),
        ({"n1"}, {"n1"}, []),
        ({"n1"}, {"n1", "n2"}, ["note UpdatedLoadBalancer"]),
        ({"n1"}, set(), ["note UnAvailableLoadBalancer"]),
    ],
)
def test_nodes_that_come_and_go_are_told(before, now, words):
    known = None if before is None else frozenset(before)
    actions = reconcile(settled(), hosts=frozenset(now), hosts_before=known)
    assert said(actions) == words


def test_without_nodes_there_is_an_address_and_a_warning():
    actions = reconcile(service(), hosts=frozenset())
    assert "note UnAvailableLoadBalancer" in said(actions)
    assert patches(actions)[-1] == ingress("203.0.113.1")


@pytest.mark.parametrize(
    ("found", "is_one"),
    [
        (node("a"), True),
        (node("a", ready="False"), False),
        (node("a", ready="Unknown"), False),
        (node("a", labels={rule.EXCLUDED: ""}), False),
    ],
)
def test_nodes_that_count(found, is_one):
    assert rule.is_host(found) is is_one
