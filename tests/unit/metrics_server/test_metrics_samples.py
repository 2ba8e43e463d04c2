"""What was used between two looks at a kubelet."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.kit.errors import NotFound, Unavailable
from muntin.metrics_server import objects
from muntin.metrics_server.access import Asked, refusal, review
from muntin.metrics_server.samples import Look, Looks, Sample, Usage, look_of, usage
from muntin.metrics_server.scrape import kubelet_of
from muntin.metrics_server.server import asked_for


def row(name: str, time: str, cpu_ns: int, memory: int) -> dict[str, Any]:
    return {
        "name": name,
        "cpu": {"time": time, "usageCoreNanoSeconds": cpu_ns},
        "memory": {"time": time, "workingSetBytes": memory},
    }


def summary(second: int, cpu_ns: int, *containers: dict[str, Any]) -> dict[str, Any]:
    time = f"2026-01-02T03:04:{second:02}Z"
    node = row("", time, cpu_ns, 8192)
    pod = {"podRef": {"namespace": "default", "name": "web"}, "containers": list(containers)}
    return {"node": {"nodeName": "lin01", **node}, "pods": [pod]}


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (Sample(10, 1_000, 5), Sample(12, 3_001_000, 7), Usage(12, 2, 1_500_000, 7)),
        (Sample(10, 1_000, 5), Sample(12, 1_000, 7), Usage(12, 2, 0, 7)),
        (Sample(10, 1_000, 5), Sample(10, 2_000, 7), None),  # no time passed
        (Sample(10, 5_000, 5), Sample(12, 2_000, 7), None),  # it was started anew
        (None, Sample(12, 2_000, 7), None),
    ],
)
def test_usage_is_what_passed_between_two_samples(
    older: Sample | None, newer: Sample, expected: Usage | None
) -> None:
    assert usage(older, newer) == expected


def test_a_pod_is_known_when_each_of_its_containers_is() -> None:
    whole = look_of(summary(5, 100, row("a", "2026-01-02T03:04:05Z", 1, 2)))
    assert whole is not None
    assert set(whole.pods) == {("default", "web")}
    starting = {"name": "b", "cpu": {"time": "2026-01-02T03:04:05Z"}}
    part = look_of(summary(5, 100, row("a", "2026-01-02T03:04:05Z", 1, 2), starting))
    assert part is not None
    assert not part.pods


def test_a_kubelet_that_knows_nothing_of_its_node_gives_no_look() -> None:
    assert look_of({"node": {"nodeName": "lin01"}, "pods": []}) is None


WEB = ("default", "web")


def look(at_s: float, cpu_ns: int) -> Look:
    return Look(Sample(at_s, cpu_ns, 4), {WEB: {"main": Sample(at_s, cpu_ns, 3)}})


def test_the_last_two_looks_count() -> None:
    looks = Looks(widest_s=15)
    for at_s, cpu_ns in ((10.0, 0), (20.0, 1_000_000_000), (40.0, 5_000_000_000)):
        looks.add("n", look(at_s, cpu_ns))
    assert looks.node("n") == Usage(40, 20, 200_000_000, 4)
    assert looks.pod("n", WEB) == {"main": Usage(40, 20, 200_000_000, 3)}
    looks.add("n", look(40, 6_000_000_000))  # the same moment again
    assert looks.node("n") == Usage(40, 20, 200_000_000, 4)
    looks.keep(set())
    assert looks.node("n") is None
    assert looks.pod("n", WEB) == {}


def test_looks_that_follow_one_another_soon_widen_one_window() -> None:
    looks = Looks(widest_s=22.5)
    windows = []
    for at_s in (0, 3, 18, 33, 36, 39, 42, 57):
        looks.add("n", look(at_s, at_s))
        usage = looks.node("n")
        windows.append(usage.window_s if usage else None)
    assert windows == [None, 3, 18, 15, 18, 21, 3, 18]


def test_a_pod_with_a_new_container_waits_for_the_next_look() -> None:
    looks = Looks(widest_s=15)
    looks.add("n", Look(Sample(1, 0, 0), {WEB: {"a": Sample(1, 0, 0)}}))
    looks.add("n", Look(Sample(2, 0, 0), {WEB: {"a": Sample(2, 5, 0), "b": Sample(2, 5, 0)}}))
    assert looks.pod("n", WEB) == {}


def test_a_container_that_was_started_anew_waits_for_the_next_look() -> None:
    looks = Looks(widest_s=15)
    for at_s, cpu_ns in ((1, 50), (4, 80), (7, 10)):
        looks.add("n", look(at_s, cpu_ns))
    assert looks.pod("n", WEB) == {}
    looks.add("n", look(9, 12))
    assert looks.pod("n", WEB) == {"main": Usage(9, 2, 1, 3)}


def test_a_pod_that_is_in_no_look_any_more_is_forgotten() -> None:
    looks = Looks(widest_s=15)
    for at_s in (1, 4):
        looks.add("n", look(at_s, 5))
    looks.add("n", Look(Sample(7, 9, 4)))
    assert looks.pod("n", WEB) == {}
    assert looks.node("n") == Usage(7, 6, 1, 4)


def test_objects_have_the_quantities_of_metrics_server() -> None:
    node = objects.node_metrics(
        {"metadata": {"name": "lin01", "labels": {"a": "b"}, "uid": "x"}},
        Usage(1_767_323_045, 15.02, 250_000_000, 512 * 1024 * 1024),
    )
    assert node == {
        "kind": "NodeMetrics",
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": {
            "name": "lin01",
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "labels": {"a": "b"},
        },
        "timestamp": "2026-01-02T03:04:05Z",
        "window": "15.02s",
        "usage": {"cpu": "250000000n", "memory": "524288Ki"},
    }


def test_a_table_sums_the_containers_of_a_pod() -> None:
    used = Usage(1_767_323_045, 15, 1_000, 2048)
    pod = objects.pod_metrics(
        {"metadata": {"name": "web", "namespace": "default"}}, {"a": used, "b": used}
    )
    assert [row["name"] for row in pod["containers"]] == ["a", "b"]
    table = objects.table("pods", [pod])
    assert table["rows"][0]["cells"] == ["web", "2000n", "4Ki", "15s"]
    assert table["rows"][0]["object"]["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("nodes", Asked("nodes")),
        ("nodes/lin01", Asked("nodes", name="lin01")),
        ("pods", Asked("pods")),
        ("namespaces/default/pods", Asked("pods", "default")),
        ("namespaces/default/pods/web", Asked("pods", "default", "web")),
    ],
)
def test_paths(path: str, expected: Asked) -> None:
    assert asked_for(f"/apis/metrics.k8s.io/v1beta1/{path}") == expected


@pytest.mark.parametrize("path", ["", "/apis/metrics.k8s.io/v1beta1", "/api/v1/nodes",
                                  "/apis/metrics.k8s.io/v1beta1/nodes/a/b"])  # fmt: skip
def test_other_paths_are_not_there(path: str) -> None:
    with pytest.raises(NotFound):
        asked_for(path)


def test_the_question_to_rbac_and_the_words_of_a_no() -> None:
    asked = Asked("pods", "default", "web")
    spec = review("jane", ("dev",), asked)["spec"]
    assert spec == {
        "user": "jane",
        "groups": ["dev"],
        "resourceAttributes": {
            "verb": "get",
            "group": "metrics.k8s.io",
            "version": "v1beta1",
            "resource": "pods",
            "namespace": "default",
            "name": "web",
        },
    }
    assert refusal("jane", asked) == (
        'pods.metrics.k8s.io "web" is forbidden: User "jane" cannot get resource "pods" in API '
        'group "metrics.k8s.io" in the namespace "default"'
    )
    assert refusal("jane", Asked("nodes")).endswith("at the cluster scope")


def test_where_a_kubelet_is() -> None:
    addresses = [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "fd00::1"}]
    node: dict[str, Any] = {"metadata": {"name": "n"}, "status": {"addresses": addresses}}
    assert kubelet_of(node) == "[fd00::1]:10250"
    node["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": 1234}}
    assert kubelet_of(node) == "[fd00::1]:1234"
    with pytest.raises(Unavailable, match="node n has no address"):
        kubelet_of({"metadata": {"name": "n"}})
