"""A control plane in this process: the real API server, all controllers, the scheduler, fake nodes.

The nodes' kubelet is a stand-in of a few lines: pods bound to a node become Running and Ready at
once and are gone when their deletion is asked for.
"""

import asyncio
import contextlib
import dataclasses
import ipaddress
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.controllers import loop as controllers
from muntin.controllers.config import ControllersConfig
from muntin.controllers.rules.horizontal_settings import Settings
from muntin.kit import errors
from muntin.model.features import features_of
from muntin.model.resources import LEASES, NODES, PODS, SERVICE_ACCOUNTS
from muntin.scheduler import loop as scheduler
from muntin.scheduler.config import SchedulerConfig
from muntin.seams.kube.client import Client
from muntin.seams.kube.informer import Informer, OnChange
from muntin.seams.store.memory import MemoryStore

PATIENCE_S = 20
AUTOSCALED_S = 0.5
"""How often autoscalers are looked at."""


def key_pem():
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def client_for(server):
    def client(user):
        if user.startswith("system:serviceaccount:"):
            return Client(server.service_account(*user.split(":")[2:]))
        return Client(server.user(user))

    return client


def node(name, os="linux", taints=(), **status):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": os}
    resources = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": now, "reason": "KubeletReady"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": list(taints)} if taints else {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{**ready, "lastTransitionTime": now}],
            **status,
        },
    }


class ControlPlane:
    def __init__(self, server):
        self.server = server
        self.admin = Client(server.user("admin", "system:masters"))
        self.ready = True
        self.hold = set()
        self._addresses = iter(ipaddress.ip_network("10.244.0.0/16").hosts())
        self._pods = asyncio.Queue()

    async def add_node(self, name, **kwargs):
        found = node(name, **kwargs)
        await self.admin.create(NODES, found)
        current = await self.admin.get(NODES, name)
        await self.admin.update(NODES, {**current, "status": found["status"]}, subresource="status")

    async def beat(self, name):
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": name, "renewTime": now, "leaseDurationSeconds": 40},
        }
        await self.admin.create(LEASES, lease)

    async def kubelets(self):
        informer = Informer(self.admin, PODS)
        informer.add_handler(OnChange(lambda pod, _: self._pods.put_nowait(pod)))
        async with asyncio.TaskGroup() as group:
            group.create_task(informer.run())
            while True:
                pod = await self._pods.get()
                with contextlib.suppress(errors.NotFound, errors.Conflict):
                    await self._act(informer, pod)

    async def _act(self, informer, pod):
        meta = pod["metadata"]
        if informer.get(f"{meta['namespace']}/{meta['name']}") is None:
            return
        if not pod["spec"].get("nodeName"):
            return
        if meta["name"] in self.hold:
            return
        if meta.get("deletionTimestamp"):
            await self.admin.delete(
                PODS, meta["name"], meta["namespace"], grace_period_s=0, uid=meta["uid"]
            )
            return
        if not self.ready or (pod.get("status") or {}).get("phase") == "Running":
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        address = str(next(self._addresses))
        conditions = [
            {"type": kind, "status": "True", "lastTransitionTime": now}
            for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        ]
        status = {
            "phase": "Running",
            "conditions": conditions,
            "podIP": address,
            "podIPs": [{"ip": address}],
            "startTime": now,
        }
        await self.admin.update(PODS, {**pod, "status": status}, subresource="status")

    async def until(self, check, what, timeout_s=PATIENCE_S):
        """Ask ``check`` until it gives something true, and give that."""
        last = None
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    with contextlib.suppress(errors.NotFound):
                        last = await check()
                        if last:
                            return last
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{what}: not within {timeout_s} s; last seen: {last}") from None

    async def gone(self, resource, name, namespace=None):
        async def check():
            try:
                await self.admin.get(resource, name, namespace)
            except errors.NotFound:
                return True
            return False

        await self.until(check, f"{resource.plural} {name} gone")


@contextlib.asynccontextmanager
async def control_plane(
    *, nodes=("n1", "n2", "n3"), node_grace_s=50.0, version=(1, 34), scheduling=None
):
    config = ApiServerConfig(
        kubernetes_version=".".join(map(str, version)), service_account_key=key_pem()
    )
    store = MemoryStore()
    async with ApiServer(config, store) as server:
        plane = ControlPlane(server)
        settings = ControllersConfig(
            root_ca="root",
            cluster_cidr=ipaddress.ip_network("10.244.0.0/16"),
            node_grace_s=node_grace_s,
            features=features_of(version),
            autoscaling=Settings(sync_period_s=AUTOSCALED_S),
        )
        clients = client_for(server)
        tasks = [
            asyncio.ensure_future(coro)
            for coro in (
                controllers.run(settings, clients),
                scheduler.run(
                    dataclasses.replace(scheduling or SchedulerConfig(), kubernetes=version),
                    clients("system:kube-scheduler"),
                ),
                plane.kubelets(),
            )
        ]
        try:
            for name in nodes:
                await plane.add_node(name)
            await plane.until(
                lambda: plane.admin.get(SERVICE_ACCOUNTS, "default", "default"), "an account"
            )
            yield plane
            for task in tasks:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
