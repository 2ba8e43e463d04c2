"""What a pod needs and is: requests, quality of service, taints, affinity."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.model import affinity, pods, taints


def container(cpu: str = "", memory: str = "", **fields: Any) -> dict[str, Any]:
    requests = {name: text for name, text in (("cpu", cpu), ("memory", memory)) if text}
    return {"name": "c", "resources": {"requests": requests}, **fields}


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": spec}


def test_requests_are_the_larger_of_start_and_run() -> None:
    inits = [container("2"), container("500m")]
    found = pods.requests(pod(initContainers=inits, containers=[container("500m", "1Gi")] * 2))
    assert found == {"cpu": 2000, "memory": 2 * 2**30}


def test_sidecars_count_beside_everything_that_starts_after_them() -> None:
    # The example of KEP-753: each later init container runs together with the sidecars before it.
    inits = [container("5"), container("1", restartPolicy="Always"), container("4500m")]
    assert pods.requests(pod(initContainers=inits, containers=[container("2")])) == {"cpu": 5500}


def test_overhead_is_added() -> None:
    found = pods.requests(pod(containers=[container("1")], overhead={"cpu": "250m"}))
    assert found == {"cpu": 1250}


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ([{}], "BestEffort"),
        ([container("1")], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1", "memory": "1"}}}], "Guaranteed"),
        ([{"resources": {"limits": {"cpu": "1"}}}], "Burstable"),
        ([{"resources": {"limits": {"cpu": "1", "memory": "1"}, "requests": {"cpu": "500m"}}}],
         "Burstable"),
        ([{"resources": {"limits": {"cpu": "1", "memory": "1"}}}, {}], "Burstable"),
    ],
)  # fmt: skip
def test_quality_of_service(containers: list[Any], expected: str) -> None:
    assert pods.qos_class(pod(containers=containers)) == expected


def test_host_ports() -> None:
    ports = [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]
    found = pods.host_ports(pod(containers=[{"ports": ports}]))
    assert found == {("TCP", "0.0.0.0", 8080)}
    assert pods.ports_conflict(found, {("TCP", "10.0.0.1", 8080)})
    assert not pods.ports_conflict(found, {("UDP", "0.0.0.0", 8080)})
    assert not pods.ports_conflict({("TCP", "10.0.0.2", 1)}, {("TCP", "10.0.0.1", 1)})


def test_conditions() -> None:
    rows: list[dict[str, Any]] = []
    assert pods.set_condition(rows, {"type": "Ready", "status": "False"}, "t1")
    assert not pods.set_condition(rows, {"type": "Ready", "status": "False"}, "t2")
    assert pods.set_condition(rows, {"type": "Ready", "status": "False", "reason": "x"}, "t3")
    assert rows[0]["lastTransitionTime"] == "t1"
    assert pods.set_condition(rows, {"type": "Ready", "status": "True"}, "t4")
    assert rows == [{"type": "Ready", "status": "True", "reason": "x", "lastTransitionTime": "t4"}]
    assert pods.is_ready({"status": {"conditions": rows}})


TAINT = {"key": "os", "value": "windows", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "os", "value": "windows"}, True),
        ({"key": "os", "operator": "Equal", "value": "linux"}, False),
        ({"key": "os", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "os", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "other", "operator": "Exists"}, False),
        ({"value": "windows"}, False),
    ],
)
def test_tolerations(toleration: dict[str, Any], expected: bool) -> None:
    assert taints.tolerates(toleration, TAINT) is expected
    assert (taints.first_untolerated([TAINT], [toleration]) is None) is expected


def test_preferences_keep_no_pod_away() -> None:
    assert taints.first_untolerated([{"key": "a", "effect": "PreferNoSchedule"}], []) is None


def test_how_long_a_pod_may_stay() -> None:
    evicting = [{"key": "a", "effect": "NoExecute"}]
    exists = {"key": "a", "operator": "Exists"}
    assert taints.toleration_seconds(evicting, []) == 0
    assert taints.toleration_seconds(evicting, [exists]) is None
    assert taints.toleration_seconds(evicting, [{**exists, "tolerationSeconds": 300}]) == 300
    assert taints.toleration_seconds([TAINT], []) is None


NODE = {"metadata": {"name": "win01", "labels": {"os": "windows", "n": "5"}}}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"key": "os", "operator": "In", "values": ["windows", "linux"]}, True),
        ({"key": "os", "operator": "NotIn", "values": ["windows"]}, False),
        ({"key": "x", "operator": "NotIn", "values": ["windows"]}, True),
        ({"key": "x", "operator": "DoesNotExist"}, True),
        ({"key": "os", "operator": "Exists"}, True),
        ({"key": "n", "operator": "Gt", "values": ["4"]}, True),
        ({"key": "n", "operator": "Lt", "values": ["4"]}, False),
        ({"key": "os", "operator": "Gt", "values": ["4"]}, False),
    ],
)
def test_node_selector_terms(row: dict[str, Any], expected: bool) -> None:
    assert affinity.term_matches({"matchExpressions": [row]}, NODE) is expected


def required(*terms: Any) -> dict[str, Any]:
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": rule}}


def by_name(*values: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(values)}]}


def test_required_affinity() -> None:
    assert affinity.required_matches({"nodeSelector": {"os": "windows"}}, NODE)
    assert not affinity.required_matches({"nodeSelector": {"os": "linux"}}, NODE)
    assert affinity.required_matches(required(by_name("x"), by_name("win01")), NODE)
    assert not affinity.required_matches(required({}), NODE)  # an empty term selects nothing
    assert affinity.required_node_names(required(by_name("win01"))) == {"win01"}
    term = {"matchExpressions": [{"key": "os", "operator": "Exists"}]}
    assert affinity.required_node_names(required(by_name("a"), term)) is None


def test_preferred_affinity_adds_weights() -> None:
    def prefers(weight: int, value: str) -> dict[str, Any]:
        row = {"key": "os", "operator": "In", "values": [value]}
        return {"weight": weight, "preference": {"matchExpressions": [row]}}

    rows = [prefers(10, "windows"), prefers(5, "linux"), prefers(1, "windows")]
    rule = {"preferredDuringSchedulingIgnoredDuringExecution": rows}
    assert affinity.preferred_weight({"affinity": {"nodeAffinity": rule}}, NODE) == 11


@pytest.mark.parametrize(
    ("asked", "allocated", "actual", "reason", "held"),
    [
        ("1", "1", "1", "", 1000),
        ("2", "1", "1", "Deferred", 2000),
        ("2", "1", "1", "Infeasible", 1000),
        ("1", "2", "2", "", 2000),  # a shrink that the node has not seen yet
        ("1", "1", "2", "", 2000),
    ],
)
def test_what_a_node_holds_for_a_pod_that_is_resized(
    asked: str, allocated: str, actual: str, reason: str, held: int
) -> None:
    resources = {"requests": {"cpu": asked, "memory": "1Gi"}}
    row = {
        "name": "c",
        "allocatedResources": {"cpu": allocated, "memory": "1Gi"},
        "resources": {"requests": {"cpu": actual, "memory": "1Gi"}},
    }
    conditions = [{"type": "PodResizePending", "reason": reason}] if reason else []
    pod = {
        "spec": {"containers": [{"name": "c", "resources": resources}]},
        "status": {"containerStatuses": [row], "conditions": conditions},
    }
    held_pod = pods.as_held(pod)
    assert pods.requests(held_pod) == {"cpu": held, "memory": 1 << 30}
    assert (held_pod is pod) is (held == int(asked) * 1000)
