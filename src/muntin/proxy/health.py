"""What kube-proxy answers about itself: healthz, and the health check ports of Services."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from muntin.kit.clock import Clock, rfc3339
from muntin.kit.http.server import OF_COMPONENT, HttpServer, Request, Response
from muntin.kit.log import fields
from muntin.proxy.plan import HealthCheck

log = logging.getLogger(__name__)
_HEADERS = {"content-type": "application/json", "x-content-type-options": "nosniff"}


class Healthz:
    """``/healthz`` and ``/livez``: healthy once the first sync is done."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._updated: float | None = None

    def mark(self) -> None:
        """Note that the data plane was brought up to date just now."""
        self._updated = self._clock.now()

    async def __call__(self, request: Request) -> Response:
        if request.path not in ("/healthz", "/livez"):
            return Response(404)
        healthy = self._updated is not None
        document = {
            "lastUpdated": rfc3339(self._updated or 0.0),
            "currentTime": rfc3339(self._clock.now()),
            "nodeEligible": True,
        }
        return Response(200 if healthy else 503, _HEADERS, orjson.dumps(document))


@dataclass(slots=True)
class _Port:
    check: HealthCheck
    server: HttpServer


@dataclass(slots=True)
class ServiceHealth:
    """One HTTP server per health check node port: 200 while this node has endpoints, else 503."""

    address: str
    _ports: dict[int, _Port] = field(default_factory=dict)

    async def sync(self, checks: Mapping[str, HealthCheck]) -> None:
        """Serve exactly ``checks`` (by service)."""
        wanted = {check.port: check for check in checks.values()}
        for number in self._ports.keys() - wanted.keys():
            await self._ports.pop(number).server.close(0.2)
        for number, check in wanted.items():
            if number in self._ports:
                self._ports[number].check = check
            else:
                await self._open(number, check)

    async def close(self) -> None:
        await self.sync({})

    async def _open(self, number: int, check: HealthCheck) -> None:
        async def answer(_: Request) -> Response:
            return _report(self._ports[number].check)

        server = HttpServer(answer, OF_COMPONENT)
        self._ports[number] = _Port(check, server)
        try:
            await server.listen_tcp(self.address, number)
        except OSError as err:
            del self._ports[number]
            log.warning("health check port not opened", **fields(port=number, error=err))


def _report(check: HealthCheck) -> Response:
    namespace, _, name = check.service.partition("/")
    document = {
        "service": {"namespace": namespace, "name": name},
        "localEndpoints": check.local_endpoints,
        "serviceProxyHealthy": True,
    }
    return Response(200 if check.local_endpoints else 503, _HEADERS, orjson.dumps(document))
