"""HorizontalPodAutoscaler: replicas for what was measured, and what its status and events say.

The figures are those of the documentation's algorithm: desired = ceil(current x used / wanted).
"""

import pytest
from objects import NOW, at, meta, pod, said, status_of

from muntin.controllers.rules import horizontal
from muntin.controllers.rules import horizontal_metrics as metrics
from muntin.controllers.rules.actions import Again, Note, Update
from muntin.controllers.rules.horizontal_behavior import Memory, Past
from muntin.controllers.rules.horizontal_metrics import PodMetric, Reading
from muntin.model.features import features_of


def cpu(percent):
    return {
        "type": "Resource",
        "resource": {
            "name": "cpu",
            "target": {"type": "Utilization", "averageUtilization": percent},
        },
    }


def hpa(*specs, status=None, **spec):
    spec = {"minReplicas": 1, "maxReplicas": 10, **spec}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": meta("web"),
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "metrics": list(specs),
            **spec,
        },
        "status": status or {},
    }


def scale(replicas, there=None, selector="app=web"):
    status = {"replicas": replicas if there is None else there, "selector": selector}
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": meta("web"),
        "spec": {"replicas": replicas},
        "status": status,
    }


def worker(name, request="100m", started=-1000, **fields):
    found = pod(name, **fields)
    found["spec"]["containers"][0]["resources"] = {"requests": {"cpu": request}}
    found["status"]["startTime"] = at(started)
    return found


def workers(count, **fields):
    return [worker(f"p{n}", **fields) for n in range(count)]


def used(*values, at_s=NOW, window_s=15):
    return Reading(pods={f"p{n}": PodMetric(v, at_s, window_s) for n, v in enumerate(values)})


LONG_AGO = Memory(recommended=(Past(1, NOW - 1000),))


def decide(found, there, rows=(), readings=(), now=NOW, **fields):
    fields = {"memory": LONG_AGO, **fields}
    shown = there if isinstance(there, dict) else scale(there)
    snapshot = horizontal.Snapshot(hpa=found, scale=shown, pods=rows, readings=readings, **fields)
    return horizontal.decide(snapshot, now), snapshot


def wanted(decision):
    return decision.replicas if decision.rescale else None


def condition(decision, kind):
    (row,) = (row for row in decision.status["conditions"] if row["type"] == kind)
    return row


@pytest.mark.parametrize(
    ("there", "values", "percent", "replicas"),
    [
        (3, (30, 50, 50), 50, None),  # 43/50 x 3 = 2.58
        (3, (80, 80, 80), 50, 5),  # 80/50 x 3 = 4.8
        (3, (55, 55, 55), 50, None),  # within a tenth
        (3, (56, 56, 56), 50, 4),
        (3, (45, 45, 45), 50, None),
        (3, (20, 20, 20), 50, 2),  # 1.2
        (3, (0, 0, 0), 50, 1),  # at least minReplicas
        (1, (1000,), 50, 4),  # 20 of them, but four at once
        (6, (100,) * 6, 50, 10),  # 12 of them, but ten at most
    ],
)
def test_percent_of_what_is_requested(there, values, percent, replicas):
    decision, _ = decide(hpa(cpu(percent)), there, workers(there), [used(*values)])
    assert wanted(decision) == replicas
    current = decision.status["currentMetrics"][0]["resource"]["current"]
    assert current["averageUtilization"] == sum(values) // there
    assert condition(decision, "ScalingActive")["reason"] == "ValidMetricFound"


def test_words_of_a_way_up():
    decision, snapshot = decide(hpa(cpu(50)), 3, workers(3), [used(80, 80, 80)])
    actions, _ = horizontal.conclude(decision, snapshot, None, NOW)
    text = "New size: 5; reason: cpu resource utilization (percentage of request) above target"
    assert notes(actions) == [("Normal", "SuccessfulRescale", text)]
    status = status_of(actions)
    assert status == {
        "currentReplicas": 3,
        "desiredReplicas": 5,
        "lastScaleTime": at(),
        "currentMetrics": [
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "current": {"averageUtilization": 80, "averageValue": "80m"},
                },
            }
        ],
        "conditions": [
            Row("AbleToScale", "True", "SucceededRescale", "update the target scale to 5"),
            Row(
                "ScalingActive",
                "True",
                "ValidMetricFound",
                "from cpu resource utilization (percentage of request)",
            ),
            Row("ScalingLimited", "False", "DesiredWithinRange", "acceptable range"),
        ],
    }
    assert said(actions) == [
        "note SuccessfulRescale",
        "update horizontalpodautoscaler/status web",
        "again 15",
    ]


class Row(dict):
    """A condition by the end of its message."""

    def __init__(self, kind, status, reason, ending):
        super().__init__(type=kind, status=status, reason=reason)
        self._ending = ending

    def __eq__(self, other):
        return self.items() <= other.items() and other["message"].endswith(self._ending)

    __hash__ = None


def notes(actions):
    return [(row.type, row.reason, row.message) for row in actions if isinstance(row, Note)]


def test_a_status_that_says_it_already_is_not_written():
    rows, readings = workers(3), [used(50, 50, 50)]
    found = hpa(cpu(50))
    decision, snapshot = decide(found, 3, rows, readings)
    actions, memory = horizontal.conclude(decision, snapshot, None, NOW)
    found = {**found, "status": status_of(actions)}
    decision, snapshot = decide(found, 3, rows, readings, now=NOW + 15, memory=memory)
    actions, memory = horizontal.conclude(decision, snapshot, None, NOW + 15)
    assert actions == [Again(15.0)]
    assert [row.at for row in memory.recommended] == [NOW, NOW + 15]


@pytest.mark.parametrize(
    ("rows", "values", "there", "replicas"),
    [  # a pod of which nothing is known holds either way back
        (workers(3), (100, 100), 3, None),  # up: the third counts as 0; 66/60 is within a tenth
        (workers(3), (160, 160), 3, 6),  # 320/3 = 106 %, 106/60 x 3 = 5.3
        (workers(3), (10, 10), 3, 2),  # down: the third counts as all it asked for: 40 %
        (workers(3), (50, 50), 3, None),  # 66 %
    ],
)
def test_pods_without_metrics(rows, values, there, replicas):
    decision, _ = decide(hpa(cpu(60)), there, rows, [used(*values)])
    assert wanted(decision) == replicas


def test_a_missing_pod_counts_as_its_target_where_that_is_above_all():
    """Down: more than 100 percent are asked for, so that all would be too little."""
    decision, _ = decide(hpa(cpu(200)), 3, workers(3), [used(100, 100)])
    # (100 + 100 + 200) / 300 = 133 of 200: 0.665 x 3
    assert wanted(decision) == 2


@pytest.mark.parametrize(
    ("last", "reckoned"),
    [
        (worker("p2", phase="Pending"), False),
        (worker("p2", ready=False, started=-10, since=at(-10)), False),
        (worker("p2", started=-10, since=at(-5)), False),  # a window that began before it
        (worker("p2", started=-100, since=at(-50)), True),
        (worker("p2", ready=False, started=-1000, since=at(-990)), False),  # never ready
        (worker("p2", ready=False, started=-1000, since=at(-500)), True),  # was ready
        (pod("p2"), False),  # has no start time
    ],
)
def test_unready_pods_do_not_count(last, reckoned):
    last["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    rows = [*workers(2), last]
    decision, _ = decide(hpa(cpu(50)), 3, rows, [used(50, 50, 500)])
    current = decision.status["currentMetrics"][0]["resource"]["current"]
    assert current["averageUtilization"] == (200 if reckoned else 50)


def test_unready_pods_hold_the_way_up_back():
    rows = [*workers(2), worker("p2", phase="Pending")]
    decision, _ = decide(hpa(cpu(50)), 3, rows, [used(60, 60)])
    assert wanted(decision) is None  # 120/300 = 40 %: that would be down
    decision, _ = decide(hpa(cpu(50)), 3, rows, [used(150, 150)])
    assert wanted(decision) == 6


def test_pods_that_end_are_nobodys():
    rows = [*workers(2), worker("p2", deletionTimestamp=at()), worker("p3", phase="Failed")]
    decision, _ = decide(hpa(cpu(50)), 2, rows, [used(100, 100, 0, 0)])
    assert wanted(decision) == 4


@pytest.mark.parametrize(
    ("rows", "reading", "message"),
    [
        (
            workers(1),
            metrics.unread("resource", "gone"),
            "unable to get metrics for resource cpu: "
            "unable to fetch metrics from resource metrics API: gone",
        ),
        ([], used(1), "no pods returned by selector while calculating replica count"),
        (
            workers(1, phase="Pending"),
            used(1),
            "did not receive metrics for targeted pods (pods might be unready)",
        ),
        ([pod("p0")], used(1), None),
    ],
)
def test_what_cannot_be_reckoned(rows, reading, message):
    if message is None:
        rows[0]["status"]["startTime"] = at(-1000)
        message = "missing request for cpu in container c of Pod p0"
    decision, snapshot = decide(hpa(cpu(50)), 1, rows, [reading])
    assert not decision.rescale
    whole = f"failed to get cpu utilization: {message}"
    row = condition(decision, "ScalingActive")
    assert (row["status"], row["reason"]) == ("False", "FailedGetResourceMetric")
    assert row["message"] == f"the HPA was unable to compute the replica count: {whole}"
    actions, _ = horizontal.conclude(decision, snapshot, None, NOW)
    first = f"failed to get cpu resource metric value: {whole}"
    assert notes(actions) == [
        ("Warning", "FailedGetResourceMetric", whole),
        (
            "Warning",
            "FailedComputeMetricsReplicas",
            f"invalid metrics (1 invalid out of 1), first error is: {first}",
        ),
    ]
    assert status_of(actions)["currentMetrics"] == [{"type": ""}]


def pods_metric(target):
    target = {"type": "AverageValue", "averageValue": target}
    return {"type": "Pods", "pods": {"metric": {"name": "hits"}, "target": target}}


def external(kind, target, selector=None):
    field = "value" if kind == "Value" else "averageValue"
    metric = {"name": "queue", **({"selector": selector} if selector else {})}
    return {
        "type": "External",
        "external": {"metric": metric, "target": {"type": kind, field: target}},
    }


def of_object(kind, target):
    field = "value" if kind == "Value" else "averageValue"
    described = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "name": "main"}
    return {
        "type": "Object",
        "object": {
            "metric": {"name": "hits"},
            "describedObject": described,
            "target": {"type": kind, field: target},
        },
    }


@pytest.mark.parametrize(
    ("spec", "reading", "replicas", "current"),
    [
        (pods_metric("10"), used(20_000, 20_000), 4, {"averageValue": "20"}),
        (pods_metric("10"), used(10_500, 10_500), None, {"averageValue": "10500m"}),
        (external("Value", "30"), Reading(values=(30_000, 30_000)), 4, {"value": "60"}),
        (external("Value", "30"), Reading(values=(31_000,)), None, {"value": "31"}),
        (external("AverageValue", "30"), Reading(values=(90_000,)), 3, {"averageValue": "45"}),
        (external("AverageValue", "30"), Reading(values=(62_000,)), None, {"averageValue": "31"}),
        (of_object("Value", "2k"), Reading(values=(3_000_000,)), 3, {"value": "3k"}),
        (of_object("AverageValue", "1"), Reading(values=(4_000,)), 4, {"averageValue": "2"}),
    ],
)
def test_other_metrics(spec, reading, replicas, current):
    decision, _ = decide(hpa(spec), 2, workers(2), [reading])
    assert wanted(decision) == replicas
    (row,) = decision.status["currentMetrics"]
    kind = spec["type"].lower()
    assert row["type"] == spec["type"]
    assert row[kind]["current"] == current
    assert row[kind]["metric"] == spec[kind]["metric"]


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (pods_metric("1"), "pods metric hits"),
        (of_object("Value", "1"), "Ingress metric hits"),
        (of_object("AverageValue", "1"), "external metric hits(nil)"),
        (
            external("Value", "1", {"matchLabels": {"b": "2", "a": "1"}}),
            "external metric queue(&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},"
            "MatchExpressions:[]LabelSelectorRequirement{},})",
        ),
    ],
)
def test_names_of_metrics(spec, name):
    reading = used(9000) if spec["type"] == "Pods" else Reading(values=(9000,))
    decision, _ = decide(hpa(spec), 1, workers(1), [reading])
    assert decision.reason == f"{name} above target"


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        (
            pods_metric("1"),
            "FailedGetPodsMetric",
            "unable to get metric hits: unable to fetch metrics from custom metrics API: none",
        ),
        (
            of_object("Value", "1"),
            "FailedGetObjectMetric",
            "unable to get metric hits: Ingress on ns main/"
            "unable to fetch metrics from custom metrics API: none",
        ),
        (
            external("Value", "1"),
            "FailedGetExternalMetric",
            "unable to get external metric ns/queue/nil: "
            "unable to fetch metrics from custom metrics API: none",
        ),
    ],
)
def test_words_of_other_failures(spec, reason, message):
    decision, _ = decide(hpa(spec), 1, workers(1), [metrics.unread("custom", "none")])
    assert (decision.notes[0].reason, decision.notes[0].message) == (reason, message)
    assert decision.notes[1].message.endswith(f": {message}")


@pytest.mark.parametrize(
    ("spec", "first"),
    [
        (of_object("Value", "1"), "object metric value: unable"),
        (
            of_object("AverageValue", "1"),
            "object metric value: failed to get hits object metric: unable",
        ),
        (
            external("Value", "1"),
            "queue external metric value: failed to get external metric queue: unable",
        ),
        (
            external("AverageValue", "1"),
            "queue external metric value: failed to get queue external metric: unable",
        ),
    ],
)
def test_the_first_error_says_more(spec, first):
    decision, _ = decide(hpa(spec), 1, workers(1), [metrics.unread("custom", "none")])
    assert f"first error is: failed to get {first} to get" in decision.notes[1].message


def test_one_container_alone():
    rows = workers(2)
    for row in rows:
        sidecar = {"name": "side", "resources": {"requests": {"cpu": "1"}}}
        row["spec"]["containers"].append(sidecar)
    spec = cpu(50)
    spec = {"type": "ContainerResource", "containerResource": {**spec["resource"]}}
    spec["containerResource"]["container"] = "c"
    decision, _ = decide(hpa(spec), 2, rows, [used(100, 100)])
    assert wanted(decision) == 4
    title = "cpu container resource utilization (percentage of request)"
    assert decision.reason == f"{title} above target"
    assert decision.status["currentMetrics"][0]["containerResource"]["container"] == "c"


def test_memory_is_told_in_bytes_of_a_binary_suffix():
    target = {"type": "AverageValue", "averageValue": "10Mi"}
    spec = {"type": "Resource", "resource": {"name": "memory", "target": target}}
    mebi = 2**20 * 1000
    decision, _ = decide(hpa(spec), 2, workers(2), [used(20 * mebi, 20 * mebi)])
    assert wanted(decision) == 4
    current = decision.status["currentMetrics"][0]["resource"]["current"]
    assert current == {"averageValue": "20Mi"}


def test_the_highest_of_several_counts_and_a_broken_one_only_holds_back():
    specs = [cpu(50), pods_metric("10")]
    readings = [used(60, 60), used(40_000, 40_000)]
    decision, _ = decide(hpa(*specs), 2, workers(2), readings)
    assert (wanted(decision), decision.reason) == (4, "pods metric hits above target")
    broken = [used(10, 10), metrics.unread("custom", "none")]
    decision, _ = decide(hpa(*specs), 2, workers(2), broken)
    assert not decision.rescale
    assert condition(decision, "ScalingActive")["reason"] == "FailedGetPodsMetric"
    broken = [used(90, 90), metrics.unread("custom", "none")]
    decision, _ = decide(hpa(*specs), 2, workers(2), broken)
    assert wanted(decision) == 4
    assert condition(decision, "ScalingActive")["status"] == "True"
    assert decision.status["currentMetrics"][1] == {"type": ""}


@pytest.mark.parametrize(
    ("there", "replicas", "reason"),
    [
        (12, 10, "Current number of replicas above Spec.MaxReplicas"),
        (1, 2, "Current number of replicas below Spec.MinReplicas"),
    ],
)
def test_out_of_range_needs_no_metrics(there, replicas, reason):
    found = hpa(cpu(50), minReplicas=2)
    assert not horizontal.needs_readings(found, scale(there))
    decision, _ = decide(found, there)
    assert (wanted(decision), decision.reason) == (replicas, reason)
    assert "currentMetrics" not in decision.status


def test_a_target_without_replicas_is_left_alone():
    found = hpa(cpu(50))
    assert not horizontal.needs_readings(found, scale(0))
    decision, _ = decide(found, 0)
    assert wanted(decision) is None
    row = condition(decision, "ScalingActive")
    assert (row["status"], row["reason"]) == ("False", "ScalingDisabled")
    assert decision.status["desiredReplicas"] == 0


def test_a_target_that_is_not_there():
    problem = 'deployments.apps "web" not found'
    snapshot = horizontal.Snapshot(hpa=hpa(cpu(50)), scale_error=problem)
    actions, _ = horizontal.conclude(horizontal.decide(snapshot, NOW), snapshot, None, NOW)
    assert notes(actions) == [("Warning", "FailedGetScale", problem)]
    (row,) = status_of(actions)["conditions"]
    assert (row["type"], row["status"], row["reason"]) == ("AbleToScale", "False", "FailedGetScale")
    begin = "the HPA controller was unable to get the target's current scale"
    assert row["message"] == f"{begin}: {problem}"


@pytest.mark.parametrize(
    ("shown", "rivals", "event", "reason"),
    [
        (scale(1, selector=""), (), "SelectorRequired", "InvalidSelector"),
        (scale(1, selector="a in"), (), "InvalidSelector", "InvalidSelector"),
        (scale(1), ("ns/a", "ns/web"), "AmbiguousSelector", "AmbiguousSelector"),
    ],
)
def test_pods_must_be_known_and_its_own(shown, rivals, event, reason):
    decision, _ = decide(hpa(cpu(50)), shown, workers(1), rivals=rivals)
    assert not decision.rescale
    assert [row.reason for row in decision.notes] == [event, "FailedComputeMetricsReplicas"]
    assert condition(decision, "ScalingActive")["reason"] == reason


def test_a_scale_that_cannot_be_set():
    decision, snapshot = decide(hpa(cpu(50)), 3, workers(3), [used(80, 80, 80)])
    actions, _ = horizontal.conclude(decision, snapshot, "forbidden", NOW)
    ((kind, reason, text),) = notes(actions)
    assert (kind, reason) == ("Warning", "FailedRescale")
    assert text.startswith("New size: 5; reason: cpu resource")
    assert text.endswith("; error: forbidden")
    status = status_of(actions)
    assert (status["currentReplicas"], status["desiredReplicas"]) == (3, 0)
    assert status["conditions"][0]["reason"] == "FailedUpdateScale"
    assert "lastScaleTime" not in status


def test_down_is_held_back_for_the_window():
    rows, low = workers(4), [used(10, 10, 10, 10)]
    memory = Memory(recommended=(Past(3, NOW - 200), Past(9, NOW - 400)))
    decision, _ = decide(hpa(cpu(50)), 4, rows, low, memory=memory)
    assert wanted(decision) == 3
    able = condition(decision, "AbleToScale")
    assert able["reason"] == "ScaleDownStabilized"
    assert decision.memory.recommended == (Past(3, NOW - 200), Past(1, NOW))
    decision, _ = decide(hpa(cpu(50)), 4, rows, low, memory=Memory())
    assert wanted(decision) is None  # the four found at the beginning count


def test_tolerances_of_ones_own():
    behavior = {"scaleUp": {"tolerance": "500m"}, "scaleDown": {"tolerance": "0"}}
    behavior["scaleDown"]["stabilizationWindowSeconds"] = 0
    found = hpa(cpu(50), behavior=behavior)
    rows = workers(4)
    assert wanted(decide(found, 4, rows, [used(70, 70, 70, 70)])[0]) is None
    assert wanted(decide(found, 4, rows, [used(37, 37, 37, 37)])[0]) == 3
    older = features_of((1, 34))
    assert wanted(decide(found, 4, rows, [used(70, 70, 70, 70)], features=older)[0]) == 6


def told(decision):
    return {note.reason: note.message for note in decision.notes}


OLDEST = features_of((1, 20))


def test_1_20_goes_down_by_the_metrics_it_knows():
    memory = {"readings": [used(10, 10, 10, 10), Reading(error="none")]}
    found, rows = hpa(cpu(50), cpu(50)), workers(4)
    assert wanted(decide(found, 4, rows, features=OLDEST, **memory)[0]) == 1
    decision, _ = decide(found, 4, rows, features=features_of((1, 25)), **memory)
    assert wanted(decision) is None
    assert told(decision)["FailedComputeMetricsReplicas"] == (
        "invalid metrics (1 invalid out of 2), first error is: failed to get cpu resource metric "
        "value: failed to get cpu utilization: unable to get metrics for resource cpu: none"
    )


@pytest.mark.parametrize(
    "features, messages",
    [
        (OLDEST, ["missing request for cpu", "did not receive metrics for any ready pods"]),
        (
            features_of((1, 36)),
            [
                "missing request for cpu in container c of Pod p0",
                "did not receive metrics for targeted pods (pods might be unready)",
            ],
        ),
    ],
)
def test_words_of_what_is_missing(features, messages):
    bare = worker("p0")
    del bare["spec"]["containers"][0]["resources"]
    for row, message in zip((bare, worker("p0", phase="Pending")), messages, strict=True):
        decision, _ = decide(hpa(cpu(50)), 1, [row], [used(10)], features=features)
        text = told(decision)["FailedGetResourceMetric"]
        assert text == f"failed to get cpu utilization: {message}"
        kept = hpa(cpu(50), status={"currentMetrics": [{"type": "x"}]})
        decision, _ = decide(kept, 1, [row], [used(10)], features=features)
        is_kept = decision.status["currentMetrics"] == [{"type": "x"}]
        assert is_kept == (features is OLDEST)


def test_1_20_takes_missing_pods_for_all_that_they_request():
    rows, found = workers(2), hpa(cpu(200), minReplicas=1)
    assert wanted(decide(found, 2, rows, [used(20)], features=OLDEST)[0]) == 1
    assert wanted(decide(found, 2, rows, [used(20)])[0]) is None


def test_a_status_that_cannot_be_written_is_told():
    decision, snapshot = decide(hpa(cpu(50)), 3, workers(3), [used(80, 80, 80)])
    actions, _ = horizontal.conclude(decision, snapshot, None, NOW)
    (update,) = (action for action in actions if isinstance(action, Update))
    assert (update.told.reason, update.told.failure_reason) == ("", "FailedUpdateStatus")
