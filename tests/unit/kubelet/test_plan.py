"""Decisions of the kubelet, one table row each. Rules: kuberuntime_manager.go computePodActions."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.kubelet.backoff import Backoff, duration
from muntin.kubelet.plan import Health, Plan, plan_pod, spec_hash
from muntin.kubelet.runtime_state import Container, PodRuntime, Sandbox, newest_first
from muntin.seams.cri.enums import ContainerState

NOW = 1_700_000_000.0
RUNNING = ContainerState.CONTAINER_RUNNING
EXITED = ContainerState.CONTAINER_EXITED
CREATED = ContainerState.CONTAINER_CREATED


def a_pod(*names: str, inits: tuple[Any, ...] = (), policy: str = "Always") -> dict[str, Any]:
    def spec(one: Any) -> dict[str, Any]:
        return {"name": one, "image": f"img-{one}"} if isinstance(one, str) else one

    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "u1"},
        "spec": {
            "restartPolicy": policy,
            "initContainers": [spec(one) for one in inits],
            "containers": [spec(one) for one in names],
        },
    }


def sidecar(name: str) -> dict[str, Any]:
    return {"name": name, "image": f"img-{name}", "restartPolicy": "Always"}


def a_container(
    name: str, state: ContainerState, code: int = 0, attempt: int = 0, **more: Any
) -> Container:
    values: dict[str, Any] = {
        "id": f"{name}-{attempt}",
        "name": name,
        "sandbox_id": "s0",
        "attempt": attempt,
        "state": state,
        "created_at": attempt + 1,
        "finished_at": int(NOW * 1e9) if state is EXITED else 0,
        "exit_code": code,
    }
    return Container(**{**values, **more})


def a_runtime(*containers: Container, ready: bool = True) -> PodRuntime:
    sandbox = Sandbox(id="s0", attempt=0, ready=ready, created_at=1, ips=("10.0.0.1",))
    return newest_first([sandbox], containers)


def decide(
    pod: dict[str, Any],
    runtime: PodRuntime,
    health: dict[str, Health] | None = None,
    backoff: Backoff | None = None,
) -> Plan:
    return plan_pod(pod, runtime, health or {}, backoff or Backoff(), NOW)


def started(plan: Plan) -> list[tuple[str, int]]:
    return [(one.spec["name"], one.attempt) for one in plan.start]


def test_a_new_pod_gets_a_sandbox_first() -> None:
    plan = decide(a_pod("a"), PodRuntime())
    assert (plan.create_sandbox, plan.attempt, plan.kill_pod, plan.start) == (True, 0, False, ())


def test_all_containers_start_in_a_ready_sandbox() -> None:
    assert started(decide(a_pod("a", "b"), a_runtime())) == [("a", 0), ("b", 0)]


def test_a_dead_sandbox_is_replaced_and_its_containers_killed() -> None:
    plan = decide(a_pod("a"), a_runtime(a_container("a", RUNNING), ready=False))
    assert (plan.kill_pod, plan.create_sandbox, plan.attempt) == (True, True, 1)


def test_a_sandbox_that_died_with_its_containers_is_stopped_all_the_same() -> None:
    plan = decide(a_pod("a"), a_runtime(a_container("a", EXITED, 1), ready=False))
    assert (plan.kill_pod, plan.create_sandbox) == (True, True)


def test_a_sandbox_without_address_is_replaced_but_not_with_host_network() -> None:
    bare = newest_first([Sandbox(id="s0", attempt=0, ready=True, created_at=1)], [])
    pod = a_pod("a")
    assert decide(pod, bare).create_sandbox
    pod["spec"]["hostNetwork"] = True
    assert not decide(pod, bare).create_sandbox


def test_no_new_sandbox_for_a_pod_that_never_restarts() -> None:
    runtime = a_runtime(a_container("a", EXITED, 1), ready=False)
    assert decide(a_pod("a", policy="Never"), runtime).idle


@pytest.mark.parametrize(
    ("policy", "code", "restarts"),
    [
        ("Always", 0, True),
        ("Always", 1, True),
        ("OnFailure", 0, False),
        ("OnFailure", 1, True),
        ("Never", 0, False),
        ("Never", 1, False),
    ],
)
def test_restart_policy(policy: str, code: int, restarts: bool) -> None:
    plan = decide(a_pod("a", policy=policy), a_runtime(a_container("a", EXITED, code)))
    assert started(plan) == ([("a", 1)] if restarts else [])
    assert plan.kill_pod is not restarts


def test_one_that_runs_keeps_the_pod() -> None:
    runtime = a_runtime(a_container("a", EXITED), a_container("b", RUNNING))
    assert decide(a_pod("a", "b", policy="Never"), runtime).idle


def test_a_container_that_never_ran_keeps_its_number() -> None:
    assert started(decide(a_pod("a"), a_runtime(a_container("a", CREATED)))) == [("a", 0)]


def test_back_off_holds_a_restart_back_and_says_until_when() -> None:
    backoff = Backoff()
    backoff.next(f"u1/a/{spec_hash({'name': 'a', 'image': 'img-a'})}", NOW - 1)
    plan = decide(a_pod("a"), a_runtime(a_container("a", EXITED, 1, 1)), backoff=backoff)
    assert plan.start == ()
    assert [(row.name, row.delay_s, row.until) for row in plan.waiting] == [("a", 10.0, NOW + 10)]
    assert plan.wake_at == NOW + 10


def test_failed_probes_and_changed_images_kill() -> None:
    pod = a_pod("a")
    same = spec_hash(pod["spec"]["containers"][0])
    good = a_container("a", RUNNING, spec_hash=same)
    cases = [
        (good, Health(liveness_failed=True), "failed liveness probe, will be restarted"),
        (good, Health(startup_failed=True), "failed startup probe, will be restarted"),
        (a_container("a", RUNNING, spec_hash="old"), None, "definition changed"),
    ]
    for container, health, words in cases:
        healths = {container.id: health} if health else {}
        plan = decide(pod, a_runtime(container), healths)
        assert [words in one.message for one in plan.kill] == [True]
        assert plan.start == ()
    assert decide(pod, a_runtime(good)).idle


def test_liveness_failure_of_a_pod_that_never_restarts_ends_it() -> None:
    health = {"a-0": Health(liveness_failed=True)}
    plan = decide(a_pod("a", policy="Never"), a_runtime(a_container("a", RUNNING)), health)
    assert plan.kill_pod


def test_init_containers_run_one_after_the_other() -> None:
    pod = a_pod("a", inits=("i", "j"))
    assert started(decide(pod, a_runtime())) == [("i", 0)]
    assert decide(pod, a_runtime(a_container("i", RUNNING))).idle
    assert started(decide(pod, a_runtime(a_container("i", EXITED)))) == [("j", 0)]
    both = a_runtime(a_container("i", EXITED), a_container("j", EXITED))
    assert started(decide(pod, both)) == [("a", 0)]


def test_a_failed_init_container_is_tried_again_or_ends_the_pod() -> None:
    runtime = a_runtime(a_container("i", EXITED, 1))
    assert started(decide(a_pod("a", inits=("i",)), runtime)) == [("i", 1)]
    plan = decide(a_pod("a", inits=("i",), policy="Never"), runtime)
    assert plan.kill_pod
    assert plan.start == ()


def test_init_containers_run_again_in_a_new_sandbox() -> None:
    pod = a_pod("a", inits=("i",))
    old = a_container("i", EXITED, sandbox_id="before")
    assert started(decide(pod, a_runtime(old))) == [("i", 1)]


def test_sidecars_start_first_wait_for_startup_and_are_kept_up() -> None:
    pod = a_pod("a", inits=(sidecar("s"),))
    assert started(decide(pod, a_runtime())) == [("s", 0)]
    up = a_container("s", RUNNING)
    assert decide(pod, a_runtime(up), {up.id: Health(started=False)}).idle
    assert started(decide(pod, a_runtime(up))) == [("a", 0)]
    main = a_container("a", RUNNING)
    assert started(decide(pod, a_runtime(a_container("s", EXITED), main))) == [("s", 1)]


def test_sidecars_do_not_keep_a_finished_pod() -> None:
    pod = a_pod("a", inits=(sidecar("s"),), policy="Never")
    runtime = a_runtime(a_container("s", RUNNING), a_container("a", EXITED))
    assert decide(pod, runtime).kill_pod


def test_back_off_doubles_to_its_cap_and_is_forgotten_after_peace() -> None:
    backoff, now = Backoff(), 0.0
    delays = []
    for _ in range(7):
        backoff.next("k", now)
        delays.append(backoff.delay_s("k"))
        now += 1
    assert delays == [10, 20, 40, 80, 160, 300, 300]
    assert backoff.until("k", now, now) == now + 300
    assert backoff.until("k", now + 601, now + 601) == now + 601
    backoff.next("k", now + 601)
    assert backoff.delay_s("k") == 10


@pytest.mark.parametrize(("seconds", "text"), [(10, "10s"), (80, "1m20s"), (300, "5m0s")])
def test_durations_are_written_as_go_does(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_ephemeral_container_runs_once() -> None:
    pod = a_pod("web")
    pod["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "img"}]
    running = a_container("web", RUNNING, spec_hash=spec_hash({"name": "web", "image": "img-web"}))

    def starts(*containers: Container) -> list[str]:
        plan = plan_pod(pod, a_runtime(*containers), {}, Backoff(), NOW)
        return [start.spec["name"] for start in plan.start]

    assert starts(running) == ["debug"]
    assert starts(running, a_container("debug", RUNNING)) == []
    assert starts(running, a_container("debug", EXITED, code=1)) == []
