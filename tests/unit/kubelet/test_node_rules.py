"""Admission, authorization, statistics, collection of the dead, credentials, Windows limits."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin.kubelet.admission import admit
from muntin.kubelet.authorize import User, attributes, certificate_user
from muntin.kubelet.cgroups_linux import remove_cgroup
from muntin.kubelet.credentials import auth_config
from muntin.kubelet.garbage import dead_containers, dead_sandboxes
from muntin.kubelet.log_rotation import surplus
from muntin.kubelet.node_object import with_foreign
from muntin.kubelet.platform import linux, windows
from muntin.kubelet.relist import changed_pods, snapshot
from muntin.kubelet.runtime_state import Container, Sandbox, newest_first
from muntin.kubelet.stats import Departed, resource_metrics, summary
from muntin.kubelet.windows_limits import ignored
from muntin.model.windows_releases import BUILDS, profile_of
from muntin.seams.cri.enums import ContainerState

LINUX, WINDOWS = linux(), windows(profile_of(BUILDS[3]))


def a_pod(name: str = "p", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", **spec.pop("container", {})}
    return {"metadata": {"name": name, "uid": name}, "spec": {"containers": [container], **spec}}


NODE = {
    "metadata": {"name": "lin01", "labels": {"kubernetes.io/os": "linux", "disk": "ssd"}},
    "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "3"}},
}


FOR_WINDOWS = {"kubernetes.io/os": "windows"}


def cpu(amount: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": amount}}}


def port(number: int) -> dict[str, Any]:
    return {"ports": [{"containerPort": 1, "hostPort": number}]}


@pytest.mark.parametrize(
    ("pod", "others", "reason"),
    [
        (a_pod(), [], None),
        (a_pod(nodeSelector={"disk": "ssd"}), [], None),
        (a_pod(nodeSelector={"disk": "no"}), [], "NodeAffinity"),
        (
            a_pod(nodeSelector={"kubernetes.io/os": "windows"}),
            [],
            "PodOSSelectorNodeLabelDoesNotMatch",
        ),
        (a_pod(os={"name": "windows"}), [], "PodOSNotSupported"),
        (a_pod(container=cpu("1500m")), [a_pod("o", container=cpu("500m"))], None),
        (a_pod(container=cpu("1501m")), [a_pod("o", container=cpu("500m"))], "OutOfcpu"),
        (a_pod(), [a_pod(str(n)) for n in range(3)], "OutOfpods"),
        (a_pod(container=port(80)), [a_pod("o", container=port(80))], "NodePorts"),
        (a_pod(container=port(80)), [a_pod("o", container=port(81))], None),
    ],
)
def test_admission(pod: Any, others: Any, reason: str | None) -> None:
    found = admit(pod, others, NODE, LINUX)
    assert (found.reason if found else None) == reason


def test_admission_says_the_numbers() -> None:
    found = admit(a_pod(container=cpu("3")), [], NODE, LINUX)
    assert found is not None
    assert found.message == (
        "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000"
    )


@pytest.mark.parametrize(
    ("version", "event", "status"),
    [
        ((1, 20), "Predicate NodeAffinity failed", "Pod Predicate NodeAffinity failed"),
        (
            (1, 26),
            "Predicate NodeAffinity failed",
            "Pod was rejected: Predicate NodeAffinity failed",
        ),
        (
            (1, 31),
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
            "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node "
            "affinity/selector",
        ),
    ],
)
def test_admission_has_the_words_of_its_version(version: Any, event: str, status: str) -> None:
    for platform in (linux(version), windows(replace(profile_of(BUILDS[3]), kubernetes=version))):
        rejection = admit(a_pod(nodeSelector={"disk": "no"}), [], NODE, platform)
        assert rejection is not None
        assert (rejection.message, rejection.status_message(platform)) == (event, status)


def test_resources_that_others_gave_the_node_can_be_allocated() -> None:
    own, usable = {"cpu": "4", "memory": "8Gi"}, {"cpu": "3", "memory": "7Gi"}
    old = {
        "capacity": {**own, "example.com/fake": "5", "hugepages-64Ki": "0"},
        "allocatable": {**usable, "example.com/gone": "1"},
    }
    total, allocatable = with_foreign(own, usable, old)
    assert total == {**own, "example.com/fake": "5"}
    assert allocatable == {**usable, "example.com/fake": "5", "example.com/gone": None}
    assert with_foreign(own, usable, {}) == (own, usable)


@pytest.mark.parametrize(
    ("method", "path", "verb", "subresource"),
    [
        ("GET", "/pods", "get", "proxy"),
        ("POST", "/exec/ns/p/c", "create", "proxy"),
        ("GET", "/containerLogs/ns/p/c", "get", "proxy"),
        ("GET", "/stats/summary", "get", "stats"),
        ("GET", "/metrics/resource", "get", "metrics"),
        ("GET", "/logs/", "get", "log"),
    ],
)
def test_attributes(method: str, path: str, verb: str, subresource: str) -> None:
    found = attributes(method, path, "n")
    assert (found["verb"], found["subresource"], found["name"]) == (verb, subresource, "n")


def test_certificate_user() -> None:
    certificate = {
        "subject": (
            (("organizationName", "a"),),
            (("organizationName", "b"),),
            (("commonName", "u"),),
        )
    }
    assert certificate_user(certificate) == User("u", ("a", "b", "system:authenticated"))


def test_statistics() -> None:
    labels = {
        "io.kubernetes.pod.uid": "u",
        "io.kubernetes.pod.name": "p",
        "io.kubernetes.pod.namespace": "ns",
    }

    def stats(name: str) -> dict[str, Any]:
        return {
            "attributes": {"labels": {**labels, "io.kubernetes.container.name": name}},
            "cpu": {"timestamp": 10**9, "usage_core_nano_seconds": {"value": 2 * 10**9}},
            "memory": {"timestamp": 10**9, "working_set_bytes": {"value": 100}},
        }

    found = summary("n", [stats("a"), stats("b"), {"attributes": {}}], {"u": "then"}, 1.0)
    assert found["pods"][0]["podRef"] == {"name": "p", "namespace": "ns", "uid": "u"}
    assert [row["name"] for row in found["pods"][0]["containers"]] == ["a", "b"]
    assert found["pods"][0]["memory"]["workingSetBytes"] == 200
    assert found["node"]["cpu"]["usageCoreNanoSeconds"] == 4 * 10**9
    older = summary("n", [stats("a")], {}, 1.0, tells_pods=False)
    assert older["pods"] == []
    assert older["node"]["cpu"]["usageCoreNanoSeconds"] == 2 * 10**9
    text = resource_metrics(found)
    assert 'container_cpu_usage_seconds_total{container="a",namespace="ns",pod="p"} 2.0' in text
    assert "node_memory_working_set_bytes 200" in text


def test_a_nodes_processor_time_never_falls() -> None:
    def stats(one: str, ns: int | None = None) -> dict[str, Any]:
        labels = {"io.kubernetes.pod.uid": one}
        found: dict[str, Any] = {"attributes": {"id": one, "labels": labels}}
        if ns is not None:
            found["cpu"] = {"timestamp": 10**9, "usage_core_nano_seconds": {"value": ns}}
        return found

    departed = Departed()

    def node(*rows: dict[str, Any]) -> int:
        report = summary("n", rows, {}, 1.0, departed.look(rows))
        return int(report["node"]["cpu"]["usageCoreNanoSeconds"])

    looks = [
        (stats("a", 5), stats("b", 7)),
        (stats("a", 6),),
        (),
        (stats("c", 1),),
        (stats("c"), stats("d", 2)),  # it has ended, is there still, and tells of no time
        (stats("c", 4), stats("d", 2)),
        (stats("d", 2),),
    ]
    assert [node(*rows) for rows in looks] == [12, 13, 13, 14, 16, 19, 19]


def a_container(attempt: int, sandbox: str = "s1") -> Container:
    return Container(
        id=f"c{attempt}",
        name="c",
        sandbox_id=sandbox,
        attempt=attempt,
        state=ContainerState.CONTAINER_EXITED,
        created_at=attempt,
    )


def test_the_dead_but_for_the_last_two() -> None:
    sandboxes = [
        Sandbox(id=f"s{number}", attempt=number, ready=number == 2, created_at=number)
        for number in range(3)
    ]
    containers = [a_container(0, "s0"), a_container(1), a_container(2), a_container(3, "s2")]
    runtime = newest_first(sandboxes, containers)
    assert [one.id for one in dead_containers(runtime)] == ["c1", "c0"]
    assert [one.id for one in dead_sandboxes(runtime)] == ["s0"]


def test_relist_finds_what_changed() -> None:
    def item(key: str, uid: str, state: int = 0) -> dict[str, Any]:
        return {"id": key, "labels": {"io.kubernetes.pod.uid": uid}, "state": state}

    before = snapshot([item("s1", "a"), item("s2", "b")], [item("c1", "a", 1)])
    after = snapshot([item("s1", "a")], [item("c1", "a", 2), {"id": "foreign", "labels": {}}])
    assert changed_pods(before, after) == {"a", "b"}
    assert changed_pods(after, after) == set()


@pytest.mark.parametrize(
    ("key", "image", "matches"),
    [
        ("https://index.docker.io/v1/", "busybox", True),
        ("docker.io", "me/app:1", True),
        ("quay.io", "quay.io/a/b@sha256:0", True),
        ("quay.io/a", "quay.io/a/b", True),
        ("quay.io/a", "quay.io/ab/b", False),
        ("*.example.com", "eu.example.com/x", True),
        ("host:5000", "host:5000/x:1", True),
        ("host:5000", "host/x", False),
    ],
)
def test_credentials(key: str, image: str, matches: bool) -> None:
    entry = {"auth": base64.b64encode(b"user:pass:word").decode()}
    secret = {"data": {".dockerconfigjson": json.dumps({"auths": {key: entry}}).encode()}}
    found = auth_config(secret, image)
    wanted = {"username": "user", "password": "pass:word", "identity_token": ""}
    assert found == (wanted if matches else None)


def test_a_broken_secret_is_no_credential() -> None:
    assert auth_config({"data": {".dockerconfigjson": b"{"}}, "a") is None
    assert auth_config({}, "a") is None


def test_what_windows_ignores_is_said() -> None:
    plain = a_pod(volumes=[{"name": "v", "projected": {"defaultMode": 420}}])
    assert ignored(plain, WINDOWS) == []
    pod = a_pod(
        hostAliases=[{"ip": "1.2.3.4"}],
        securityContext={"fsGroup": 1},
        container={"securityContext": {"readOnlyRootFilesystem": True}},
        volumes=[{"name": "v", "secret": {"secretName": "s", "defaultMode": 0o400}}],
    )
    found = ignored(pod, WINDOWS)
    assert [text.partition(":")[0] for text in found] == [
        "spec.securityContext.fsGroup",
        "spec.containers[*].securityContext.readOnlyRootFilesystem",
        "spec.volumes[*].configMap.defaultMode",
    ]
    with_docker = windows(profile_of(BUILDS[3], runtime="docker"))
    assert any(text.startswith("spec.hostAliases: ") for text in ignored(pod, with_docker))
    assert ignored(pod, LINUX) == []
    old = windows(profile_of(BUILDS[0]))
    assert ignored(plain, old)[0].startswith("spec.volumes[*].projected: ")


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"hostPID": True}, "spec.hostPID"),
        ({"hostIPC": True}, "spec.hostIPC"),
        ({"shareProcessNamespace": True}, "spec.shareProcessNamespace"),
        ({"hostNetwork": True}, "spec.hostNetwork"),
        ({"overhead": {"cpu": "1"}}, "spec.overhead"),
        ({"securityContext": {"sysctls": [{"name": "a"}]}}, "spec.securityContext.sysctls"),
        (
            {"container": {"securityContext": {"runAsUser": 0}}},
            "spec.containers[*].securityContext.runAsUser",
        ),
        (
            {"initContainers": [{"name": "i", "securityContext": {"privileged": True}}]},
            "spec.containers[*].securityContext.privileged",
        ),
        ({"hostPID": False, "securityContext": {"seLinuxOptions": {}}}, ""),
        ({"container": {"securityContext": {"privileged": False}}}, ""),
    ],
)
def test_each_field_that_windows_ignores(spec: dict[str, Any], field: str) -> None:
    found = [text.partition(": ")[0] for text in ignored(a_pod(**spec), WINDOWS)]
    assert found == ([field] if field else [])


def test_rotated_logs_beyond_four_go() -> None:
    names = [Path(f"0.log.2026010{day}-000000") for day in range(1, 7)]
    assert surplus(reversed(names)) == names[:2]


def test_a_cgroup_goes_with_what_is_below_it(tmp_path: Path) -> None:
    for hierarchy in ("cpu", "memory"):
        (tmp_path / hierarchy / "a/pod1/c1").mkdir(parents=True)
    (tmp_path / "a/pod1").mkdir(parents=True)
    remove_cgroup("/a/pod1", tmp_path)
    assert not list(tmp_path.rglob("pod1"))
    assert (tmp_path / "cpu" / "a").is_dir()
