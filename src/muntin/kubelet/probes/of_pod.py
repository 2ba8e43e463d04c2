"""The probers of one pod: one for each running container that has probes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit import supervised
from muntin.kit.log import fields, object_ref
from muntin.kubelet.context import Context
from muntin.kubelet.plan import Health
from muntin.kubelet.probes.prober import Prober
from muntin.kubelet.probes.result import Result
from muntin.kubelet.probes.run import run_probe
from muntin.kubelet.runtime_state import Container, PodRuntime
from muntin.model.pods import all_containers
from muntin.seams.kube import Object

log = logging.getLogger(__name__)


class PodProbes:
    """``pod()`` is the pod's newest state; ``changed`` is called when a verdict changes."""

    def __init__(
        self, context: Context, pod: Callable[[], Object], *, changed: Callable[[], None]
    ) -> None:
        self._context = context
        self._pod = pod
        self._changed = changed
        self._runtime = PodRuntime()
        self._probers: dict[str, tuple[Prober, asyncio.Task[None]]] = {}

    @property
    def health(self) -> dict[str, Health]:
        """What the probes say, by container id."""
        return {key: prober.health for key, (prober, _) in self._probers.items()}

    def match(self, runtime: PodRuntime) -> None:
        """Begin to probe what runs now, and stop where nothing runs any more."""
        self._runtime = runtime
        running = {one.id: one for one in runtime.running}
        for key in self._probers.keys() - running.keys():
            self._probers.pop(key)[1].cancel()
        specs = {one["name"]: one for one in all_containers(self._pod())}
        for key, container in running.items():
            spec = specs.get(container.name)
            if spec is None or key in self._probers:
                continue
            prober = self._prober(spec, container)
            if prober.any:
                self._probers[key] = (prober, supervised.start("kubelet-probe", prober.run))

    async def stop(self) -> None:
        """End all probing."""
        tasks = [task for _, task in self._probers.values()]
        self._probers.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _prober(self, spec: Mapping[str, Any], container: Container) -> Prober:
        context = self._context
        known = self._api_status_of(container)

        async def run(probe: Mapping[str, Any]) -> Result:
            try:
                return await run_probe(
                    context.cri,
                    self._pod(),
                    (container.name, container.id),
                    probe,
                    self._address(),
                    context.config,
                )
            except Exception as err:
                log.exception("probe failed", **fields(pod=object_ref(self._pod())))
                return Result(False, repr(err), errored=True)

        def report(kind: str, result: Result) -> None:
            if result.event is not None:
                reason, message = result.event
                message = f"{kind.capitalize()} {message}"
                context.pod_event(self._pod(), "Warning", reason, message, container.name)

        return Prober(
            spec,
            container.started_at / 1e9,
            context.clock,
            run,
            changed=self._changed,
            report=report,
            was_started=bool(known.get("started")),
            was_ready=bool(known.get("ready")),
        )

    def _address(self) -> str:
        if self._runtime.ips and not self._pod()["spec"].get("hostNetwork"):
            return self._runtime.ips[0]
        return self._context.config.node_ip

    def _api_status_of(self, container: Container) -> Mapping[str, Any]:
        """What the API's status says of exactly this container, after a restart of the kubelet."""
        status = self._pod().get("status") or {}
        rows = [
            *(status.get("initContainerStatuses") or ()),
            *(status.get("containerStatuses") or ()),
        ]
        wanted = f"{self._context.runtime_name}://{container.id}"
        return next((row for row in rows if row.get("containerID") == wanted), {})
