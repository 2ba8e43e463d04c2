"""kube-proxy: watch Services and EndpointSlices, keep one node's data plane at what they say.

Order: the data plane starts clean; both caches are synced; then every change of a Service or its
slices makes that Service's front ends anew, and only differences reach the data plane. What failed
is tried again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping

from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.errors import MuntinError
from muntin.kit.http.server import OF_COMPONENT, HttpServer
from muntin.kit.log import fields
from muntin.model.resources import ENDPOINT_SLICES, SERVICES
from muntin.proxy import plan
from muntin.proxy.config import ProxyConfig
from muntin.proxy.dataplane import Change, Dataplane, StartOver
from muntin.proxy.events import ServiceEvents
from muntin.proxy.health import Healthz, ServiceHealth
from muntin.proxy.plan import Frontend, FrontendKey, HealthCheck
from muntin.proxy.table import Table
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange, key_of

log = logging.getLogger(__name__)

_SERVICES_SELECTOR = f"!{plan.PROXY_NAME_LABEL},!{plan.HEADLESS_LABEL}"
_BY_SERVICE = "service"


async def run(
    config: ProxyConfig, client: KubeClient, dataplane: Dataplane, *, clock: Clock | None = None
) -> None:
    """Serve until cancelled."""
    proxy = Proxy(config, client, dataplane, clock or SystemClock())
    try:
        await proxy.serve_healthz()
        async with supervised.Group() as group:
            for name, work in proxy.work().items():
                group.start(name, work)
    finally:
        await proxy.close()


class Proxy:
    """One node's kube-proxy."""

    def __init__(
        self, config: ProxyConfig, client: KubeClient, dataplane: Dataplane, clock: Clock
    ) -> None:
        self._config = config
        self._dataplane = dataplane
        self._clock = clock
        self._table = Table()
        self._dirty: set[str] = set()
        self._wake = asyncio.Event()
        self._checks: dict[str, HealthCheck] = {}
        self._healthz = Healthz(clock)
        self._healthz_server = HttpServer(self._healthz, OF_COMPONENT)
        self._service_health = ServiceHealth(config.healthz_address or "0.0.0.0")
        self._events = ServiceEvents(client, config.node_name, clock)
        self._services = Informer(
            client, SERVICES, label_selector=_SERVICES_SELECTOR, transform=_slim, clock=clock
        )
        self._slices = Informer(
            client,
            ENDPOINT_SLICES,
            label_selector=_SERVICES_SELECTOR,
            indexers={_BY_SERVICE: _service_index},
            transform=_slim,
            clock=clock,
        )
        self._services.add_handler(OnChange(self._service_changed))
        self._slices.add_handler(OnChange(self._slice_changed))

    async def serve_healthz(self) -> None:
        if self._config.healthz_address is not None:
            address, port = self._config.healthz_address, self._config.healthz_port
            await self._healthz_server.listen_tcp(address, port)

    def work(self) -> Mapping[str, supervised.Work]:
        """The tasks that run side by side, by name."""
        return {
            "proxy-services": self._services.run,
            "proxy-endpoint-slices": self._slices.run,
            "proxy-sync": self._keep_current,
        }

    async def close(self) -> None:
        await self._healthz_server.close(0.2)
        await self._service_health.close()

    # -- what the watches say ------------------------------------------------------------------

    def _service_changed(self, service: Object, _: Object | None) -> None:
        self._mark(key_of(service))

    def _slice_changed(self, new: Object, old: Object | None) -> None:
        for slice_ in (new, old):
            name = plan.service_of(slice_) if slice_ else None
            if name:
                self._mark(name)

    def _mark(self, service: str) -> None:
        self._dirty.add(service)
        self._wake.set()

    # -- the one writer ------------------------------------------------------------------------

    async def _keep_current(self) -> None:
        await self._start_dataplane()
        await self._services.synced.wait()
        await self._slices.synced.wait()
        failed = await self._sync(verify=True)
        while True:
            limit_s = self._config.retry_s if failed else self._config.sync_period_s
            woken = await self._wait(limit_s)
            failed = await self._sync(verify=not woken)

    async def _wait(self, limit_s: float) -> bool:
        """Until something changed, and a moment longer so that a burst is one sync."""
        try:
            async with asyncio.timeout(limit_s):
                await self._wake.wait()
        except TimeoutError:
            return False
        await self._clock.sleep(self._config.min_sync_s)
        return True

    async def _sync(self, *, verify: bool) -> bool:
        """Tell the data plane what changed; whether something has to be tried again."""
        self._wake.clear()
        dirty, self._dirty = self._dirty, set()
        for name in dirty:
            self._plan_service(name)
        if dirty:
            await self._service_health.sync(self._checks)
        changes = self._table.changes()
        if not changes and not verify:
            self._healthz.mark()
            return False
        try:
            failures = await self._dataplane.apply(changes)
        except StartOver as err:
            log.warning("data plane starts over", **fields(error=err))
            await self._start_dataplane()
            self._table.start_over()
            return True
        except (MuntinError, OSError) as err:
            log.warning("data plane failed, trying again", **fields(error=err))
            return True
        self._table.tell(changes, failures)
        self._healthz.mark()
        log.debug("synced", **fields(changes=len(changes), front_ends=len(self._table)))
        await self._report(changes, failures)
        return bool(failures)

    def _plan_service(self, name: str) -> None:
        service = self._services.get(name)
        if service is None:
            self._table.set_service(name, ())
            self._checks.pop(name, None)
            return
        slices = self._slices.by_index(_BY_SERVICE, name)
        node = self._config.node_name
        try:
            self._table.set_service(name, plan.frontends(service, slices, node))
            check = plan.health_check(service, slices, node)
        except (KeyError, TypeError, ValueError) as err:
            log.exception("service not understood", **fields(service=name, error=err))
            return
        if check:
            self._checks[name] = check
        else:
            self._checks.pop(name, None)

    async def _start_dataplane(self) -> None:
        while True:
            try:
                await self._dataplane.start()
                return
            except (MuntinError, OSError) as err:
                log.warning("data plane not ready, trying again", **fields(error=err))
                await self._clock.sleep(self._config.retry_s)

    async def _report(self, changes: Iterable[Change], failures: Mapping[FrontendKey, str]) -> None:
        for change in changes:
            if change.new is None:
                continue
            for limit in self._dataplane.limits(change.new):
                await self._warn(change.new, limit)
            problem = failures.get(change.key)
            if problem:
                log.warning(
                    "front end not programmed",
                    **fields(service=change.new.service, kind=change.new.kind, error=problem),
                )
                text = f"{change.new.kind} {change.key.port}: {problem}"
                await self._warn(change.new, text)

    async def _warn(self, frontend: Frontend, problem: str) -> None:
        service = self._services.get(frontend.service)
        if self._config.emits_events and service is not None:
            await self._events.warn(service, problem)


def _service_index(slice_: Object) -> Iterable[str]:
    name = plan.service_of(slice_)
    return (name,) if name else ()


def _slim(obj: Object) -> Object:
    """Without what the proxy never reads, which is most of what an object weighs."""
    meta = obj["metadata"]
    for key in ("managedFields", "ownerReferences", "finalizers"):
        meta.pop(key, None)
    return obj
