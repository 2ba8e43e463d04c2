"""Endpoints of Services without selector, as EndpointSlices."""

import pytest
from objects import meta, said

from muntin.controllers.rules import endpointslicemirroring as rule
from muntin.controllers.rules.actions import Create, Note, Update

HTTP = {"name": "http", "port": 80, "protocol": "TCP"}
DNS = {"port": 53, "protocol": "UDP"}
SERVICE = {"metadata": meta("s"), "spec": {}}


def endpoints(*subsets, **fields):
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": meta("s", **fields),
        "subsets": list(subsets),
    }


def subset(*ips, ports=(HTTP,), unready=()):
    rows = {
        "addresses": [{"ip": ip} for ip in ips],
        "notReadyAddresses": [{"ip": ip} for ip in unready],
        "ports": list(ports),
    }
    return {key: value for key, value in rows.items() if value}


def reconcile(found, slices=(), service=SERVICE):
    return rule.reconcile(rule.Snapshot(endpoints=found, service=service, slices=slices))


def mirrored(found, *names):
    """The slices that the server has once what is asked for is created."""
    rows = [action.obj for action in reconcile(found) if isinstance(action, Create)]
    for row, name in zip(rows, names, strict=True):
        own = {**row["metadata"], "name": name, "uid": f"uid-{name}", "resourceVersion": "9"}
        del own["generateName"]
        row["metadata"] = own
    return rows


def contents(actions):
    """(family, ports, {address: ready}) of each slice that is written."""
    return [
        (
            action.obj["addressType"],
            [row["port"] for row in action.obj["ports"]],
            {row["addresses"][0]: row["conditions"]["ready"] for row in action.obj["endpoints"]},
        )
        for action in actions
        if isinstance(action, Create | Update)
    ]


@pytest.mark.parametrize(
    ("subsets", "slices"),
    [
        ([], []),
        ([subset("10.0.0.1", "10.0.0.2")], [("IPv4", [80], {"10.0.0.1": True, "10.0.0.2": True})]),
        (
            [subset("10.0.0.1", unready=["10.0.0.2"])],
            [("IPv4", [80], {"10.0.0.1": True, "10.0.0.2": False})],
        ),
        (  # the families apart
            [subset("10.0.0.1", "2001:db8::1")],
            [("IPv4", [80], {"10.0.0.1": True}), ("IPv6", [80], {"2001:db8::1": True})],
        ),
        (  # subsets of the same ports together, and unready wins
            [subset("10.0.0.1", "10.0.0.3"), subset(unready=["10.0.0.1", "10.0.0.2"])],
            [("IPv4", [80], {"10.0.0.1": False, "10.0.0.2": False, "10.0.0.3": True})],
        ),
        (  # ports with an application protocol are never the same
            [
                subset("10.0.0.1"),
                subset("10.0.0.1", ports=[{**DNS, "appProtocol": "a"}]),
                subset("10.0.0.3", ports=[{**DNS, "appProtocol": "a"}]),
            ],
            [("IPv4", [80, 53], {"10.0.0.1": True}), ("IPv4", [53], {"10.0.0.3": True})],
        ),
        (  # ports of the same addresses together
            [subset("10.0.0.1", ports=[HTTP]), subset("10.0.0.1", ports=[DNS])],
            [("IPv4", [80, 53], {"10.0.0.1": True})],
        ),
        (
            [subset("10.0.0.1", ports=[HTTP]), subset("10.0.0.2", ports=[DNS])],
            [("IPv4", [80], {"10.0.0.1": True}), ("IPv4", [53], {"10.0.0.2": True})],
        ),
        ([subset("10.0.0.1", ports=[])], [("IPv4", [], {"10.0.0.1": True})]),
        ([subset("010.000.0.1")], [("IPv4", [80], {"10.0.0.1": True})]),
    ],
)
def test_what_is_mirrored(subsets, slices):
    found = contents(reconcile(endpoints(*subsets)))
    assert sorted((a, sorted(b), c.items()) for a, b, c in found) == sorted(
        (a, sorted(b), c.items()) for a, b, c in slices
    )


def test_a_slice_says_whose_it_is():
    found = endpoints(
        subset("10.0.0.1"),
        labels={"a": "b"},
        annotations={
            "c": "d",
            "endpoints.kubernetes.io/last-change-trigger-time": "now",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
    )
    found["subsets"][0]["addresses"][0].update(
        nodeName="n1", hostname="h", targetRef={"kind": "Pod", "name": "p"}
    )
    (create,) = reconcile(found)
    own = create.obj["metadata"]
    assert (own["generateName"], own["namespace"]) == ("s-", "ns")
    assert own["labels"] == {
        "a": "b",
        "kubernetes.io/service-name": "s",
        "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    }
    assert own["annotations"] == {"c": "d"}
    (owner,) = own["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Endpoints", "s", True)
    assert create.obj["ports"] == [HTTP]
    assert create.obj["endpoints"] == [
        {
            "addresses": ["10.0.0.1"],
            "conditions": {"ready": True},
            "nodeName": "n1",
            "hostname": "h",
            "targetRef": {"kind": "Pod", "name": "p"},
        }
    ]


@pytest.mark.parametrize(
    ("found", "service"),
    [
        (None, SERVICE),
        (endpoints(subset("10.0.0.1")), None),
        (endpoints(subset("10.0.0.1")), {**SERVICE, "spec": {"selector": {"a": "b"}}}),
        (endpoints(subset("10.0.0.1"), labels={rule.SKIP_LABEL: "true"}), SERVICE),
        (endpoints(subset("10.0.0.1"), annotations={rule.LEADER: "{}"}), SERVICE),
        (endpoints(), SERVICE),
    ],
)
def test_what_is_not_mirrored_has_no_slices(found, service):
    assert reconcile(found, service=service) == []
    slices = mirrored(endpoints(subset("10.0.0.1")), "a")
    assert said(reconcile(found, slices, service)) == ["delete endpointslice a"]


def test_what_is_right_is_left_alone():
    found = endpoints(subset("10.0.0.1", "10.0.0.2", "2001:db8::1"))
    slices = mirrored(found, "a", "b")
    assert reconcile(found, slices) == []
    for row in slices:
        row["endpoints"].reverse()
    assert reconcile(found, slices) == []


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (endpoints(subset("10.0.0.9")), ["update endpointslice a"]),
        (endpoints(subset("10.0.0.1"), labels={"new": "one"}), ["update endpointslice a"]),
        (endpoints(subset("10.0.0.1"), annotations={"new": "one"}), ["update endpointslice a"]),
        (endpoints(subset("10.0.0.1"), uid="made-anew"), ["update endpointslice a"]),
        (endpoints(subset("10.0.0.1", ports=[DNS])), ["update endpointslice a"]),  # taken over
        (
            endpoints(subset("2001:db8::1")),
            ["create endpointslice s-", "delete endpointslice a"],
        ),
        (
            endpoints(subset("10.0.0.1"), subset("10.0.0.2", ports=[DNS])),
            ["create endpointslice s-"],
        ),
    ],
)
def test_changes(after, words):
    slices = mirrored(endpoints(subset("10.0.0.1")), "a")
    actions = reconcile(after, slices)
    assert said(actions) == words
    for action in actions:
        if isinstance(action, Update):
            assert action.obj["metadata"]["resourceVersion"] == "9"


def test_endpoints_that_go_get_no_new_slices():
    found = endpoints(subset("10.0.0.1"), deletionTimestamp="2026-01-01T00:00:00Z")
    assert reconcile(found) == []


def test_one_slice_of_a_kind_is_enough():
    found = endpoints(subset("10.0.0.1"))
    slices = [*mirrored(found, "a"), *mirrored(found, "b")]
    assert said(reconcile(found, slices)) == ["delete endpointslice b"]


def test_what_is_left_out_is_told():
    found = endpoints(subset(*(f"10.0.{n // 250}.{n % 250}" for n in range(1001)), "nonsense"))
    actions = reconcile(found)
    notes = {row.reason: row.message for row in actions if isinstance(row, Note)}
    assert len(contents(actions)[0][2]) == 1000
    most = "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset"
    assert notes["TooManyAddressesToMirror"].startswith(f"{most}. ")
    found = endpoints(subset("10.0.0.1", "nonsense"))
    (note, *_) = reconcile(found)
    assert (note.reason, note.message) == (
        "InvalidIPAddress",
        "Skipped 1 invalid IP addresses when mirroring to EndpointSlices",
    )
