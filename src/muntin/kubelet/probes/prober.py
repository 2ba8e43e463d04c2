"""The probes of one running container: a task per probe, and what they have found so far.

Liveness and readiness begin once startup has passed. A container's first readiness probe is due
``initialDelaySeconds`` after its start; while nothing listens on the port yet, it is tried again
within a fraction of the period, without these tries being counted, so that a server is in service
as soon as it listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from muntin.kit.clock import Clock
from muntin.kubelet.plan import Health
from muntin.kubelet.probes.result import Result, Verdict

FIRST_RETRY_S = 0.03
RETRY_GROWTH = 1.3

Run = Callable[[Mapping[str, Any]], Awaitable[Result]]
Report = Callable[[str, Result], None]


class Prober:
    """``changed`` is called when :attr:`health` changes, ``report`` for each result that should
    be an event."""

    def __init__(
        self,
        container: Mapping[str, Any],
        started_at: float,
        clock: Clock,
        run: Run,
        *,
        changed: Callable[[], None],
        report: Report,
        was_started: bool = False,
        was_ready: bool = False,
    ) -> None:
        """``was_started`` and ``was_ready``: what the API has of this container already."""
        self._container = container
        self._started_at = started_at
        self._clock = clock
        self._run_probe = run
        self._changed = changed
        self._report = report
        self._probes = {
            kind: container[f"{kind}Probe"]
            for kind in ("startup", "liveness", "readiness")
            if container.get(f"{kind}Probe")
        }
        self._verdicts = {kind: Verdict(probe) for kind, probe in self._probes.items()}
        for kind, known in (("startup", was_started), ("readiness", was_ready)):
            if known and kind in self._verdicts:
                self._verdicts[kind].value = True

    @property
    def any(self) -> bool:
        """Whether the container has a probe at all."""
        return bool(self._probes)

    @property
    def health(self) -> Health:
        """The verdicts so far; readiness is False, startup open, until they have one."""
        return Health(
            started=self._value("startup") is True or "startup" not in self._probes,
            ready=self._value("readiness") is True or "readiness" not in self._probes,
            startup_failed=self._value("startup") is False,
            liveness_failed=self._value("liveness") is False,
        )

    def _value(self, kind: str) -> bool | None:
        verdict = self._verdicts.get(kind)
        return verdict.value if verdict else None

    async def run(self) -> None:
        """Probe until cancelled."""
        if not self.health.started:
            await self._until_started()
        async with asyncio.TaskGroup() as group:
            for kind in ("liveness", "readiness"):
                if kind in self._probes:
                    group.create_task(self._repeat(kind))

    async def _until_started(self) -> None:
        await self._initial_delay("startup")
        period_s = _period(self._probes["startup"])
        while not self.health.started:
            await self._once("startup")
            if self.health.startup_failed:
                await asyncio.get_running_loop().create_future()  # the worker kills it now
            if not self.health.started:
                await self._clock.sleep(period_s)

    async def _repeat(self, kind: str) -> None:
        await self._initial_delay(kind)
        period_s = _period(self._probes[kind])
        if kind == "readiness" and await self._caught_listener(period_s):
            await self._clock.sleep(period_s)
        while True:
            await self._once(kind)
            await self._clock.sleep(period_s)

    async def _initial_delay(self, kind: str) -> None:
        delay_s = float(self._probes[kind].get("initialDelaySeconds") or 0)
        left_s = self._started_at + delay_s - self._clock.now()
        if left_s > 0:
            await self._clock.sleep(left_s)

    async def _caught_listener(self, period_s: float) -> bool:
        """Try for at most one period while the port refuses; True once a result was counted."""
        probe = self._probes["readiness"]
        end = self._clock.monotonic() + period_s
        delay_s = FIRST_RETRY_S
        while not probe.get("exec") and self._clock.monotonic() + delay_s < end:
            result = await self._run_probe(probe)
            if not result.not_listening:
                self._count("readiness", result)
                return True
            await self._clock.sleep(delay_s)
            delay_s *= RETRY_GROWTH
        return False

    async def _once(self, kind: str) -> None:
        self._count(kind, await self._run_probe(self._probes[kind]))

    def _count(self, kind: str, result: Result) -> None:
        if result.event is not None:
            self._report(kind, result)
        if result.errored:
            return
        if self._verdicts[kind].add(result.passed):
            self._changed()


def _period(probe: Mapping[str, Any]) -> float:
    return float(probe.get("periodSeconds") or 10)
