"""Logs of containers: which options there are, and how they come, over a WebSocket too.

What options are refused with was recorded from kube-apiserver 1.36 and 1.20.
"""

import asyncio
import base64
import ssl
from contextlib import asynccontextmanager

import pytest
from api_in_process import PODS, pod, run
from apiserver_process import Authority
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Request, TextMessage

from muntin.kit.http.messages import Response
from muntin.kit.http.server import HttpServer

TEXT = b"first\n\xff\x00second\n"
LOG = f"{PODS}/one/log"


@asynccontextmanager
async def kubelet(api, directory):
    """A node whose kubelet keeps what it was asked, and gives the same log to all."""
    Authority(directory).pair("server", "kubelet", server=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(directory / "server.crt", directory / "server.key")
    asked = []

    async def handle(request):
        asked.append((request.path, request.query))
        return Response(200, {"Content-Type": "text/plain"}, TEXT)

    server = HttpServer(handle)
    port = await server.listen_tcp("127.0.0.1", 0, tls)
    state = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    await api("POST", "/api/v1/nodes", {"metadata": {"name": "n"}, "status": state})
    await api("POST", PODS, pod("one", nodeName="n"))
    try:
        yield asked
    finally:
        await server.close()


def test_options_reach_the_kubelet(tmp_path):
    async def scenario(server, api):
        async with kubelet(api, tmp_path) as asked:
            cases = {
                "": "",
                "follow=true&previous=1": "follow=true&previous=true",
                "timestamps=yes": "timestamps=true",
                "follow=false&previous=0": "",
                "tailLines=0&limitBytes=1": "tailLines=0&limitBytes=1",
                "sinceSeconds=5&pretty=true": "sinceSeconds=5",
                "sinceTime=2020-01-01T00:00:00Z": "sinceTime=2020-01-01T00%3A00%3A00Z",
                "stream=Stderr": "stream=Stderr",
                "stream=All&tailLines=1": "tailLines=1",
                "insecureSkipTLSVerifyBackend=true": "",
                "container=main": "",
            }
            for query, expected in cases.items():
                answer = await api.transport.request("GET", f"{LOG}?{query}", headers={})
                assert (answer.status, answer.body) == (200, TEXT)
                assert asked.pop() == ("/containerLogs/default/one/main", expected), query

    run(scenario, version="1.34")


NEGATIVE = "tailLines: Invalid value: -1: must be greater than or equal to 0"
REFUSED = {
    "tailLines=-1": NEGATIVE,
    "tailLines=-1&limitBytes=0":
        f"[{NEGATIVE}, limitBytes: Invalid value: 0: must be greater than 0]",
    "sinceSeconds=0": "sinceSeconds: Invalid value: 0: must be greater than 0",
    "sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z":
        "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
}  # fmt: skip
SPLIT = {
    "stream=x": 'stream: Unsupported value: "x": supported values: "All", "Stderr", "Stdout"',
    "stream=Stdout&tailLines=1":
        "[]: Forbidden: `tailLines` and specific `stream` are mutually exclusive for now",
}  # fmt: skip
UNREADABLE = {
    "tailLines=x": 'strconv.ParseInt: parsing "x": invalid syntax',
    "limitBytes=1.5": 'strconv.ParseInt: parsing "1.5": invalid syntax',
    "tailLines=99999999999999999999":
        'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    "sinceTime=x": 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    "container=none": "container none is not valid for pod one",
}  # fmt: skip


@pytest.mark.parametrize("version", ["1.20", "1.36"])
def test_options_that_cannot_be(version):
    async def scenario(server, api):
        await api("POST", PODS, pod("one"))
        wrong = {**REFUSED, **SPLIT} if version == "1.36" else REFUSED
        for query, text in wrong.items():
            found = await api("GET", f"{LOG}?{query}", code=422)
            assert found["message"] == f'PodLogOptions "one" is invalid: {text}'
            assert found["details"]["kind"] == "PodLogOptions"
        for query, text in UNREADABLE.items():
            assert (await api("GET", f"{LOG}?{query}", code=400))["message"] == text
        if version == "1.20":  # it does not know the parameter
            answer = await api.transport.request("GET", f"{LOG}?stream=x", headers={})
            assert answer.status == 204

    run(scenario, version=version)


def test_a_pod_without_a_node_has_nothing_to_say():
    async def scenario(server, api):
        await api("POST", PODS, pod("one"))
        answer = await api.transport.request("GET", LOG, headers={})
        assert (answer.status, answer.body) == (204, b"")

    run(scenario)


@pytest.mark.parametrize("protocol", ["", "binary.k8s.io", "base64.binary.k8s.io"])
def test_a_log_over_a_websocket(protocol, tmp_path):
    async def scenario(server, api):
        async with kubelet(api, tmp_path) as asked:
            await everybody_reads(api)
            port = await server._http.listen_tcp("127.0.0.1", 0)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            socket = WSConnection(ConnectionType.CLIENT)
            wanted = Request(
                host="x", target=f"{LOG}?follow=true", subprotocols=[protocol] if protocol else []
            )
            writer.write(socket.send(wanted))
            found, accepted = b"", None
            while True:
                socket.receive_data(await asyncio.wait_for(reader.read(4096), 5) or None)
                events = list(socket.events())
                for event in events:
                    if isinstance(event, AcceptConnection):
                        accepted = event.subprotocol
                    elif isinstance(event, BytesMessage):
                        found += bytes(event.data)
                    elif isinstance(event, TextMessage):
                        found += base64.b64decode(event.data)
                if any(isinstance(event, CloseConnection) for event in events):
                    break
            writer.close()
            assert (accepted or "") == protocol
            assert found == TEXT
            assert asked == [("/containerLogs/default/one/main", "follow=true")]

    run(scenario)


async def everybody_reads(api):
    subject = {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Group",
        "name": "system:unauthenticated",
    }
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {"metadata": {"name": "all"}, "roleRef": role, "subjects": [subject]}
    await api("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
