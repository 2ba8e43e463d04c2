"""EndpointSlices and Endpoints: which pods, which ports, which conditions, and little change."""

import pytest
from objects import at, meta, node, owner_ref, pod, said

from muntin.controllers.rules import endpoints, endpointslice
from muntin.controllers.rules.endpointslice import MANAGED_BY, MANAGED_BY_LABEL, SERVICE_LABEL


def service(**spec):
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta("svc", labels={"tier": "front"}),
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec},
    }


def backend(name, ip, ports=(), **kwargs):
    found = pod(name, **kwargs)
    found["status"]["podIPs"] = [{"ip": ip}] if ip else []
    found["spec"]["containers"][0]["ports"] = list(ports)
    return found


def slices(found, pods, have=(), nodes=None):
    snapshot = endpointslice.Snapshot(service=found, pods=pods, nodes=nodes or {}, slices=have)
    return endpointslice.reconcile(snapshot)


def stored(actions):
    """The slices that exist after ``actions``, as the server would have them."""
    result = []
    for number, action in enumerate(actions):
        name = action.obj["metadata"].get("name") or f"svc-{number}"
        fields = {"name": name, "uid": name, "resourceVersion": "1"}
        result.append({**action.obj, "metadata": {**action.obj["metadata"], **fields}})
    return result


def test_a_slice_has_its_service_and_all_about_its_pods():
    zone = node("n1", labels={"topology.kubernetes.io/zone": "z1"})
    (create,) = slices(service(), [backend("a", "10.0.0.1")], nodes={"n1": zone})
    assert create.obj["metadata"] == {
        "generateName": "svc-",
        "namespace": "ns",
        "labels": {"tier": "front", SERVICE_LABEL: "svc", MANAGED_BY_LABEL: MANAGED_BY},
        "ownerReferences": [owner_ref(service())],
    }
    assert create.obj["addressType"] == "IPv4"
    assert create.obj["ports"] == [{"name": "", "port": 80, "protocol": "TCP"}]
    assert create.obj["endpoints"] == [
        {
            "addresses": ["10.0.0.1"],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "targetRef": {"kind": "Pod", "namespace": "ns", "name": "a", "uid": "uid-a"},
            "nodeName": "n1",
            "zone": "z1",
        }
    ]


@pytest.mark.parametrize(
    "found, kwargs, expected",
    [
        ({}, {}, (True, True, False)),
        ({}, {"ready": False}, (False, False, False)),
        ({}, {"deletionTimestamp": at()}, (False, True, True)),
        ({"publishNotReadyAddresses": True}, {"ready": False}, (True, False, False)),
    ],
)
def test_conditions(found, kwargs, expected):
    (create,) = slices(service(**found), [backend("a", "10.0.0.1", **kwargs)])
    assert tuple(create.obj["endpoints"][0]["conditions"].values()) == expected


def test_pods_that_ended_or_have_no_address_are_left_out():
    gone = [backend("a", "10.0.0.1", phase="Failed"), backend("b", "")]
    (create,) = slices(service(), gone)
    assert create.obj["endpoints"] == []


def test_a_named_port_is_each_pods_own():
    http = {"name": "http", "protocol": "TCP"}
    found = service(ports=[{"name": "web", "port": 80, "targetPort": "http"}])
    pods = [
        backend("a", "10.0.0.1", [{**http, "containerPort": 8080}]),
        backend("b", "10.0.0.2", [{**http, "containerPort": 9090}]),
    ]
    ports = sorted(action.obj["ports"][0]["port"] for action in slices(found, pods))
    assert ports == [8080, 9090]


def test_services_without_selector_are_none_of_ours():
    assert slices(service(selector=None), []) == []
    assert slices(service(type="ExternalName"), []) == []


def test_nothing_changes_when_nothing_changed():
    pods = [backend("a", "10.0.0.1")]
    have = stored(slices(service(), pods))
    assert slices(service(), pods, have) == []
    assert slices(service(), [], stored(slices(service(), []))) == []


def test_a_hundred_to_a_slice_and_gaps_are_filled():
    pods = [backend(f"p{n}", f"10.0.{n // 200}.{n % 200 + 1}") for n in range(250)]
    have = stored(slices(service(), pods))
    assert [len(row["endpoints"]) for row in have] == [100, 100, 50]
    fewer = [*pods[1:], backend("new", "10.1.0.1")]
    (update,) = slices(service(), fewer, have)
    assert update.obj["metadata"]["name"] == have[0]["metadata"]["name"]
    assert update.obj["endpoints"][-1]["targetRef"]["name"] == "new"
    assert len(update.obj["endpoints"]) == 100


def test_empty_slices_go_but_the_last_one_stays():
    pods = [backend(f"p{n}", f"10.0.0.{n + 1}") for n in range(150)]
    have = stored(slices(service(), pods))
    assert said(slices(service(), pods[:100], have)) == ["delete endpointslice svc-1"]
    after = slices(service(), [], have)
    assert said(after) == [
        "create endpointslice svc-",
        "delete endpointslice svc-0",
        "delete endpointslice svc-1",
    ]


def test_a_headless_service_and_its_named_pods():
    found = backend("a", "10.0.0.1")
    found["spec"].update(hostname="one", subdomain="svc")
    (create,) = slices(service(clusterIP="None"), [found])
    assert create.obj["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    assert create.obj["endpoints"][0]["hostname"] == "one"


def test_the_slices_of_a_service_that_lost_its_selector_go():
    have = stored(slices(service(), [backend("a", "10.0.0.1")]))
    assert said(slices(service(selector=None), [], have)) == ["delete endpointslice svc-0"]


def older(found, pods=(), have=None):
    return endpoints.reconcile(endpoints.Snapshot(service=found, endpoints=have, pods=list(pods)))


def test_endpoints_list_ready_and_not_ready_addresses_in_order():
    pods = [
        backend("b", "10.0.0.2"),
        backend("a", "10.0.0.1"),
        backend("c", "10.0.0.3", ready=False),
        backend("d", "10.0.0.4", deletionTimestamp=at()),
    ]
    (create,) = older(service(), pods)
    (subset,) = create.obj["subsets"]
    assert [row["ip"] for row in subset["addresses"]] == ["10.0.0.1", "10.0.0.2"]
    assert [row["ip"] for row in subset["notReadyAddresses"]] == ["10.0.0.3"]
    assert subset["ports"] == [{"port": 80, "protocol": "TCP"}]
    (have,) = stored([create])
    assert older(service(), pods, have) == []
    (update,) = older(service(), pods[:1], have)
    assert [row["ip"] for row in update.obj["subsets"][0]["addresses"]] == ["10.0.0.2"]


def test_endpoints_go_with_their_service_unless_somebody_else_made_them():
    (have,) = stored(older(service()))
    assert said(older(None, have=have)) == ["delete endpoints svc"]
    foreign = {**have, "metadata": {**have["metadata"], "labels": {}}}
    assert older(None, have=foreign) == []
    assert older(service(selector=None), have=foreign) == []


def test_more_than_a_thousand_addresses_are_cut_and_marked():
    pods = [backend(f"p{n}", f"10.{n // 200}.0.{n % 200 + 1}") for n in range(1001)]
    (create,) = older(service(), pods)
    assert len(create.obj["subsets"][0]["addresses"]) == 1000
    annotations = create.obj["metadata"]["annotations"]
    assert annotations == {"endpoints.kubernetes.io/over-capacity": "truncated"}
