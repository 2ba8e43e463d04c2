"""Thresholds and timing of probes, on a clock that stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from muntin.kit.clock import FakeClock
from muntin.kubelet.probes.http_get import probe_url
from muntin.kubelet.probes.prober import Prober
from muntin.kubelet.probes.result import Result, Verdict

GOOD, BAD = Result(True), Result(False, "no")
REFUSED = Result(False, "refused", not_listening=True)


@pytest.mark.parametrize(
    ("probe", "results", "values"),
    [
        ({}, "+", [True]),
        ({}, "---", [None, None, False]),
        ({"failureThreshold": 1}, "-", [False]),
        ({"successThreshold": 2}, "++-+", [None, True, True, True]),
        ({}, "+--+---+", [True, True, True, True, True, True, False, True]),
    ],
)
def test_thresholds(probe: dict[str, int], results: str, values: list[bool | None]) -> None:
    verdict = Verdict(probe)
    found = []
    for sign in results:
        verdict.add(sign == "+")
        found.append(verdict.value)
    assert found == values


class Scene:
    """A prober whose probes answer from ``script``; ``runs`` is (time, kind)."""

    def __init__(self, container: dict[str, Any], **known: bool) -> None:
        self.clock = FakeClock(1000.0)
        self.answer: Callable[[str], Result] = lambda kind: GOOD
        self.runs: list[tuple[float, str]] = []
        self.failures: list[str] = []
        self.changes = 0
        self.prober = Prober(
            container,
            1000.0,
            self.clock,
            self.run,
            changed=self.changed,
            report=lambda kind, result: self.failures.append(kind),
            **{f"was_{key}": value for key, value in known.items()},
        )

    async def run(self, probe: Mapping[str, Any]) -> Result:
        self.runs.append((round(self.clock.now() - 1000.0, 3), probe["kind"]))
        return self.answer(probe["kind"])

    def changed(self) -> None:
        self.changes += 1

    def play(self, script: Callable[[], Awaitable[None]]) -> None:
        async def act() -> None:
            task = asyncio.create_task(self.prober.run())
            try:
                await self.clock.advance(0)
                await script()
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        asyncio.run(act())


def tcp(kind: str, **more: Any) -> dict[str, Any]:
    return {"tcpSocket": {"port": 80}, "kind": kind, **more}


def test_the_first_readiness_probe_runs_at_the_start() -> None:
    scene = Scene({"readinessProbe": tcp("readiness", periodSeconds=5)})
    assert not scene.prober.health.ready

    async def script() -> None:
        assert scene.runs == [(0.0, "readiness")]
        assert scene.prober.health.ready
        await scene.clock.advance(11)

    scene.play(script)
    assert [at for at, _ in scene.runs] == [0.0, 5.0, 10.0]
    assert scene.changes == 1


def test_a_port_that_opens_is_seen_well_within_the_period() -> None:
    scene = Scene({"readinessProbe": tcp("readiness", periodSeconds=10)})
    scene.answer = lambda kind: GOOD if scene.clock.now() >= 1000.4 else REFUSED

    async def script() -> None:
        await scene.clock.advance(1)
        assert scene.prober.health.ready

    scene.play(script)
    assert 0.4 <= scene.runs[-1][0] <= 0.55
    assert scene.failures == []


def test_a_port_that_stays_closed_fails_by_its_period() -> None:
    scene = Scene({"readinessProbe": tcp("readiness", periodSeconds=10)})
    scene.answer = lambda kind: REFUSED

    async def script() -> None:
        await scene.clock.advance(40)

    scene.play(script)
    assert len(scene.failures) == 4  # near 10, 20, 30 and 40 s; the quick tries do not count
    assert not scene.prober.health.ready


def test_startup_holds_the_others_back() -> None:
    scene = Scene(
        {
            "startupProbe": tcp("startup", periodSeconds=2, failureThreshold=3),
            "livenessProbe": tcp("liveness", periodSeconds=4),
        }
    )
    scene.answer = lambda kind: GOOD if scene.clock.now() > 1003 else BAD

    async def script() -> None:
        await scene.clock.advance(3)
        assert not scene.prober.health.started
        await scene.clock.advance(6)
        assert scene.prober.health.started

    scene.play(script)
    assert scene.runs[:4] == [
        (0.0, "startup"),
        (2.0, "startup"),
        (4.0, "startup"),
        (4.0, "liveness"),
    ]


def test_failed_startup_and_liveness_are_said() -> None:
    scene = Scene({"startupProbe": tcp("startup", periodSeconds=1, failureThreshold=2)})
    scene.answer = lambda kind: BAD

    async def script() -> None:
        await scene.clock.advance(5)

    scene.play(script)
    assert scene.prober.health.startup_failed
    assert len(scene.runs) == 2
    alive = Scene({"livenessProbe": tcp("liveness", initialDelaySeconds=7, failureThreshold=1)})
    alive.answer = lambda kind: BAD

    async def later() -> None:
        await alive.clock.advance(6)
        assert alive.runs == []
        await alive.clock.advance(2)

    alive.play(later)
    assert alive.prober.health.liveness_failed


def test_a_restarted_kubelet_begins_with_what_the_api_knows() -> None:
    scene = Scene(
        {"startupProbe": tcp("startup"), "readinessProbe": tcp("readiness")},
        started=True,
        ready=True,
    )
    assert (scene.prober.health.started, scene.prober.health.ready) == (True, True)

    async def script() -> None:
        await scene.clock.advance(0)

    scene.play(script)
    assert scene.runs == [(0.0, "readiness")]


POD = {"spec": {"containers": [{"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}]}}


@pytest.mark.parametrize(
    ("action", "url"),
    [
        ({"port": 80}, "http://10.0.0.1:80/"),
        ({"port": "web", "path": "health"}, "http://10.0.0.1:8080/health"),
        ({"port": 443, "scheme": "HTTPS", "host": "h", "path": "/a?b"}, "https://h:443/a?b"),
        ({"port": "none"}, None),
    ],
)
def test_urls(action: dict[str, Any], url: str | None) -> None:
    assert probe_url(POD, action, "10.0.0.1") == url
