"""In-place resize of running pods: allocation, applying it to containers, status."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from muntin.kit.clock import FakeClock
from muntin.kit.errors import MuntinError
from muntin.kubelet import resize
from muntin.kubelet.admission import Rejection
from muntin.kubelet.platform import linux, windows
from muntin.kubelet.resizer import RETRY_S, PodResizer
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.kubelet.status import View, pod_status, status_patch
from muntin.model.windows_releases import BUILDS, profile_of
from muntin.seams.cri.enums import ContainerState

ALLOCATABLE = {"cpu": "2", "memory": "2Gi", "pods": "110"}


def amounts(cpu: str, memory: str = "100Mi") -> dict[str, Any]:
    given = {"cpu": cpu, "memory": memory}
    return {"requests": given, "limits": dict(given)}


def pod(resources: Any, generation: int = 1, status: Any = None, **container: Any) -> Any:
    spec = {"containers": [{"name": "c", "image": "i", "resources": resources, **container}]}
    meta = {"name": "p", "namespace": "ns", "uid": "u", "generation": generation}
    return {"metadata": meta, "spec": spec, "status": status or {}}


def running(container_id: str = "one") -> PodRuntime:
    one = Container(
        id=container_id, name="c", sandbox_id="s", attempt=0,
        state=ContainerState.CONTAINER_RUNNING, created_at=1, started_at=1,
    )  # fmt: skip
    return PodRuntime(containers=(one,))


class Cri:
    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.failure = ""
        self.used = 0

    async def UpdateContainerResources(self, request: Any) -> Any:
        if self.failure:
            raise MuntinError(self.failure)
        self.updates.append(request)

    async def ContainerStats(self, request: Any) -> Any:
        return {"stats": {"memory": {"working_set_bytes": {"value": self.used}}}}


class Context:
    """What a resizer uses of the kubelet's context."""

    def __init__(self, platform: Any) -> None:
        self.cri, self.clock, self.allocatable = Cri(), FakeClock(), ALLOCATABLE
        self.events: list[str] = []
        facts = type("Facts", (), {"memory_bytes": 4 << 30})
        self.config = type("Config", (), {"platform": platform, "facts": facts})

    def pod_event(self, pod: Any, type_: str, reason: str, message: str) -> None:
        self.events.append(f"{type_} {reason} {message}")


class Bench:
    """A running pod of 500m, and what its resizer does with other specs."""

    def __init__(self, platform: Any = None, status: Any = None) -> None:
        self.context = Context(platform or linux((1, 35)))
        self.rejection: Rejection | None = None
        self.freed = 0
        first = pod(amounts("500m"), status=status)
        self.resizer = PodResizer(
            self.context, first, lambda _: self.rejection, self._free  # type: ignore[arg-type]
        )  # fmt: skip
        self.step(first)

    def _free(self) -> None:
        self.freed += 1

    def step(self, wanted: Any, runtime: PodRuntime | None = None) -> list[Any]:
        return asyncio.run(self.resizer.step(wanted, runtime or running()))

    def conditions(self) -> dict[str, Any]:
        resized = self.resizer.resized()
        assert resized is not None
        return {row["type"]: row for row in resized.conditions}


def test_a_resize_is_applied_and_reported() -> None:
    bench = Bench()
    wanted = pod(amounts("1", "200Mi"), 2)
    assert bench.step(wanted) == []
    (update,) = bench.context.cri.updates
    assert update["container_id"] == "one"
    assert update["linux"]["cpu_quota"] == 100_000
    assert update["linux"]["memory_limit_in_bytes"] == 200 << 20
    assert bench.conditions() == {}
    assert bench.freed == 1
    text = (
        '{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"200Mi"},'
        '"requests":{"cpu":"1","memory":"200Mi"}}}],"generation":2}'
    )
    assert bench.context.events == [
        f"Normal ResizeStarted Pod resize started: {text}",
        f"Normal ResizeCompleted Pod resize completed: {text}",
    ]
    bench.step(wanted)
    assert len(bench.context.cri.updates) == 1


def test_what_the_node_does_not_have_now_is_deferred() -> None:
    bench = Bench()
    bench.rejection = Rejection("OutOfcpu", "Node didn't have enough resource: cpu, ...")
    wanted = pod(amounts("1500m"), 2)
    bench.step(wanted)
    bench.step(wanted)
    assert bench.resizer.is_deferred
    assert bench.conditions()["PodResizePending"] == {
        "type": "PodResizePending", "status": "True", "reason": "Deferred",
        "message": "Node didn't have enough resource: cpu, ...", "observedGeneration": 2,
    }  # fmt: skip
    assert [row.split(" Pod")[0] for row in bench.context.events] == ["Warning ResizeDeferred"]
    given = bench.resizer.allocated(wanted)["spec"]["containers"][0]["resources"]
    assert given == amounts("500m")
    bench.rejection = None
    bench.step(wanted)
    assert not bench.conditions()
    assert len(bench.context.cri.updates) == 1


@pytest.mark.parametrize(
    ("platform", "wanted", "message"),
    [
        (linux((1, 35)), amounts("3"), "cpu, requested: 3000, capacity: 2000"),
        (linux((1, 33)), amounts("1", "3Gi"), f"memory, requested: {3 << 30}, capacity"),
        (windows(profile_of(BUILDS[-1])), amounts("1"), "not supported on Windows"),
    ],
)
def test_what_the_node_can_never_give_is_infeasible(
    platform: Any, wanted: Any, message: str
) -> None:
    bench = Bench(platform)
    bench.step(pod(wanted, 2))
    row = bench.conditions()["PodResizePending"]
    assert row["reason"] == "Infeasible"
    assert message in row["message"]
    assert not bench.resizer.is_deferred
    assert bench.context.cri.updates == []
    bench.step(pod(amounts("500m"), 3))  # taken back
    assert bench.conditions() == {}


def test_older_kubelets_ignore_resizes() -> None:
    bench = Bench(linux((1, 32)))
    bench.step(pod(amounts("1"), 2))
    assert bench.resizer.resized() is None
    assert bench.context.cri.updates == []


def test_a_container_that_wants_it_is_restarted() -> None:
    bench = Bench()
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    only_cpu = pod(amounts("1"), 2, resizePolicy=policy)
    assert bench.step(only_cpu) == []
    both = pod(amounts("1", "300Mi"), 3, resizePolicy=policy)
    (kill,) = bench.step(both)
    assert kill.message == "Container c resize requires restart"
    assert "PodResizeInProgress" in bench.conditions()
    spec = bench.resizer.allocated(both)["spec"]["containers"][0]
    assert spec["resources"] == amounts("1", "300Mi")
    bench.resizer.started("two", spec)
    assert bench.step(both, running("two")) == []
    assert bench.conditions() == {}


def test_a_runtime_that_fails_is_asked_again() -> None:
    bench = Bench()
    bench.context.cri.failure = "cgroup is busy"
    wanted = pod(amounts("1"), 2)
    bench.step(wanted)
    row = bench.conditions()["PodResizeInProgress"]
    assert (row["reason"], "cgroup is busy" in row["message"]) == ("Error", True)
    bench.context.cri.failure = ""
    bench.step(wanted)
    assert bench.context.cri.updates == []  # not before its time
    asyncio.run(bench.context.clock.advance(RETRY_S))
    bench.step(wanted)
    assert len(bench.context.cri.updates) == 1
    assert bench.conditions() == {}


def test_memory_that_is_in_use_is_not_taken_away() -> None:
    bench = Bench()
    bench.context.cri.used = 60 << 20
    bench.step(pod(amounts("500m", "50Mi"), 2))
    row = bench.conditions()["PodResizeInProgress"]
    assert row["message"].endswith(f"({50 << 20}) below current usage ({60 << 20})")
    assert bench.context.cri.updates == []
    bench.step(pod(amounts("500m", "80Mi"), 3))
    assert len(bench.context.cri.updates) == 1


def test_a_new_kubelet_goes_on_with_what_the_status_says() -> None:
    row = {
        "name": "c", "containerID": "containerd://one", "resources": amounts("250m"),
        "allocatedResources": {"cpu": "250m", "memory": "100Mi"},
    }  # fmt: skip
    bench = Bench(status={"containerStatuses": [row]})
    assert len(bench.context.cri.updates) == 1  # from 250m to the 500m of the spec
    same = {**row, "resources": amounts("500m"), "allocatedResources": {"cpu": "500m"}}
    allocated = resize.restored(
        pod({"requests": {"cpu": "0.5"}}, status={"containerStatuses": [same]})
    )
    assert allocated["c"]["limits"] == amounts("500m")["limits"]


def test_the_status_reports_resources_and_conditions() -> None:
    bench = Bench()
    bench.context.cri.failure = "no"
    wanted = pod(amounts("1"), 2)
    bench.step(wanted)
    view = View(runtime=running(), now=0.0, node_ip="::1", resized=bench.resizer.resized())
    status = pod_status(wanted, view)
    (row,) = status["containerStatuses"]
    assert row["resources"] == amounts("500m")
    assert row["allocatedResources"] == {"cpu": "1", "memory": "100Mi"}
    assert "PodResizeInProgress" in {row["type"] for row in status["conditions"]}
    view = View(runtime=running(), now=0.0, node_ip="::1", resized=resize.Resized())
    after = pod_status({**wanted, "status": status}, view)
    patch = status_patch(status, after)
    assert patch is not None
    assert patch["conditions"] == [{"type": "PodResizeInProgress", "$patch": "delete"}]
