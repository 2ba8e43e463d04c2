"""Proxies of pods, Services and nodes: what goes there and what comes back is as it was sent."""

import asyncio
import gzip
import json
from contextlib import asynccontextmanager

from api_in_process import PODS, pod, run
from openapi_world import own_address

from muntin.kit.http.messages import Response
from muntin.kit.http.server import HttpServer

MERGE = {"content-type": "application/merge-patch+json"}
PAGE = b'<html><a href="/next">x</a><a href="same">y</a></html>'


async def workload(request):
    """Answers with what it was asked, or what its path says."""
    if request.path == "/page":
        return Response(200, {"Content-Type": "text/html; charset=utf-8"}, PAGE)
    if request.path == "/packed":
        headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
        return Response(200, headers, gzip.compress(PAGE))
    if request.path == "/away":
        return Response(302, {"Location": "/elsewhere"}, b"")
    said = {
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "body": request.body.decode(),
        "headers": dict(request.headers),
    }
    return Response(200, {"Content-Type": "application/json"}, json.dumps(said).encode())


@asynccontextmanager
async def served():
    address = own_address()
    assert address, "this machine has no address of its own"
    server = HttpServer(workload)
    port = await server.listen_tcp(address, 0)
    try:
        yield address, port
    finally:
        await server.close()


async def a_pod(api, address, name="one"):
    await api("POST", PODS, pod(name))
    state = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
    await api("PATCH", f"{PODS}/{name}/status", state, headers=MERGE)


async def asked(api, method, path, body=b"", **headers):
    return await api.transport.request(method, path, headers=headers, body=body)


def test_a_pod_gets_the_request_as_it_was():
    async def scenario(server, api):
        async with served() as (address, port):
            await a_pod(api, address)
            base = f"{PODS}/one:{port}/proxy"
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
                answer = await asked(
                    api, method, f"{base}/a%2Fb//c/?x=%26&y", b"said", authorization="Bearer mine"
                )
                assert answer.status == 200, answer.body
                found = json.loads(answer.body)
                assert found["method"] == method
                assert found["path"] == "/a%2Fb//c/"
                assert found["query"] == "x=%26&y"
                assert found["body"] == "said"
                assert "authorization" not in found["headers"]

    run(scenario)


def test_links_and_redirects_lead_through_the_proxy():
    async def scenario(server, api):
        async with served() as (address, port):
            await a_pod(api, address)
            base = f"{PODS}/one:{port}/proxy"
            bare = await asked(api, "GET", f"{base}?a=b")
            assert bare.status == 301
            assert bare.headers["location"] == f"{base}/?a=b"
            led = PAGE.replace(b'"/next"', f'"{base}/next"'.encode())
            assert (await asked(api, "GET", f"{base}/page")).body == led
            packed = await asked(api, "GET", f"{base}/packed")
            assert gzip.decompress(packed.body) == led
            away = await asked(api, "GET", f"{base}/away")
            assert away.status == 302
            assert away.headers["location"] == f"{base}/elsewhere"

    run(scenario)


def test_addresses_of_this_machine_alone_are_not_asked():
    async def scenario(server, api):
        for number, address in enumerate(("127.0.0.1", "169.254.169.254", "::1", "fe80::1")):
            await a_pod(api, address, f"p{number}")
            path = f"{PODS}/p{number}:80/proxy/"
            found = await api("GET", path, code=400)
            assert found["message"] == "address not allowed"
        await api("POST", PODS, pod("none"))
        found = await api("GET", f"{PODS}/none/proxy/", code=400)
        assert found["message"] == "address not allowed"
        node = {"metadata": {"name": "n"}, "status": {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}}  # fmt: skip
        await api("POST", "/api/v1/nodes", node)
        found = await api("GET", "/api/v1/nodes/n/proxy/", code=400)
        assert found["message"] == "address not allowed"

    run(scenario)


def test_a_service_leads_to_its_pods_and_to_nothing_else():
    async def scenario(server, api):
        async with served() as (address, port):
            await a_pod(api, address)
            core = "/api/v1/namespaces/default"
            ports = [{"name": "web", "port": 80}]
            await api(
                "POST", f"{core}/services", {"metadata": {"name": "s"}, "spec": {"ports": ports}}
            )
            there = {"ip": address, "targetRef": {"kind": "Pod", "name": "one"}}
            subset = {"addresses": [{"ip": address}], "ports": [{"name": "web", "port": port}]}
            ends = {"metadata": {"name": "s"}, "subsets": [subset]}
            await api("POST", f"{core}/endpoints", ends)
            for name in ("s", "s:web", "s:80", "http:s:web"):
                found = await api("GET", f"{core}/services/{name}/proxy/x", code=503)
                assert found["message"] == f'no endpoints available for service "{name}"'
            subset["addresses"] = [there]
            await api("PUT", f"{core}/endpoints/s", ends)
            for name in ("s", "s:web", "s:80", "http:s:web"):
                found = await api("GET", f"{core}/services/{name}/proxy/x")
                assert found["path"] == "/x"
            found = await api("GET", f"{core}/services/s:81/proxy/x", code=503)
            assert found["message"] == 'no service port 81 found for service "s"'
            found = await api("GET", f"{core}/services/ftp:s:web/proxy/x", code=400)
            assert found["message"] == 'invalid service request "ftp:s:web"'

    run(scenario)


def test_a_node_s_other_ports():
    async def scenario(server, api):
        async with served() as (address, port):
            node = {"metadata": {"name": "n"}, "status": {
                "addresses": [{"type": "InternalIP", "address": address}]}}  # fmt: skip
            await api("POST", "/api/v1/nodes", node)
            found = await api("GET", f"/api/v1/nodes/n:{port}/proxy/metrics?a=b")
            assert (found["path"], found["query"]) == ("/metrics", "a=b")

    run(scenario)


def test_nobody_there():
    async def scenario(server, api):
        async with served() as (address, port):
            await a_pod(api, address)
        await asyncio.sleep(0)
        found = await api("GET", f"{PODS}/one:{port}/proxy/", code=503)
        assert found["reason"] == "ServiceUnavailable"
        assert found["message"].startswith("error trying to reach service: ")

    run(scenario)
