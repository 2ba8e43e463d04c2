"""The kubelet's HTTPS server: who may, logs, exec and port-forward through to containerd."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

from node_lab import BUSYBOX, Lab, in_lab, ready

from muntin.kit.http.client import HttpClient, Upgraded
from muntin.kit.http.tls import client_context
from muntin.model.resources import PODS
from muntin.seams.streams.client import SPDY_HEADERS, RemoteCommand
from muntin.seams.streams.duplex import StreamDuplex
from muntin.seams.streams.remotecommand import Options
from muntin.seams.streams.spdy import SpdyConnection

BASE = "https://127.0.0.1:10250"


async def a_pod(lab: Lab) -> None:
    script = "for i in 1 2 3; do echo line $i; done; exec httpd -f -p 8080 -h /etc"
    container = {
        "name": "web",
        "image": BUSYBOX,
        "command": ["sh", "-c", script],
        "readinessProbe": {"tcpSocket": {"port": 8080}},
    }
    await lab.create_pod("web", {"terminationGracePeriodSeconds": 0, "containers": [container]})
    await lab.until("web", ready)


async def get(client: HttpClient, path: str) -> tuple[int, str]:
    answer = await client.request("GET", BASE + path, timeout_s=5)
    return answer.status, answer.body.decode()


async def logged(lab: Lab, client: HttpClient, path: str, text: str) -> None:
    """Return when the log at ``path`` is ``text``; a ready pod has not written it all yet."""

    async def written() -> bool:
        return await get(client, path) == (200, text)

    await lab.eventually(written)


def test_logs_pods_and_stats(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        await a_pod(lab)
        admin = lab.http_client("admin", "system:masters")
        assert await get(admin, "/healthz") == (200, "ok")
        await logged(lab, admin, "/containerLogs/default/web/web", "line 1\nline 2\nline 3\n")
        assert await get(admin, "/containerLogs/default/web/web?tailLines=1") == (200, "line 3\n")
        status, text = await get(admin, "/containerLogs/default/web/none")
        assert (status, text) == (404, "container none is not valid for pod web")
        pods = json.loads((await get(admin, "/pods"))[1])
        assert [pod["metadata"]["name"] for pod in pods["items"]] == ["web"]
        summary = json.loads((await get(admin, "/stats/summary"))[1])
        row = summary["pods"][0]
        assert row["podRef"]["name"] == "web"
        assert row["containers"][0]["memory"]["workingSetBytes"] > 0
        assert 'pod="web"' in (await get(admin, "/metrics/resource"))[1]
        settings = json.loads((await get(admin, "/configz"))[1])["kubeletconfig"]
        assert settings["address"] in BASE
        assert (await get(admin, "/nonsense"))[0] == 404
        await admin.close()

    in_lab(linux_node, test)


def test_a_name_is_of_the_new_pod_while_the_one_before_it_ends(linux_node: Any) -> None:
    async def web(lab: Lab, text: str) -> str:
        script = f"echo {text}; exec httpd -f -p 8080 -h /etc"
        container = {
            "name": "web",
            "image": BUSYBOX,
            "command": ["sh", "-c", script],
            "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1},
        }
        await lab.create_pod("web", {"terminationGracePeriodSeconds": 0, "containers": [container]})
        return str((await lab.until("web", ready))["metadata"]["uid"])

    async def test(lab: Lab) -> None:
        admin = lab.http_client("admin", "system:masters")
        logs = "/containerLogs/default/web/web"
        ending = lab.kubelet.workers[await web(lab, "old")]
        await logged(lab, admin, logs, "old\n")
        await lab.client.delete(PODS, "web", "default", grace_period_s=0)
        await web(lab, "new")
        await logged(lab, admin, logs, "new\n")
        lab.kubelet.workers = {ending.uid: ending, **lab.kubelet.workers}  # it takes its time
        assert await get(admin, logs) == (200, "new\n")
        lab.kubelet.workers.pop(ending.uid, None)
        await admin.close()

    in_lab(linux_node, test)


def test_only_those_who_may(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        stranger = lab.http_client("stranger")
        status, text = await get(stranger, "/pods")
        assert status == 403
        assert text == "Forbidden (user=stranger, verb=get, resource=nodes, subresource=proxy)"
        await stranger.close()
        nobody = HttpClient(tls=client_context(ca=lab.pki.ca))
        assert await get(nobody, "/pods") == (401, "Unauthorized")
        assert await get(nobody, "/configz") == (401, "Unauthorized")
        assert await get(nobody, "/healthz") == (200, "ok")
        bearer = {"authorization": "Bearer not-a-token"}
        answer = await nobody.request("GET", f"{BASE}/pods", headers=bearer, timeout_s=5)
        assert answer.status == 401
        await nobody.close()

    in_lab(linux_node, test)


def test_exec_through_to_containerd(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        await a_pod(lab)
        admin = lab.http_client("admin", "system:masters")
        words = ("sh", "-c", "cat; echo to stderr >&2; exit 7")
        query = "&".join(f"command={quote(word)}" for word in words)
        url = f"{BASE}/exec/default/web/web?{query}&input=1&output=1&error=1"
        upgraded = await admin.upgrade("POST", url, headers=SPDY_HEADERS)
        assert isinstance(upgraded, Upgraded)
        options = Options(stdin=True, stdout=True, stderr=True)
        command = RemoteCommand(StreamDuplex(upgraded.reader, upgraded.writer), options)
        running = asyncio.create_task(command.run())
        await command.open()
        await command.write_stdin(b"hello\n")
        await command.close_stdin()
        assert await command.read("stdout") == b"hello\n"
        assert await command.read("stderr") == b"to stderr\n"
        status = await command.status()
        assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "7"}]
        await command.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await admin.close()

    in_lab(linux_node, test)


def test_port_forward_through_to_containerd(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        await a_pod(lab)
        admin = lab.http_client("admin", "system:masters")
        headers = {**SPDY_HEADERS, "X-Stream-Protocol-Version": "portforward.k8s.io"}
        upgraded = await admin.upgrade("POST", f"{BASE}/portForward/default/web", headers=headers)
        assert isinstance(upgraded, Upgraded)
        duplex = StreamDuplex(upgraded.reader, upgraded.writer)
        connection = SpdyConnection(duplex, client=True)
        running = asyncio.create_task(connection.run())
        pair = {"port": "8080", "requestid": "0"}
        error = await connection.open({"streamtype": "error", **pair})
        await error.close_write()
        data = await connection.open({"streamtype": "data", **pair})
        await data.write(b"GET /passwd HTTP/1.0\r\n\r\n")
        answer = b""
        while b"root:x:0" not in answer:
            piece = await data.read()
            assert piece, answer
            answer += piece
        assert answer.startswith(b"HTTP/1.")
        await connection.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await admin.close()

    in_lab(linux_node, test)
