"""Nodes: their networks, silence, taints, eviction, and pods that are left behind."""

import ipaddress

import pytest
from objects import NOW, at, node, pod, said, status_of

from muntin.controllers.rules import (
    node_ipam,
    node_lifecycle,
    pod_garbage_collector,
    taint_eviction,
)

CIDR = ipaddress.ip_network("10.244.0.0/22")
UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"


def networks(nodes):
    actions = node_ipam.reconcile(nodes, CIDR, 24)
    return {a.name: a.patch["spec"]["podCIDRs"] for a in actions if hasattr(a, "patch")}


def test_each_node_gets_the_first_free_network():
    taken = node("b", podCIDR="10.244.0.0/24", podCIDRs=["10.244.0.0/24"])
    assert networks([node("c"), taken, node("a")]) == {
        "a": ["10.244.1.0/24"],
        "c": ["10.244.2.0/24"],
    }


def test_when_none_is_left_it_is_said():
    actions = node_ipam.reconcile([node(f"n{i}") for i in range(5)], CIDR, 24)
    assert said(actions)[-1] == "note CIDRNotAvailable"
    assert actions[-1].message == "Node n4 status is now: CIDRNotAvailable"


@pytest.mark.parametrize(
    "cidr",
    ["0.0.0.0/0", "10.244.0.0/22", "10.0.0.0/8", "fd00::/64", "x", "10.244.9.1/24", "1" * 5000],
)
def test_a_node_with_a_strange_network_takes_none_from_others(cidr):
    strange = node("strange", podCIDR=cidr, podCIDRs=[cidr])
    assert networks([strange, node("a")]) == {"a": ["10.244.0.0/24"]}


def life(found, age_s, pods=(), **kwargs):
    snapshot = node_lifecycle.Snapshot(node=found, last_seen=NOW - age_s, pods=pods, **kwargs)
    return node_lifecycle.reconcile(snapshot, NOW)


def test_a_node_that_is_heard_is_looked_at_again_when_it_could_be_silent():
    assert said(life(node("n"), 20)) == ["again 30.1"]


def test_a_silent_node_is_unknown_and_told_of():
    actions = life(node("n"), 51)
    assert said(actions) == ["update node/status n", "note NodeNotReady"]
    rows = {row["type"]: row for row in status_of(actions)["conditions"]}
    assert rows["Ready"]["status"] == "Unknown"
    assert rows["Ready"]["message"] == "Kubelet stopped posting node status."
    assert rows["DiskPressure"]["reason"] == "NodeStatusNeverUpdated"


def taints_after(found, **kwargs):
    rows = node_lifecycle.wanted_taints(found, NOW, **kwargs)
    return [(row["key"].rpartition("/")[2], row["effect"]) for row in rows]


@pytest.mark.parametrize(
    "found, expected",
    [
        (node("n"), []),
        (node("n", ready="False"), [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")]),
        (node("n", ready="Unknown"), [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]),
        (node("n", unschedulable=True), [("unschedulable", "NoSchedule")]),
        (node("n", taints=[{"key": "os", "effect": "NoSchedule"}]), [("os", "NoSchedule")]),
        (node("n", taints=[{"key": NOT_READY, "effect": "NoSchedule"}]), []),
    ],
)
def test_taints_follow_the_conditions(found, expected):
    assert taints_after(found) == expected


def test_a_no_execute_taint_keeps_its_time():
    old = {"key": UNREACHABLE, "effect": "NoExecute", "timeAdded": at(-100)}
    rows = node_lifecycle.wanted_taints(node("n", ready="Unknown", taints=[old]), NOW)
    assert old in rows
    assert len(rows) == 2


def test_nobody_is_evicted_when_every_node_is_silent():
    assert taints_after(node("n", ready="Unknown"), no_execute=False) == [
        ("unreachable", "NoSchedule")
    ]


def test_pods_of_a_node_that_is_not_ready_are_not_ready_either():
    found = node("n", ready="False", taints=[])
    actions = life(found, 1, [pod("a"), pod("b", ready=False)])
    assert said(actions)[:3] == ["update node n", "update pod/status a", "note NodeNotReady"]


def evict(found_pod, *taints):
    return said(taint_eviction.reconcile(found_pod, node("n1", taints=taints), NOW))


def tolerating(seconds=None):
    found = pod("a")
    toleration = {"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}
    if seconds is not None:
        toleration["tolerationSeconds"] = seconds
    found["spec"]["tolerations"] = [toleration]
    return found


def test_eviction_waits_as_long_as_the_pod_tolerates():
    taint = {"key": NOT_READY, "effect": "NoExecute", "timeAdded": at(-100)}
    out = ["note TaintManagerEviction", "update pod/status a", "delete pod a"]
    assert evict(pod("a"), taint) == out
    assert evict(tolerating(300), taint) == ["again 200"]
    assert evict(tolerating(100), taint) == out
    assert evict(tolerating(), taint) == []
    assert evict(pod("a", deletionTimestamp=at()), taint) == []
    assert evict(pod("a"), {**taint, "effect": "NoSchedule"}) == []


def collect(pods, since=None, **kwargs):
    return said(pod_garbage_collector.reconcile(pods, {"n1"}, since or {}, NOW, **kwargs))


def test_pods_of_a_node_that_is_gone_for_long_are_failed_and_deleted():
    orphan = pod("a", node="gone")
    assert collect([orphan, pod("b")], {"gone": NOW - 39}) == []
    assert collect([orphan, pod("b")], {"gone": NOW - 41}) == ["patch pod a", "delete pod a"]


def test_pods_that_never_had_a_node_and_end_are_deleted():
    assert collect([pod("a", node="", phase="Pending", deletionTimestamp=at())]) == ["delete pod a"]
    assert collect([pod("a", node="", phase="Pending")]) == []


def test_the_oldest_ended_pods_beyond_the_threshold_go():
    ended = [pod(f"p{n}", phase="Succeeded", creationTimestamp=at(-n)) for n in range(3)]
    assert collect([*ended, pod("alive")], threshold=1) == ["delete pod p2", "delete pod p1"]
