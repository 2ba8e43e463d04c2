"""The API server by itself, over TLS, one request at a time and sixteen at once.

There is no kube-apiserver on this machine to run beside it, so these are figures, not ratios.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import page
import uvloop
from measure import Samples, milliseconds, seconds, table, until

from muntin.cluster import certificate_names as names
from muntin.cluster import certificates
from muntin.cluster.settings import Draft, resolve
from muntin.cluster.status import pss_mib
from muntin.kit.http.client import HttpClient
from muntin.kit.http.tls import client_context

STARTS, SEQUENTIAL, GETS, PODS, CONNECTIONS, LISTS, WATCHERS, UPDATES = (
    5, 300, 2000, 10_000, 16, 5, 100, 100,
)  # fmt: skip
_NAMESPACE = "bench"
_BASE = f"/api/v1/namespaces/{_NAMESPACE}"
_PROCESS = Path(__file__).with_name("api_process.py")
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
Object = dict[str, Any]
Row = tuple[str, ...]


class Api:
    """Requests to the server; every answer but a success is an error."""

    def __init__(self, directory: Path, port: int) -> None:
        self.base = f"https://127.0.0.1:{port}"
        self.http = HttpClient(
            tls=client_context(
                ca=(directory / f"{names.CA}.crt").read_bytes(),
                certificate=(directory / f"{names.ADMIN}.crt").read_bytes(),
                key=(directory / f"{names.ADMIN}.key").read_bytes(),
            )
        )

    async def send(
        self, method: str, path: str, obj: Object | None = None, kind: str = "application/json"
    ) -> bytes:
        body = b"" if obj is None else orjson.dumps(obj)
        answer = await self.http.request(
            method, self.base + path, headers={"content-type": kind}, body=body, timeout_s=60
        )
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body[:300]!r}")
        return answer.body


def measure() -> None:
    starts = Samples()
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory(prefix="muntin-bench-") as name, _server(Path(name)) as at:
            starts.add(at.ready_s)
    with tempfile.TemporaryDirectory(prefix="muntin-bench-") as name, _server(Path(name)) as at:
        rows = uvloop.run(_requests(Path(name), at))
    first = (f"program start to ready, {STARTS} times", "", seconds(starts.median), "")
    page.write(
        "apiserver",
        table(
            ("what", "a second", "median", "worst"), [(*first[:3], seconds(starts.worst)), *rows]
        ),
    )


class _Server:
    """A running server: its port, process, and how long it took to answer."""

    def __init__(self, directory: Path) -> None:
        self.port = _free_port()
        config = resolve(Draft(name="bench", api_server_port=self.port))
        certificates.ensure(config, directory)
        began = time.perf_counter()
        command = [sys.executable, str(_PROCESS), str(directory), str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until("API server", self._listens, limit_s=20, poll_s=0.002)
        self.ready_s = time.perf_counter() - began

    def _listens(self) -> bool:
        """The server listens when it is ready, not before."""
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def _server(directory: Path) -> Iterator[_Server]:
    server = _Server(directory)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


async def _requests(directory: Path, server: _Server) -> list[Row]:
    api = Api(directory, server.port)
    meta = {"metadata": {"name": _NAMESPACE}}
    await api.send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", **meta})
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    await api.send("POST", f"{_BASE}/serviceaccounts", account)
    rows = await _one_at_a_time(api)
    rows += await _at_once(api)
    rows += await _lists(api)
    rows.append(await _fan_out(api))
    memory = f"{pss_mib(server.process.pid):.0f} MiB"
    rows.append((f"memory (PSS) with {PODS:,} pods", "", memory, ""))
    await api.http.close()
    return rows


async def _one_at_a_time(api: Api) -> list[Row]:
    def create(number: int) -> Awaitable[bytes]:
        return api.send("POST", f"{_BASE}/pods", _pod(number))

    def get(number: int) -> Awaitable[bytes]:
        return api.send("GET", f"{_BASE}/pods/pod-{number % SEQUENTIAL}")

    def merge(number: int) -> Awaitable[bytes]:
        patch = {"metadata": {"annotations": {"bench": str(number)}}}
        return api.send("PATCH", f"{_BASE}/pods/pod-{number}", patch, _MERGE)

    def strategic(number: int) -> Awaitable[bytes]:
        patch = {"spec": {"containers": [{"name": "main", "image": f"example.com/x:{number}"}]}}
        return api.send("PATCH", f"{_BASE}/pods/pod-{number}", patch, _STRATEGIC)

    def status(number: int) -> Awaitable[bytes]:
        patch = {
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        }
        return api.send("PATCH", f"{_BASE}/pods/pod-{number}/status", patch, _STRATEGIC)

    return [
        await _sequence("create a pod", SEQUENTIAL, create),
        await _sequence("get a pod", GETS, get),
        await _sequence("merge patch", SEQUENTIAL, merge),
        await _sequence("strategic merge patch", SEQUENTIAL, strategic),
        await _sequence("status patch", SEQUENTIAL, status),
    ]


async def _sequence(text: str, times: int, act: Callable[[int], Awaitable[bytes]]) -> Row:
    taken = Samples()
    for number in range(times):
        with taken.timed():
            await act(number)
    rate = times / sum(taken.values)
    return text, f"{rate:,.0f}", milliseconds(taken.median), milliseconds(taken.worst)


async def _at_once(api: Api) -> list[Row]:
    def create(number: int) -> Awaitable[bytes]:
        return api.send("POST", f"{_BASE}/pods", _pod(SEQUENTIAL + number))

    def get(number: int) -> Awaitable[bytes]:
        return api.send("GET", f"{_BASE}/pods/pod-{number % SEQUENTIAL}")

    return [
        await _crowd(f"create pods, {CONNECTIONS} at once", PODS - SEQUENTIAL, create),
        await _crowd(f"get pods, {CONNECTIONS} at once", 2 * GETS, get),
    ]


async def _crowd(text: str, times: int, act: Callable[[int], Awaitable[bytes]]) -> Row:
    taken, numbers = Samples(), iter(range(times))

    async def work() -> None:
        for number in numbers:
            with taken.timed():
                await act(number)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(work())
    rate = times / (time.perf_counter() - began)
    return text, f"{rate:,.0f}", milliseconds(taken.median), milliseconds(taken.worst)


async def _lists(api: Api) -> list[Row]:
    rows = []
    for text, query in (
        (f"list {PODS:,} pods", ""),
        ("list 1 % of them by label", "?labelSelector=app%3Dapp-7"),
        ("first page of 500", "?limit=500"),
    ):
        taken = Samples()
        for _ in range(LISTS):
            with taken.timed():
                await api.send("GET", f"{_BASE}/pods{query}")
        rows.append((text, "", milliseconds(taken.median), milliseconds(taken.worst)))
    return rows


async def _fan_out(api: Api) -> Row:
    """A change of one object until the last of all watchers has it."""
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fan"}}
    made = orjson.loads(await api.send("POST", f"{_BASE}/configmaps", config_map))
    revision = made["metadata"]["resourceVersion"]
    arrived, taken, watching = asyncio.Queue[None](), Samples(), count(1)
    all_watch = asyncio.Event()

    async def watch() -> None:
        async with _watch(api, revision) as chunks:
            if next(watching) == WATCHERS:
                all_watch.set()
            async for chunk in chunks:
                for _ in range(chunk.count(b"\n")):
                    arrived.put_nowait(None)

    async with asyncio.TaskGroup() as group:
        watches = [group.create_task(watch()) for _ in range(WATCHERS)]
        await all_watch.wait()
        for number in range(UPDATES):
            with taken.timed():
                patch = {"data": {"mark": str(number)}}
                await api.send("PATCH", f"{_BASE}/configmaps/fan", patch, _MERGE)
                for _ in range(WATCHERS):
                    await arrived.get()
        for task in watches:
            task.cancel()
    rate = WATCHERS * UPDATES / sum(taken.values)
    text = f"a change until the last of {WATCHERS} watchers has it"
    return text, f"{rate:,.0f}", milliseconds(taken.median), milliseconds(taken.worst)


@asynccontextmanager
async def _watch(api: Api, revision: str) -> AsyncIterator[AsyncIterator[bytes]]:
    url = f"{api.base}{_BASE}/configmaps?watch=1&resourceVersion={revision}"
    async with api.http.stream("GET", url, headers={}) as answer:
        yield answer.chunks


def _pod(number: int) -> Object:
    """A pod of two containers, about three kilobytes as it is stored."""
    environment = [{"name": f"SETTING_{index}", "value": "x" * 32} for index in range(12)]
    labels = {"app": f"app-{number % 100}", "tier": "web" if number % 2 else "db"}
    spec = {
        "nodeName": f"node-{number % 100}",
        "automountServiceAccountToken": False,
        "containers": [_container(name, environment) for name in ("main", "sidecar")],
        "volumes": [{"name": "data", "emptyDir": {}}],
    }
    meta = {"name": f"pod-{number}", "labels": labels, "annotations": {"note": "n" * 200}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _container(name: str, environment: list[Object]) -> Object:
    return {
        "name": name,
        "image": f"example.com/{name}:1.2.3",
        "command": ["/bin/app", "--flag", name],
        "env": environment,
        "ports": [{"name": name, "containerPort": 8080 if name == "main" else 8081}],
        "resources": {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "10m", "memory": "16Mi"},
        },
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
