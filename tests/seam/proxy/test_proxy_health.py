"""What load balancers and people ask kube-proxy over HTTP."""

import asyncio
import json
import socket

from muntin.kit.clock import FakeClock
from muntin.kit.http.client import HttpClient
from muntin.kit.http.server import HttpServer
from muntin.proxy.health import Healthz, ServiceHealth
from muntin.proxy.plan import HealthCheck


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_healthz_turns_healthy_with_the_first_sync():
    async def scene():
        healthz = Healthz(FakeClock(1_700_000_000.0))
        server = HttpServer(healthz)
        port = await server.listen_tcp("127.0.0.1", 0)
        client = HttpClient()
        url = f"http://127.0.0.1:{port}/healthz"
        try:
            assert (await client.request("GET", url)).status == 503
            healthz.mark()
            answer = await client.request("GET", url)
            assert answer.status == 200
            assert json.loads(answer.body) == {
                "lastUpdated": "2023-11-14T22:13:20Z",
                "currentTime": "2023-11-14T22:13:20Z",
                "nodeEligible": True,
            }
            assert (await client.request("GET", url.replace("healthz", "x"))).status == 404
        finally:
            await client.close()
            await server.close()

    asyncio.run(scene())


def test_health_check_ports_follow_the_services():
    async def scene():
        health = ServiceHealth("127.0.0.1")
        port = free_port()
        client = HttpClient(keep_alive=False)
        url = f"http://127.0.0.1:{port}/"
        try:
            await health.sync({"shop/web": HealthCheck(port, "shop/web", 2)})
            answer = await client.request("GET", url)
            assert answer.status == 200
            assert json.loads(answer.body) == {
                "service": {"namespace": "shop", "name": "web"},
                "localEndpoints": 2,
                "serviceProxyHealthy": True,
            }
            await health.sync({"shop/web": HealthCheck(port, "shop/web", 0)})
            assert (await client.request("GET", url)).status == 503
            await health.sync({})
            with socket.socket() as sock:
                assert sock.connect_ex(("127.0.0.1", port)) != 0
        finally:
            await client.close()
            await health.close()

    asyncio.run(scene())
