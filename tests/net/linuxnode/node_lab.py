"""A kubelet on the test's Linux node, and our API server over a store in memory beside it.

All of it runs in one process inside the node's network namespace.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from lab_pki import LabPki

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.cluster.images_linux import BUSYBOX_IMAGES
from muntin.cluster.node_files import LinuxNodeFiles
from muntin.kit import netns
from muntin.kit.clock import SystemClock
from muntin.kit.errors import NotFound
from muntin.kit.http.client import HttpClient
from muntin.kit.http.tls import client_context
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.facts import linux_facts
from muntin.kubelet.loop import Kubelet
from muntin.kubelet.platform import linux
from muntin.model.resources import CONFIG_MAPS, EVENTS, NODES, PODS, SERVICE_ACCOUNTS
from muntin.model.windows_releases import DEFAULT_KUBERNETES, git_version
from muntin.seams.cri.client import CriClient
from muntin.seams.kube.client import Client
from muntin.seams.store.memory import MemoryStore

BUSYBOX = BUSYBOX_IMAGES[1]  # a tag, so that the policy is IfNotPresent
NODE = "lin01"
Object = dict[str, Any]


def signing_key() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


PIDS_LIMIT = 500


class Lab:
    """``client`` is an administrator; ``kubelet`` the running one."""

    def __init__(self, linux_node: Any, server: ApiServer) -> None:
        self.linux_node = linux_node
        self.server = server
        self.client = Client(server.user("admin", "system:masters"))
        self.kubelet: Kubelet | None = None
        self._task: asyncio.Task[None] | None = None
        self._cri = CriClient(linux_node.socket)
        self.pki = LabPki(linux_node.state / "pki")
        self.pki.issue("serving")

    @property
    def cri(self) -> CriClient:
        return self._cri

    async def start_kubelet(self) -> None:
        files = LinuxNodeFiles(self.linux_node.state)
        files.prepare()
        config = KubeletConfig(
            node_name=NODE,
            node_ip="127.0.0.1",
            version=git_version(DEFAULT_KUBERNETES),
            platform=linux(),
            facts=linux_facts(NODE, self.linux_node.state),
            files=files,
            cluster_dns=("10.96.0.10",),
            cgroup_parent=f"/{self.linux_node.cgroup}",
            annotations={"example.com/test": "yes"},
            refresh_interval_s=1.0,
            pod_pids_limit=PIDS_LIMIT,
            serving_certificate=str(self.pki.directory / "serving.crt"),
            serving_key=str(self.pki.directory / "serving.key"),
            client_ca=str(self.pki.directory / "ca.crt"),
        )
        client = Client(self.server.user(f"system:node:{NODE}", "system:nodes"))
        self.kubelet = Kubelet(config, client, self._cri, SystemClock())
        self._task = asyncio.create_task(self.kubelet.run())
        await self.eventually(self.is_node_ready)

    def http_client(self, name: str, organization: str = "") -> HttpClient:
        """Somebody with a client certificate of that name."""
        certificate, key = self.pki.issue(name, organization)
        tls = client_context(ca=self.pki.ca, certificate=certificate, key=key)
        return HttpClient(tls=tls)

    async def kill_kubelet(self) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self.kubelet = None

    async def is_node_ready(self) -> bool:
        assert self._task is not None
        if self._task.done():
            self._task.result()
        with contextlib.suppress(NotFound):
            node = await self.client.get(NODES, NODE)
            if not node["spec"].get("podCIDR"):
                cidr = {"podCIDR": "10.244.7.0/24", "podCIDRs": ["10.244.7.0/24"]}
                await self.client.patch(NODES, NODE, {"spec": cidr})
            rows = {row["type"]: row["status"] for row in node["status"]["conditions"]}
            return rows.get("Ready") == "True"
        return False

    async def eventually(
        self, holds: Callable[[], Awaitable[Any]], timeout_s: float = 15.0, what: object = ""
    ) -> Any:
        end = time.monotonic() + timeout_s
        while True:
            value = await holds()
            if value:
                return value
            assert time.monotonic() < end, what or await self.describe()
            await asyncio.sleep(0.05)

    async def describe(self) -> str:
        pods = (await self.client.list(PODS)).items
        events = (await self.client.list(EVENTS)).items
        rows = [f"{e['reason']}: {e['message']}" for e in events]
        return "\n".join([*(f"{p['metadata']['name']} {p.get('status')}" for p in pods), *rows])

    async def create_pod(self, name: str, spec: Object, **meta: Any) -> Object:
        full = {"nodeName": NODE, **spec}
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", **meta},
            "spec": full,
        }
        return await self.client.create(PODS, pod, "default")

    async def create_config_map(self, name: str, data: dict[str, str]) -> None:
        obj = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default"},
            "data": data,
        }
        await self.client.create(CONFIG_MAPS, obj, "default")

    async def pod(self, name: str) -> Object:
        return await self.client.get(PODS, name, "default")

    async def until(
        self, name: str, holds: Callable[[Object], Any], timeout_s: float = 15.0
    ) -> Object:
        async def look() -> Object | None:
            pod = await self.pod(name)
            return pod if holds(pod) else None

        found: Object = await self.eventually(look, timeout_s)
        return found

    async def gone(self, name: str, timeout_s: float = 15.0) -> None:
        async def look() -> bool:
            try:
                await self.pod(name)
            except NotFound:
                return True
            return False

        await self.eventually(look, timeout_s)

    async def events(self, pod: str) -> list[tuple[str, str]]:
        items = (await self.client.list(EVENTS, "default")).items
        return [
            (item["reason"], item["message"])
            for item in items
            if item["involvedObject"]["name"] == pod
        ]

    async def exec(self, name: str, *command: str) -> str:
        worker = self.kubelet.pod("default", name) if self.kubelet else None
        assert worker is not None
        container = worker.runtime.running[0].id
        answer = await self.cri.ExecSync({"container_id": container, "cmd": list(command)})
        return (answer.get("stdout", b"") + answer.get("stderr", b"")).decode()

    async def logs(self, name: str, container: str, attempt: int = 0) -> str:
        pod = await self.pod(name)
        uid = pod["metadata"]["uid"]
        root = self.linux_node.state / "pod-logs"
        path = root / f"default_{name}_{uid}/{container}/{attempt}.log"
        return path.read_text()


@contextlib.asynccontextmanager
async def lab(linux_node: Any) -> AsyncIterator[Lab]:
    config = ApiServerConfig(
        kubernetes_version="{}.{}".format(*DEFAULT_KUBERNETES), service_account_key=signing_key()
    )
    async with ApiServer(config, MemoryStore()) as server:
        one = Lab(linux_node, server)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        await one.client.create(SERVICE_ACCOUNTS, account, "default")
        await one.create_config_map("kube-root-ca.crt", {"ca.crt": "the CA"})
        await one.start_kubelet()
        try:
            yield one
        finally:
            for pod in (await one.client.list(PODS)).items:
                with contextlib.suppress(NotFound):
                    meta = pod["metadata"]
                    await one.client.delete(PODS, meta["name"], meta["namespace"], grace_period_s=1)

            async def none_left() -> bool:
                return not (await one.client.list(PODS)).items

            await one.eventually(none_left)
            await one.kill_kubelet()
            one.cri.close()


def in_lab(linux_node: Any, test: Callable[[Lab], Awaitable[None]]) -> None:
    async def run() -> None:
        async with lab(linux_node) as one:
            await test(one)

    netns.run(linux_node.netns, lambda: asyncio.run(run()))


def ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)


def phase(wanted: str) -> Callable[[Object], bool]:
    return lambda pod: (pod.get("status") or {}).get("phase") == wanted
