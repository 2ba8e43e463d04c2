"""Who has to leave so that a more important pod fits, and what is said of it."""

import pytest
from cluster_of import WINDOWS, cluster, node, pod, schedule, searched

from muntin.scheduler.plan_preemption import Candidate, find_room, pick

HIGH = {"priority": 100}


def named(decision):
    return decision.nominated, [victim["metadata"]["name"] for victim in decision.victims]


def started(found, minute):
    found.setdefault("status", {})["startTime"] = f"2026-01-01T00:{minute:02}:00Z"
    return found


def budget(name, allowed, *, disrupted=(), **labels):
    return {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {
            "disruptionsAllowed": allowed,
            "disruptedPods": dict.fromkeys(disrupted, "2026-01-01T00:00:00Z"),
        },
    }


def test_the_least_important_leave_and_no_more_than_needed():
    there = [pod("a", cpu="2", priority=5), pod("b", cpu="1", priority=1), pod("c", cpu="1")]
    decision = schedule(pod(cpu="2", **HIGH), cluster(node("n"), n=there))
    assert named(decision) == ("n", ["b", "c"])
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."


def test_pods_of_the_same_priority_stay():
    decision = schedule(pod(cpu="4", **HIGH), cluster(node("n"), n=[pod("a", cpu="1", **HIGH)]))
    assert named(decision) == ("", [])
    assert decision.message.endswith(
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


def test_a_node_that_is_too_small_even_without_them_is_told_by_its_reason():
    there = [pod("a", cpu="2"), pod("b", cpu="2", **HIGH)]
    decision = schedule(pod(cpu="3", **HIGH), cluster(node("n"), n=there))
    assert decision.message.endswith("preemption: 0/1 nodes are available: 1 Insufficient cpu.")


def test_nodes_where_it_cannot_help_are_left_out():
    state = cluster(node("lin", taints=[WINDOWS]), node("win"), lin=[pod("a")], win=[])
    decision = schedule(pod(cpu="9", **HIGH), state)
    assert decision.message.endswith(
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )


def test_host_ports_and_anti_affinity_are_made_room_for():
    there = pod("a", port=80)
    decision = schedule(pod(port=80, **HIGH), cluster(node("n"), n=[there]))
    assert named(decision) == ("n", ["a"])
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    apart = {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    }
    web = pod("a", labels={"app": "web"})
    other = pod("b", labels={"app": "db"})
    decision = schedule(pod(**apart, **HIGH), cluster(node("n"), n=[web, other]))
    assert named(decision) == ("n", ["a"])


def test_spreading_is_made_room_for():
    rows = [
        {
            "topologyKey": "kubernetes.io/hostname",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    web = {"app": "web"}
    new = pod("new", labels=web, cpu="1", topologySpreadConstraints=rows, **HIGH)
    full = [pod("x", cpu="4", **HIGH)]
    state = cluster(node("a"), node("b"), a=[pod("w", labels=web)], b=full)
    assert named(schedule(new, state)) == ("a", ["w"])


def test_protected_pods_leave_last():
    there = [pod("a", cpu="2", labels={"app": "db"}), pod("b", cpu="2")]
    state = cluster(node("n"), n=there)
    rows = [budget("db", 0, app="db")]
    assert named(schedule(pod(cpu="2", **HIGH), state, budgets=rows)) == ("n", ["b"])
    rows = [budget("db", 1, app="db")]
    both = schedule(pod(cpu="4", **HIGH), state, budgets=rows)
    assert named(both) == ("n", ["a", "b"])


def test_a_budget_that_counts_the_pod_as_disrupted_is_not_violated():
    there = [pod("a", cpu="4", labels={"app": "db"})]
    search = searched(pod(cpu="4", **HIGH), cluster(node("n"), n=there))
    for disrupted, violations in (((), 1), (("a",), 0)):
        room = find_room(search, [budget("db", 0, disrupted=disrupted, app="db")])
        assert room.candidates[0].violations == violations


@pytest.mark.parametrize(
    "left, right",
    [
        (([("a", 1)], 0), ([("b", 1)], 1)),
        (([("a", 1), ("b", 1)], 0), ([("c", 2)], 0)),
        (([("a", 2), ("b", 0)], 0), ([("c", 2), ("d", 1)], 0)),
        (([("a", 1)], 0), ([("c", 1), ("d", 1)], 0)),
        (([("a", 1, 9)], 0), ([("c", 1, 3)], 0)),
    ],
    ids=["violations", "highest", "sum", "number", "latest start"],
)
def test_the_node_where_it_hurts_least(left, right):
    def candidate(name, row):
        victims, violations = row
        pods = [started(pod(v[0], priority=v[1]), v[2] if len(v) > 2 else 0) for v in victims]
        return Candidate(name, tuple(pods), violations)

    rows = [candidate("worse", right), candidate("better", left)]
    assert pick(rows).node == "better"
    assert pick(rows[::-1]).node == "better"
    assert pick([]) is None


def test_the_pod_that_runs_for_longer_stays():
    there = [started(pod("old", cpu="2"), 1), started(pod("young", cpu="2"), 30)]
    assert named(schedule(pod(cpu="2", **HIGH), cluster(node("n"), n=there))) == ("n", ["young"])


def leaving(found, reason="PreemptionByScheduler"):
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    row = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    found["status"] = {"conditions": [row]}
    return found


def test_while_victims_leave_nobody_else_has_to():
    state = cluster(node("n"), n=[leaving(pod("a", cpu="3")), pod("b", cpu="1")])
    waiting = pod("new", cpu="3", **HIGH)
    waiting["status"] = {"nominatedNodeName": "n"}
    decision = schedule(waiting, state)
    assert decision.nominated is None
    assert decision.message == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a "
        "terminating pod on the nominated node."
    )
    state = cluster(node("n"), n=[leaving(pod("a", cpu="3"), reason="EvictionByEvictionAPI")])
    waiting = pod("new", cpu="4", **HIGH)
    waiting["status"] = {"nominatedNodeName": "n"}
    assert schedule(waiting, state).nominated == "n"


def test_a_pod_that_may_not_preempt():
    there = [pod("a", cpu="4")]
    found = pod(cpu="4", preemptionPolicy="Never", **HIGH)
    decision = schedule(found, cluster(node("n"), n=there))
    assert named(decision) == (None, [])
    assert decision.message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_room_that_was_made_is_kept_for_the_pod_it_was_made_for():
    state = cluster(node("n"), node("m", taints=[WINDOWS]))
    waiting = pod("big", cpu="3", **HIGH)
    state.nominate(waiting, "n")
    assert schedule(pod("small", cpu="2"), state).node == ""
    assert schedule(pod("small", cpu="1"), state).node == "n"
    assert schedule(pod("more", cpu="2", priority=200), state).node == "n"
    assert schedule(waiting, state).node == "n"
    state.set_pod(waiting, "n")
    assert not state.nominated


def test_the_nominated_node_is_tried_first():
    state = cluster(node("a"), node("b"), node("c"))
    waiting = pod("p")
    state.nominate(waiting, "b")
    for start in range(3):
        assert schedule(waiting, state, start=start).node == "b"
