"""Tokens in Secrets, sums of roles and cluster-info, with the controllers that keep them."""

import asyncio
import base64
from contextlib import asynccontextmanager

import pytest
from control_plane import client_for, key_pem

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.controllers import loop as controllers
from muntin.controllers.config import ControllersConfig
from muntin.kit import errors
from muntin.kit.http.messages import Request
from muntin.model.resources import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from muntin.seams.kube.client import Client
from muntin.seams.store.memory import MemoryStore

NAMED = {"kubernetes.io/service-account.name": "builder"}


@asynccontextmanager
async def cluster(version="1.34", *, secret_tokens=False):
    key = key_pem()
    config = ApiServerConfig(kubernetes_version=version, service_account_key=key)
    async with ApiServer(config, MemoryStore()) as server:
        settings = ControllersConfig(
            root_ca="CA", service_account_key=key, secret_tokens=secret_tokens
        )
        task = asyncio.ensure_future(controllers.run(settings, client_for(server)))
        try:
            yield server, Client(server.user("admin", "system:masters"))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def until(check):
    """Ask until there is something true."""
    async with asyncio.timeout(15):
        while True:
            try:
                if found := await check():
                    return found
            except errors.NotFound:
                pass
            await asyncio.sleep(0.01)


def scenario(function):
    return lambda: asyncio.run(function())


async def code(server, token):
    headers = {"authorization": f"Bearer {token}"}
    answer = await server.handler(Request("GET", "/version", headers=headers))
    return answer.status


@scenario
async def test_a_secret_gets_a_token_and_goes_with_its_account():
    async with cluster() as (server, admin):
        account = {"metadata": {"name": "builder", "namespace": "default"}}
        await admin.create(SERVICE_ACCOUNTS, account, "default")
        meta = {"name": "mine", "namespace": "default", "annotations": NAMED}
        body = {"metadata": meta, "type": "kubernetes.io/service-account-token"}
        await admin.create(SECRETS, body, "default")

        async def filled():
            found = await admin.get(SECRETS, "mine", "default")
            return found if "token" in (found.get("data") or {}) else None

        found = await until(filled)
        data = {name: base64.b64decode(text).decode() for name, text in found["data"].items()}
        assert (data["ca.crt"], data["namespace"]) == ("CA", "default")
        assert await code(server, data["token"]) == 200
        account = await admin.get(SERVICE_ACCOUNTS, "builder", "default")
        assert "secrets" not in account
        await admin.delete(SERVICE_ACCOUNTS, "builder", "default")
        assert await code(server, data["token"]) == 401

        async def gone():
            try:
                await admin.get(SECRETS, "mine", "default")
            except errors.NotFound:
                return True
            return False

        await until(gone)


@scenario
async def test_an_api_of_old_gives_every_account_a_token():
    async with cluster("1.20", secret_tokens=True) as (server, admin):

        async def listed():
            found = await admin.get(SERVICE_ACCOUNTS, "default", "default")
            return found.get("secrets")

        (row,) = await until(listed)
        assert row["name"].startswith("default-token-")
        secret = await admin.get(SECRETS, row["name"], "default")
        token = base64.b64decode(secret["data"]["token"]).decode()
        assert await code(server, token) == 200
        await admin.delete(SECRETS, row["name"], "default")
        assert await code(server, token) == 401

        async def another():
            return [new for new in await listed() or () if new != row]

        await until(another)


@scenario
async def test_a_new_part_reaches_every_sum_above_it():
    async with cluster() as (_, admin):
        rule = {"verbs": ["get"], "apiGroups": ["example.com"], "resources": ["widgets"]}
        labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
        await admin.create(
            CLUSTER_ROLES, {"metadata": {"name": "widgets", "labels": labels}, "rules": [rule]}
        )
        for name in ("view", "edit", "admin"):

            async def holds(name=name):
                return rule in (await admin.get(CLUSTER_ROLES, name))["rules"]

            await until(holds)
        await admin.delete(CLUSTER_ROLES, "widgets")

        async def lost():
            return rule not in (await admin.get(CLUSTER_ROLES, "admin"))["rules"]

        await until(lost)


@pytest.mark.parametrize("expires", ["2000-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_cluster_info_is_signed_and_old_tokens_go(expires):
    async def scenario():
        async with cluster() as (_, admin):
            data = {"kubeconfig": "kind: Config"}
            info = {"metadata": {"name": "cluster-info", "namespace": "kube-public"}, "data": data}
            await admin.create(CONFIG_MAPS, info, "kube-public")
            strings = {
                "token-id": "abcdef", "token-secret": "0123456789abcdef",
                "usage-bootstrap-signing": "true", "expiration": expires,
            }  # fmt: skip
            meta = {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}
            secret = {"metadata": meta, "type": "bootstrap.kubernetes.io/token",
                      "stringData": strings}  # fmt: skip
            await admin.create(SECRETS, secret, "kube-system")

            async def signed():
                found = await admin.get(CONFIG_MAPS, "cluster-info", "kube-public")
                return "jws-kubeconfig-abcdef" in found["data"]

            async def gone():
                try:
                    await admin.get(SECRETS, meta["name"], "kube-system")
                except errors.NotFound:
                    return True
                return False

            if expires.startswith("2999"):
                await until(signed)
                await admin.delete(SECRETS, meta["name"], "kube-system")
                await until(gone)
            await until(gone)
            await until(lambda: _not(signed))

    async def _not(check):
        return not await check()

    asyncio.run(scenario())
