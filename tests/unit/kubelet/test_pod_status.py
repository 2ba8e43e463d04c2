"""Phases, conditions and container states; kubelet_pods.go getPhase, status/generate.go."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.kubelet.plan import Health
from muntin.kubelet.runtime_state import Container, PodRuntime, Sandbox, newest_first
from muntin.kubelet.status import Note, View, pod_status, status_patch
from muntin.seams.cri.enums import ContainerState

NOW = 1_700_000_000.0
RUNNING = ContainerState.CONTAINER_RUNNING
EXITED = ContainerState.CONTAINER_EXITED


def a_pod(policy: str = "Always", inits: int = 0, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "u"},
        "spec": {
            "restartPolicy": policy,
            "initContainers": [{"name": f"i{n}", "image": "i"} for n in range(inits)],
            "containers": [{"name": "a", "image": "img"}],
            **spec,
        },
    }


def a_container(name: str, state: ContainerState, code: int = 0, attempt: int = 0) -> Container:
    second = 10**9
    return Container(
        id=f"{name}-{attempt}",
        name=name,
        sandbox_id="s",
        attempt=attempt,
        state=state,
        created_at=attempt + 1,
        started_at=int(NOW) * second,
        finished_at=int(NOW + 1) * second if state is EXITED else 0,
        exit_code=code,
        image="docker.io/library/img:1",
        image_ref="sha256:abc",
    )


def of(*containers: Container) -> PodRuntime:
    sandbox = Sandbox(id="s", attempt=0, ready=True, created_at=1, ips=("10.0.0.9",))
    return newest_first([sandbox], containers)


def status(pod: dict[str, Any], runtime: PodRuntime, **view: Any) -> dict[str, Any]:
    return pod_status(pod, View(runtime=runtime, now=NOW, node_ip="172.31.0.11", **view))


@pytest.mark.parametrize(
    ("policy", "containers", "phase"),
    [
        ("Always", (), "Pending"),
        ("Always", (a_container("a", RUNNING),), "Running"),
        ("Always", (a_container("a", EXITED, 1),), "Running"),
        ("OnFailure", (a_container("a", EXITED, 1),), "Running"),
        ("OnFailure", (a_container("a", EXITED, 0),), "Succeeded"),
        ("Never", (a_container("a", EXITED, 0),), "Succeeded"),
        ("Never", (a_container("a", EXITED, 1),), "Failed"),
    ],
)
def test_phase(policy: str, containers: tuple[Container, ...], phase: str) -> None:
    assert status(a_pod(policy), of(*containers))["phase"] == phase


def test_a_new_pod_waits_with_all_conditions() -> None:
    found = status(a_pod(), PodRuntime())
    rows = {row["type"]: row for row in found["conditions"]}
    assert {kind: row["status"] for kind, row in rows.items()} == {
        "PodReadyToStartContainers": "False",
        "Initialized": "True",
        "Ready": "False",
        "ContainersReady": "False",
        "PodScheduled": "True",
    }
    assert rows["Ready"]["message"] == "containers with unready status: [a]"
    assert found["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert "podIP" not in found
    assert found["startTime"] == "2023-11-14T22:13:20Z"


def test_a_running_pod_is_ready_and_has_its_addresses() -> None:
    found = status(a_pod(), of(a_container("a", RUNNING)), runtime_name="containerd")
    row = found["containerStatuses"][0]
    assert row["state"] == {"running": {"startedAt": "2023-11-14T22:13:20Z"}}
    assert (row["ready"], row["started"], row["restartCount"]) == (True, True, 0)
    assert row["containerID"] == "containerd://a-0"
    assert (row["image"], row["imageID"]) == ("docker.io/library/img:1", "sha256:abc")
    assert found["podIP"] == "10.0.0.9"
    assert found["hostIP"] == "172.31.0.11"
    assert found["qosClass"] == "BestEffort"


def test_probes_decide_readiness() -> None:
    health = {"a-0": Health(ready=False)}
    row = status(a_pod(), of(a_container("a", RUNNING)), health=health)["containerStatuses"][0]
    assert (row["ready"], row["started"]) == (False, True)
    health = {"a-0": Health(started=False)}
    row = status(a_pod(), of(a_container("a", RUNNING)), health=health)["containerStatuses"][0]
    assert (row["ready"], row["started"]) == (False, False)


def test_crash_loop_shows_the_last_end() -> None:
    runtime = of(a_container("a", EXITED, 5, 1), a_container("a", EXITED, 4, 0))
    notes = {"a": Note("CrashLoopBackOff", "back-off 10s")}
    row = status(a_pod(), runtime, notes=notes, messages={"a-1": "why"})["containerStatuses"][0]
    assert row["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}
    assert row["lastState"]["terminated"]["exitCode"] == 5
    assert row["lastState"]["terminated"]["message"] == "why"
    assert row["restartCount"] == 1
    without = status(a_pod(), runtime)["containerStatuses"][0]
    assert without["state"]["terminated"]["exitCode"] == 5
    assert without["lastState"]["terminated"]["exitCode"] == 4


def test_init_containers() -> None:
    pod = a_pod(inits=2)
    found = status(pod, of(a_container("i0", EXITED), a_container("i1", RUNNING)))
    rows = {row["type"]: row for row in found["conditions"]}
    assert rows["Initialized"]["message"] == "containers with incomplete status: [i1]"
    assert [row["ready"] for row in found["initContainerStatuses"]] == [True, False]
    assert found["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert found["phase"] == "Pending"
    failed = status(a_pod("Never", inits=1), of(a_container("i0", EXITED, 1)))
    assert failed["phase"] == "Failed"


def test_a_verdict_fails_the_pod() -> None:
    found = status(a_pod(), PodRuntime(), verdict=Note("NodeAffinity", "no"))
    assert (found["phase"], found["reason"], found["message"]) == ("Failed", "NodeAffinity", "no")


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (137, "Failed")])
def test_a_stopped_pod_is_over(code: int, phase: str) -> None:
    assert status(a_pod(), of(a_container("a", EXITED, code)), stopped=True)["phase"] == phase


def test_readiness_gates_and_conditions_of_others_stay() -> None:
    pod = a_pod(readinessGates=[{"conditionType": "example.com/lb"}])
    pod["status"] = {"conditions": [{"type": "example.com/lb", "status": "False"}]}
    rows = {row["type"]: row for row in status(pod, of(a_container("a", RUNNING)))["conditions"]}
    assert rows["Ready"]["reason"] == "ReadinessGatesNotReady"
    assert rows["ContainersReady"]["status"] == "True"
    assert rows["example.com/lb"]["status"] == "False"
    pod["status"]["conditions"][0]["status"] = "True"
    rows = {row["type"]: row for row in status(pod, of(a_container("a", RUNNING)))["conditions"]}
    assert rows["Ready"]["status"] == "True"


def test_patch_holds_only_what_changed() -> None:
    pod = a_pod()
    before = status(pod, of(a_container("a", RUNNING)))
    assert status_patch(before, before) is None
    pod["status"] = before
    after = status(pod, of(a_container("a", RUNNING)), health={"a-0": Health(ready=False)})
    patch = status_patch(before, after)
    assert patch is not None
    assert patch.keys() == {"containerStatuses", "conditions"}
    assert [row["type"] for row in patch["conditions"]] == ["Ready", "ContainersReady"]
    back = status_patch(after, before)
    assert back is not None
    assert back["conditions"][0]["reason"] is None


def test_patch_replaces_addresses_and_removes_a_reason() -> None:
    old = {"podIPs": [{"ip": "10.0.0.1"}], "reason": "Old"}
    patch = status_patch(old, {"podIPs": [{"ip": "10.0.0.2"}]})
    assert patch == {"podIPs": [{"$patch": "replace"}, {"ip": "10.0.0.2"}], "reason": None}


def test_the_generation_acted_on_is_told_where_the_kubelet_does() -> None:
    pod = a_pod()
    pod["metadata"]["generation"] = 3
    runtime = of(a_container("a", RUNNING))
    found = status(pod, runtime, tells_generation=True)
    assert found["observedGeneration"] == 3
    assert {row["observedGeneration"] for row in found["conditions"]} == {3}
    older = status(pod, runtime)
    assert "observedGeneration" not in older
    assert all("observedGeneration" not in row for row in older["conditions"])


def test_mounts_are_listed_where_the_kubelet_does() -> None:
    mounts = [
        {"name": "t", "mountPath": "/token", "readOnly": True},
        {"name": "d", "mountPath": "C:\\data", "subPath": "x"},
    ]
    pod = a_pod(containers=[{"name": "a", "image": "img", "volumeMounts": mounts}])
    (row,) = status(pod, of(a_container("a", RUNNING)), lists_mounts=True)["containerStatuses"]
    assert row["volumeMounts"] == [
        {"name": "t", "mountPath": "/token", "readOnly": True, "recursiveReadOnly": "Disabled"},
        {"name": "d", "mountPath": "C:\\data"},
    ]
    for runtime, lists in ((of(), True), (of(a_container("a", RUNNING)), False)):
        (row,) = status(pod, runtime, lists_mounts=lists)["containerStatuses"]
        assert "volumeMounts" not in row


def test_ephemeral_containers_have_a_status_and_decide_nothing() -> None:
    pod = a_pod()
    pod["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "img"}]
    found = status(pod, of(a_container("debug", ContainerState.CONTAINER_EXITED, code=1)))
    (row,) = found["ephemeralContainerStatuses"]
    assert row["state"]["terminated"]["exitCode"] == 1
    assert (row["ready"], "started" in row) == (False, False)
    assert found["phase"] == "Pending"
