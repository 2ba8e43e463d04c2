"""The client and the informer against the real API server, over a real connection."""

import asyncio
import socket

import pytest
from control_plane import key_pem

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer, Listener
from muntin.kit import errors
from muntin.model.resources import (
    CLUSTER_ROLE_BINDINGS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    NAMESPACES,
    SERVICE_ACCOUNTS,
)
from muntin.seams.kube import JSON_PATCH
from muntin.seams.kube.client import Client
from muntin.seams.kube.discovery import preferred_resources
from muntin.seams.kube.http import HttpTransport, ServerConfig
from muntin.seams.kube.informer import Informer, OnChange
from muntin.seams.store.memory import MemoryStore


async def account(server, admin):
    """The token of an account that may do anything."""
    meta = {"name": "robot", "namespace": "default"}
    await admin.create(SERVICE_ACCOUNTS, {"metadata": meta})
    subject = {"kind": "ServiceAccount", **meta}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "robot"}, "roleRef": role, "subjects": [subject]}
    await admin.create(CLUSTER_ROLE_BINDINGS, binding)
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": meta,
        "spec": {"expirationSeconds": 3600},
    }
    answer = await admin.create(SERVICE_ACCOUNTS, request, "default", subresource="token")
    return answer["status"]["token"]


def run(scenario):
    async def main():
        config = ApiServerConfig(kubernetes_version="1.34", service_account_key=key_pem())
        sock = socket.create_server(("127.0.0.1", 0))
        sock.setblocking(False)
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        async with ApiServer(config, MemoryStore()) as server:
            await server.serve([Listener(sock)])
            token = await account(server, Client(server.user("admin", "system:masters")))
            client = Client(HttpTransport(ServerConfig(server=url, token=token)))
            try:
                await scenario(client, url)
            finally:
                await client.close()

    asyncio.run(asyncio.wait_for(main(), 30))


def config_map(name, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


class Changes:
    """Waits for what an informer tells."""

    def __init__(self, informer):
        self._changed = asyncio.Event()
        informer.add_handler(OnChange(lambda *_: self._changed.set()))

    async def until(self, check):
        async with asyncio.timeout(20):
            while not check():
                await self._changed.wait()
                self._changed.clear()


def test_verbs_and_errors():
    async def scenario(client, url):
        made = await client.create(CONFIG_MAPS, config_map("a", x="1"))
        with pytest.raises(errors.AlreadyExists, match='configmaps "a" already exists'):
            await client.create(CONFIG_MAPS, config_map("a"))
        await client.update(CONFIG_MAPS, {**made, "data": {"x": "2"}})
        with pytest.raises(errors.Conflict, match="the object has been modified"):
            await client.update(CONFIG_MAPS, {**made, "data": {"x": "3"}})
        patch = [{"op": "replace", "path": "/data/x", "value": "4"}]
        changed = await client.patch(CONFIG_MAPS, "a", patch, "default", patch_type=JSON_PATCH)
        assert changed["data"] == {"x": "4"}
        with pytest.raises(errors.Invalid) as info:
            await client.create(DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": {}}, "default")
        assert "spec.selector" in {cause.field for cause in info.value.causes}
        found = await client.list(CONFIG_MAPS, "default", field_selector="metadata.name=a")
        assert [item["kind"] for item in found.items] == ["ConfigMap"]
        await client.delete(CONFIG_MAPS, "a", "default", uid=made["metadata"]["uid"])
        with pytest.raises(errors.NotFound, match='configmaps "a" not found'):
            await client.get(CONFIG_MAPS, "a", "default")
        stranger = Client(HttpTransport(ServerConfig(server=url)))
        with pytest.raises(errors.Forbidden, match="system:anonymous"):
            await stranger.list(NAMESPACES)
        await stranger.close()

    run(scenario)


def test_an_informer_follows():
    async def scenario(client, url):
        informer = Informer(client, CONFIG_MAPS, "default")
        until = Changes(informer).until
        task = asyncio.ensure_future(informer.run())
        try:
            await informer.synced.wait()
            await client.create(CONFIG_MAPS, config_map("a", x="1"))
            await until(lambda: informer.get("default/a"))
            await client.patch(CONFIG_MAPS, "a", {"data": {"x": "2"}}, "default")
            await until(lambda: informer.get("default/a")["data"] == {"x": "2"})
            await client.delete(CONFIG_MAPS, "a", "default")
            await until(lambda: informer.get("default/a") is None)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run(scenario)


def test_a_watch_that_is_refused_raises():
    async def scenario(client, url):
        with pytest.raises(errors.Invalid):
            async for _ in client.watch(CONFIG_MAPS, resource_version="not-a-number"):
                pass

    run(scenario)


def test_discovery_gives_what_is_served():
    async def scenario(client, url):
        found = await preferred_resources(client)
        names = [resource.group_resource for resource in found]
        assert {"pods", "deployments.apps", "leases.coordination.k8s.io"} <= set(names)
        assert len(names) == len(set(names))

    run(scenario)
