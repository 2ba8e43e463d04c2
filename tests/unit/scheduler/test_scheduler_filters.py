"""Why a pod fits nowhere, in the words that people search for."""

import pytest
from cluster_of import WINDOWS, cluster, node, pod, schedule

from muntin.model.windows_releases import scheduler_words

HOST = "kubernetes.io/hostname"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


def refusal(found, *nodes, **pods_on):
    decision = schedule(found, cluster(*nodes, **pods_on))
    assert decision.node == ""
    return decision.message


def test_no_nodes_at_all():
    assert refusal(pod()) == "no nodes available to schedule pods"


def test_the_reasons_of_all_nodes_are_counted_and_sorted():
    nodes = (
        node("lin01", labels={"kubernetes.io/os": "linux"}),
        node("lin02", labels={"kubernetes.io/os": "linux"}),
        node("win01", labels={"kubernetes.io/os": "windows"}, taints=[WINDOWS]),
    )
    message = refusal(pod(nodeSelector={"kubernetes.io/os": "windows"}), *nodes)
    assert message == (
        "0/3 nodes are available: 1 node(s) had untolerated taint {os: windows}, "
        "2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are "
        "available: 3 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(
    "found, on, reason, preemption",
    [
        (pod(), node("n", unschedulable=True), "node(s) were unschedulable", NOT_HELPFUL),
        (pod(cpu="5"), node("n"), "Insufficient cpu", NOT_HELPFUL),
        (pod(cpu="3900m"), node("n"), "Insufficient cpu", NO_VICTIMS),
        (pod(memory="7.9Gi"), node("n"), "Insufficient memory", NO_VICTIMS),
        (pod(), node("n", pods="1"), "Too many pods", NO_VICTIMS),
        (
            pod(port=80),
            node("n"),
            "node(s) didn't have free ports for the requested pod ports",
            NO_VICTIMS,
        ),
    ],
)
def test_one_node_one_reason(found, on, reason, preemption):
    there = pod("there", cpu="200m", memory="1Gi", port=80)
    assert refusal(found, on, n=[there]) == (
        f"0/1 nodes are available: 1 {reason}. preemption: 0/1 nodes are available: 1 {preemption}."
    )


def test_several_resources_are_each_named():
    message = refusal(pod(cpu="5", memory="9Gi"), node("n"))
    assert message.startswith("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.")


def test_a_pod_that_may_not_preempt():
    message = refusal(pod(cpu="5", preemptionPolicy="Never"), node("n"))
    assert message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_a_daemons_pod_is_for_its_node_only():
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}
        }
    }
    daemon = pod(affinity=affinity)
    assert schedule(daemon, cluster(node("a"), node("b"))).node == "b"
    message = refusal(daemon, node("a"), node("b", taints=[WINDOWS]))
    assert "1 node(s) didn't satisfy plugin(s) [NodeAffinity]" in message
    assert "1 node(s) had untolerated taint {os: windows}" in message


def test_tolerations_open_a_tainted_node():
    found = pod(tolerations=[{"key": "os", "value": "windows", "effect": "NoSchedule"}])
    assert schedule(found, cluster(node("win", taints=[WINDOWS]))).node == "win"
    cordoned = node("n", unschedulable=True)
    assert schedule(pod(tolerations=[{"operator": "Exists"}]), cluster(cordoned)).node == "n"


def test_init_containers_count_by_the_largest():
    found = pod(cpu="1")
    found["spec"]["initContainers"] = [
        {"name": "i", "resources": {"requests": {"cpu": "5"}}},
    ]
    assert "Insufficient cpu" in refusal(found, node("n"))


def test_a_pod_that_ended_takes_nothing():
    ended = pod("ended", cpu="4")
    ended["status"] = {"phase": "Succeeded"}
    assert schedule(pod(cpu="4"), cluster(node("n"), n=[ended])).node == "n"


def test_pods_that_leave_or_move_are_not_counted_twice():
    state = cluster(node("a"), node("b"), a=[pod("x", cpu="3")])
    state.set_pod(pod("x", cpu="3"), "b")
    assert schedule(pod(cpu="4"), state).node == "a"
    state.remove_pod("uid-x")
    state.remove_node("a")
    assert schedule(pod(cpu="4"), state).node == "b"


def spread(key=HOST, skew=1, **fields):
    selector = {"matchLabels": {"app": "web"}}
    return [{"topologyKey": key, "maxSkew": skew, "labelSelector": selector, **fields}]


def web(name, **kwargs):
    return pod(name, labels={"app": "web"}, **kwargs)


def test_hard_spreading():
    hard = spread(whenUnsatisfiable="DoNotSchedule")
    found = web("new", topologySpreadConstraints=hard)
    state = cluster(node("a"), node("b"), a=[web("1")])
    assert schedule(found, state).node == "b"
    full = node("b", taints=[WINDOWS])
    message = refusal(found, node("a"), full, a=[web("1")])
    assert "1 node(s) didn't match pod topology spread constraints" in message
    zones = web("new", topologySpreadConstraints=spread("zone", whenUnsatisfiable="DoNotSchedule"))
    assert "(missing required label)" in refusal(zones, node("a"))


def test_spreading_over_fewer_domains_than_wanted():
    wanted = spread(whenUnsatisfiable="DoNotSchedule", minDomains=2)
    found = web("new", topologySpreadConstraints=wanted)
    assert "topology spread" in refusal(found, node("a"), a=[web("1")])


def affinity(kind, key=HOST, app="web", **fields):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **fields}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def test_anti_affinity_of_the_pod_and_of_those_that_are_there():
    apart = web("new", **affinity("podAntiAffinity"))
    assert schedule(apart, cluster(node("a"), node("b"), a=[web("1")])).node == "b"
    message = refusal(apart, node("a"), a=[web("1")])
    assert "1 node(s) didn't match pod anti-affinity rules" in message
    message = refusal(web("new"), node("a"), a=[web("1", **affinity("podAntiAffinity"))])
    assert "1 node(s) didn't satisfy existing pods anti-affinity rules" in message


def test_affinity_follows_others_and_may_begin_with_itself():
    together = web("new", **affinity("podAffinity"))
    assert schedule(together, cluster(node("a"), node("b"), b=[web("1")])).node == "b"
    assert schedule(together, cluster(node("a"))).node == "a"
    stranger = web("new", **affinity("podAffinity", app="db"))
    assert "1 node(s) didn't match pod affinity rules" in refusal(stranger, node("a"))


def test_affinity_looks_into_the_namespaces_it_names():
    there = web("1")
    there["metadata"]["namespace"] = "other"
    state = cluster(node("a"), a=[there])
    assert schedule(web("new", **affinity("podAntiAffinity")), state).node == "a"
    named = affinity("podAntiAffinity", namespaces=["other"])
    assert schedule(web("new", **named), state).node == ""
    selected = affinity("podAntiAffinity", namespaceSelector={"matchLabels": {"team": "x"}})
    labels = {"other": {"team": "x"}}
    assert schedule(web("new", **selected), state, namespaces=labels).node == ""


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            (1, 20),
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity, 1 node(s) had "
            "taint {os: windows}, that the pod didn't tolerate.",
        ),
        (
            (1, 33),
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
            "node(s) had untolerated taint {os: windows}. preemption: 0/2 nodes are available: 2 "
            "Preemption is not helpful for scheduling.",
        ),
        (
            (1, 34),
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
            "node(s) had untolerated taint {os: windows}. no new claims to deallocate, "
            "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
        ),
        (
            (1, 37),
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 "
            "node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes "
            "are available: 2 Preemption is not helpful for scheduling.",
        ),
    ],
)
def test_each_version_has_its_words(version, message):
    state = cluster(
        node("lin01", labels={"kubernetes.io/os": "linux"}),
        node("win01", labels={"kubernetes.io/os": "windows"}, taints=[WINDOWS]),
    )
    wanted = pod(nodeSelector={"kubernetes.io/os": "windows"})
    assert schedule(wanted, state, words=scheduler_words(version)).message == message
