"""Proxies of pods, Services and nodes: what goes there and what comes back is as it was sent."""

import asyncio
import gzip
import json
import ssl
from contextlib import asynccontextmanager

import pytest
from api_in_process import MAPS, PODS, config_map, pod, run
from apiserver_process import Authority
from openapi_world import own_address

from muntin.apiserver.aggregation.remote import Remote
from muntin.kit.http.addresses import NotAllowed
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


NODE_ADDRESSES = (
    "localhost", "0x7f000001", "127.1", "2130706433", "::ffff:127.0.0.1", "0.0.0.0", "::", "::1",
    "169.254.169.254", "::127.0.0.1", "224.0.0.1", "fe80::1",
)  # fmt: skip


async def refused_nodes(api):
    """What the API says to a proxy of nodes with each of NODE_ADDRESSES."""
    said = {}
    for number, address in enumerate(NODE_ADDRESSES):
        node = {"metadata": {"name": f"n{number}"}, "status": {
            "addresses": [{"type": "InternalIP", "address": address}]}}  # fmt: skip
        await api("POST", "/api/v1/nodes", node)
        for name in (f"n{number}", f"n{number}:80", f"https:n{number}:443"):
            answer = await asked(api, "GET", f"/api/v1/nodes/{name}/proxy/")
            said[f"{name} {address}"] = (answer.status, json.loads(answer.body)["message"])
    return said


def test_names_and_odd_forms_of_this_machine_s_addresses_are_not_dialled():
    async def scenario(server, api):
        for where, answer in (await refused_nodes(api)).items():
            assert answer == (400, "address not allowed"), where
        await a_pod(api, "::ffff:127.0.0.1")
        body = await api("GET", f"{PODS}/one:80/proxy/", code=400)
        assert body["message"] == "address not allowed"

    run(scenario, dials_any=False)


def test_webhooks_and_aggregated_servers_are_not_dialled_there_either():
    async def scenario(server, api):
        hook = {
            "name": "h.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://localhost:1/"},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                       "operations": ["CREATE"]}],
        }  # fmt: skip
        hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
        await api("POST", hooks, {"metadata": {"name": "h"}, "webhooks": [hook]})
        answer = await api("POST", MAPS, config_map("m"), code=500)
        assert answer["message"].endswith("address not allowed")
        spec = {"service": {"name": "s", "namespace": "n"}, "group": "g", "version": "v1"}
        remote = Remote({"metadata": {"name": "v1.g"}, "spec": spec}, server.config, None)
        with pytest.raises(NotAllowed):
            await remote.client().request("GET", "https://[::ffff:127.0.0.1]:1/")

    run(scenario, dials_any=False)


def test_what_a_node_says_of_itself_is_a_host_and_nothing_else():
    async def scenario(server, api):
        for number, address in enumerate(("127.0.0.1/x?", "a@127.0.0.1", "x#", "")):
            node = {"metadata": {"name": f"n{number}"}, "status": {
                "addresses": [{"type": "InternalIP", "address": address}]}}  # fmt: skip
            await api("POST", "/api/v1/nodes", node)
            answer = await api("GET", f"/api/v1/nodes/n{number}/proxy/", code=503)
            assert "no preferred addresses found" in answer["message"]

    run(scenario)


ODD_PORTS = ("x@127.0.0.1", "%C2%B2", "99999", "abc", "-1", "0", "1" * 5000, "80%2F", "+80", "8_0")


def test_odd_ports_are_bad_requests():
    async def scenario(server, api):
        address = own_address()
        await a_pod(api, address)
        node = {"metadata": {"name": "n"}, "status": {
            "addresses": [{"type": "InternalIP", "address": address}]}}  # fmt: skip
        await api("POST", "/api/v1/nodes", node)
        for port in ODD_PORTS:
            for scheme in ("", "http:", "https:"):
                for path in (f"/api/v1/nodes/{scheme}n:{port}", f"{PODS}/{scheme}one:{port}"):
                    answer = await asked(api, "GET", f"{path}/proxy/")
                    assert 400 <= answer.status < 500, (path, answer.body)
        body = await api("GET", "/api/v1/nodes/http:n:x@127.0.0.1/proxy/", code=400)
        assert body["message"] == 'invalid node request "http:n:x@127.0.0.1"'
        for text, why in (("%C2%B2", "invalid syntax"), ("99999", "value out of range"),
                          ("-1", "invalid syntax"), ("9" * 5000, "value out of range"),
                          ("80,", "invalid syntax")):  # fmt: skip
            body = await api("POST", f"{PODS}/one/portforward?ports={text}", code=400)
            assert body["message"].startswith(
                "cannot convert to []int32: strconv.ParseUint: parsing "
            )
            assert body["message"].endswith(why)

    run(scenario)


def test_certificates_of_workloads_are_not_verified(tmp_path):
    """Also for Services and other ports of a node; their CA is not known."""
    authority = Authority(tmp_path)
    authority.pair("server", "elsewhere")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")

    async def scenario(server, api):
        address = own_address()
        secure = HttpServer(workload)
        port = await secure.listen_tcp(address, 0, tls)
        await a_pod(api, address)
        node = {"metadata": {"name": "n"}, "status": {
            "addresses": [{"type": "InternalIP", "address": address}]}}  # fmt: skip
        await api("POST", "/api/v1/nodes", node)
        core = "/api/v1/namespaces/default"
        await api(
            "POST",
            f"{core}/services",
            {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 443}]}},
        )
        there = {"ip": address, "targetRef": {"kind": "Pod", "name": "one"}}
        subset = {"addresses": [there], "ports": [{"port": port}]}
        await api("POST", f"{core}/endpoints", {"metadata": {"name": "s"}, "subsets": [subset]})
        for path in (f"{PODS}/https:one:{port}", f"{core}/services/https:s:443",
                     f"/api/v1/nodes/https:n:{port}"):  # fmt: skip
            answer = await api("GET", f"{path}/proxy/x")
            assert answer["path"] == "/x"
        await secure.close()

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
