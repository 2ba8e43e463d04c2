"""Disruption budgets: how many pods must be healthy, evictions under way, and marks of old."""

import pytest
from objects import NOW, at, meta, pod, said, status_of

from muntin.controllers.rules import disruption
from muntin.model import budgets

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta("rs")}
SCALES = {"uid-rs": ("uid-deploy", 4)}


def budget(status=None, **spec):
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta("b", generation=2),
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
        "status": status or {},
    }


def decide(found, rows, scales=SCALES):
    snapshot = disruption.Snapshot(budget=found, pods=rows, scales=scales)
    return disruption.reconcile(snapshot, NOW)


def four(ready=4):
    return [pod(f"p{n}", OWNER, ready=n < ready) for n in range(4)]


@pytest.mark.parametrize(
    ("spec", "ready", "numbers"),
    [  # expected, desired, healthy, allowed
        ({"minAvailable": 3}, 4, (4, 3, 4, 1)),
        ({"minAvailable": 3}, 3, (4, 3, 3, 0)),
        ({"minAvailable": 3}, 1, (4, 3, 1, 0)),
        ({"minAvailable": "50%"}, 4, (4, 2, 4, 2)),
        ({"minAvailable": "60%"}, 4, (4, 3, 4, 1)),
        ({"maxUnavailable": 1}, 4, (4, 3, 4, 1)),
        ({"maxUnavailable": "30%"}, 4, (4, 2, 4, 2)),
        ({"maxUnavailable": "100%"}, 4, (4, 0, 4, 4)),
        ({"maxUnavailable": 9}, 2, (4, 0, 2, 2)),
    ],
)
def test_counts(spec, ready, numbers):
    status = status_of(decide(budget(**spec), four(ready)))
    fields = ("expectedPods", "desiredHealthy", "currentHealthy", "disruptionsAllowed")
    assert tuple(status[field] for field in fields) == numbers
    assert status["observedGeneration"] == 2
    (row,) = status["conditions"]
    some = numbers[-1] > 0
    assert (row["status"], row["reason"]) == (
        ("True", "SufficientPods") if some else ("False", "InsufficientPods")
    )


def test_the_replicas_of_the_owner_count_and_not_the_pods():
    status = status_of(decide(budget(maxUnavailable=1), four()[:3]))
    assert (status["expectedPods"], status["desiredHealthy"]) == (4, 3)
    assert status["disruptionsAllowed"] == 0


def test_two_owners_add_up():
    other = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta("rs2")}
    scales = {**SCALES, "uid-rs2": ("uid-deploy", 4)}  # of the same Deployment: counted once
    status = status_of(decide(budget(maxUnavailable=1), [*four(), pod("x", other)], scales))
    assert status["expectedPods"] == 4
    scales["uid-rs2"] = ("uid-rs2", 2)
    status = status_of(decide(budget(maxUnavailable=1), [*four(), pod("x", other)], scales))
    assert status["expectedPods"] == 6


def test_nothing_is_written_twice():
    found = budget(minAvailable=3)
    status = status_of(decide(found, four()))
    assert decide({**found, "status": status}, four()) == []


def test_no_pods_allow_nothing():
    actions = decide(budget(minAvailable=0), [])
    assert said(actions) == ["note NoPods", "update poddisruptionbudget/status b"]
    assert status_of(actions)["disruptionsAllowed"] == 0


def test_a_pod_whose_owner_has_no_scale_fails_safe():
    found = budget({"disruptionsAllowed": 3}, maxUnavailable=1)
    actions = decide(found, four(), scales={})
    assert said(actions)[0] == "note CalculateExpectedPodCountFailed"
    status = status_of(actions)
    assert status["disruptionsAllowed"] == 0
    (row,) = status["conditions"]
    assert (row["reason"], row["message"]) == ("SyncFailed", 'found no controllers for pod "p0"')


def test_pods_of_nobody_are_told():
    found = budget(maxUnavailable=1)
    found["spec"]["selector"] = {
        "matchLabels": {"c": "d", "a": "b"},
        "matchExpressions": [
            {"key": "x", "operator": "In", "values": ["u", "v"]},
            {"key": "y", "operator": "Exists"},
        ],
    }
    actions = decide(found, [pod("alone")])
    assert said(actions)[0] == "note UnmanagedPods"
    # recorded from kube-controller-manager 1.36
    assert actions[0].message.partition(" (selector: ")[2].partition(") were found")[0] == (
        "&LabelSelector{MatchLabels:map[string]string{a: b,c: d,},MatchExpressions:"
        "[]LabelSelectorRequirement{LabelSelectorRequirement{Key:x,Operator:In,Values:[u v],},"
        "LabelSelectorRequirement{Key:y,Operator:Exists,Values:[],},},}"
    )
    assert status_of(actions)["expectedPods"] == 0


def test_a_pod_of_several_budgets_is_told():
    (note,) = disruption.contested(pod("p"), ["b", "b2"])
    assert (note.type, note.reason) == ("Warning", "MultiplePodDisruptionBudgets")
    assert note.message == (
        'Pod "ns"/"p" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.'
    )
    assert disruption.contested(pod("p"), ["b"]) == []


def test_evictions_under_way_do_not_count_as_healthy():
    found = budget({"disruptedPods": {"p0": at(-10), "gone": at(-5)}}, minAvailable=2)
    actions = decide(found, four())
    status = status_of(actions)
    assert status["currentHealthy"] == 3
    assert status["disruptedPods"] == {"p0": at(-10)}
    assert said(actions)[-1] == "again 111"


def test_evictions_that_never_came_are_forgotten():
    found = budget({"disruptedPods": {"p0": at(-121)}}, minAvailable=2)
    actions = decide(found, four())
    assert said(actions)[0] == "note NotDeleted"
    status = status_of(actions)
    assert status["currentHealthy"] == 4
    assert "disruptedPods" not in status


def test_deleted_pods_are_not_healthy():
    rows = four()
    rows[0]["metadata"]["deletionTimestamp"] = at()
    assert status_of(decide(budget(minAvailable=2), rows))["currentHealthy"] == 3


def marked(age, **fields):
    found = pod("p", **fields)
    row = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(-age)}
    found["status"]["conditions"].append(row)
    return found


def test_stale_marks_are_taken_back():
    assert said(disruption.clear_stale_target(marked(30), NOW)) == ["again 90"]
    actions = disruption.clear_stale_target(marked(120), NOW)
    assert status_of(actions)["conditions"][-1]["status"] == "False"
    assert disruption.clear_stale_target(marked(500, phase="Failed"), NOW) == []
    assert disruption.clear_stale_target(pod("p"), NOW) == []


# -- what the API server asks of a budget ----------------------------------------------------------


def ready_budget(**status):
    return budget({"observedGeneration": 2, "disruptionsAllowed": 1, **status})


def test_a_charge_takes_one_and_says_for_whom():
    found = ready_budget()
    budgets.charge(found, "p0", at())
    status = found["status"]
    assert (status["disruptionsAllowed"], status["disruptedPods"]) == (0, {"p0": at()})
    assert status["conditions"][0]["reason"] == "InsufficientPods"


@pytest.mark.parametrize(
    ("status", "text", "retry_s", "forbidden"),
    [
        ({"observedGeneration": 1},
         "The disruption budget b is still being processed by the server.", 10, False),
        ({"disruptionsAllowed": 0, "desiredHealthy": 3, "currentHealthy": 2},
         "The disruption budget b needs 3 healthy pods and has 2 currently", 0, False),
        ({"disruptionsAllowed": 0, "conditions": [{"type": "DisruptionAllowed", "status": "False",
          "reason": "SyncFailed", "message": "why"}]},
         "The disruption budget b does not allow evicting pods currently because it failed sync: "
         "why", 0, False),
        ({"disruptionsAllowed": -1}, "pdb disruptions allowed is negative", 0, True),
        ({"disruptedPods": {str(n): "" for n in range(2001)}},
         "DisruptedPods map too big - too many evictions not confirmed by PDB controller", 0, True),
    ],
)  # fmt: skip
def test_refusals(status, text, retry_s, forbidden):
    with pytest.raises(budgets.Refusal) as caught:
        budgets.charge(ready_budget(**status), "p0", at())
    found = caught.value
    assert (found.why, found.retry_s, found.forbidden) == (text, retry_s, forbidden)


@pytest.mark.parametrize(
    ("spec", "status", "ready", "spared"),
    [
        ({}, {"desiredHealthy": 2, "currentHealthy": 2}, False, True),
        ({}, {"desiredHealthy": 2, "currentHealthy": 2}, True, False),
        ({}, {"desiredHealthy": 2, "currentHealthy": 1}, False, False),
        ({}, {"desiredHealthy": 0, "currentHealthy": 1}, False, False),
        ({"unhealthyPodEvictionPolicy": "AlwaysAllow"}, {"desiredHealthy": 2}, False, True),
        ({"unhealthyPodEvictionPolicy": "IfHealthyBudget"}, {"desiredHealthy": 2}, False, False),
    ],
)
def test_pods_that_are_not_ready_may_go_for_free(spec, status, ready, spared):
    assert budgets.spares(budget(status, **spec), pod("p", ready=ready)) is spared


@pytest.mark.parametrize(
    ("version", "selector", "selects"),
    [
        ("policy/v1", {"matchLabels": {"app": "web"}}, True),
        ("policy/v1", {"matchLabels": {"app": "db"}}, False),
        ("policy/v1", {}, True),
        ("policy/v1", None, False),
        ("policy/v1beta1", {}, False),
    ],
)
def test_whom_a_budget_guards(version, selector, selects):
    found = {"apiVersion": version, "spec": {"selector": selector}}
    assert budgets.selects(found, {"app": "web"}) is selects
