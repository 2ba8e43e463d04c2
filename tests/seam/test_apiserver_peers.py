"""Several API servers over one store: who lives is where the ``kubernetes`` Service leads."""

import asyncio
import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from etcd_lab import EtcdLab

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.apiserver.peers import ALIVE_S, RENEW_S
from muntin.kit.clock import FakeClock
from muntin.seams.store.memory import MemoryStore

KEY = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)
CONFIG = ApiServerConfig(kubernetes_version="1.34", service_account_key=KEY, several=True)


def server(store, number, clock=None, **values):
    config = replace(CONFIG, advertise_address=f"172.31.0.{number}", **values)
    return ApiServer(config, store, clock)


async def get(server, path):
    answer = await server.user("admin", "system:masters").request("GET", path, headers={})
    return json.loads(answer.body)


async def addresses(server):
    """Where the Service leads, as both kinds say it."""
    old = await get(server, "/api/v1/namespaces/default/endpoints/kubernetes")
    group = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
    new = await get(server, group)
    found = [row["ip"] for subset in old["subsets"] for row in subset["addresses"]]
    assert [row["addresses"] for row in new["endpoints"]] == [[address] for address in found]
    return found


async def leases(server):
    found = await get(server, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")
    return {row["metadata"]["name"]: row for row in found["items"]}


async def pass_s(clock, seconds):
    for _ in range(int(seconds)):
        await clock.advance(1)
        for _ in range(200):
            await asyncio.sleep(0)


def run(scenario):
    asyncio.run(asyncio.wait_for(scenario(), 120))


def test_the_service_leads_to_all_that_live():
    async def scenario():
        store, clock = MemoryStore(), FakeClock()
        async with server(store, 2, clock) as first:
            assert await addresses(first) == ["172.31.0.2"]
            async with server(store, 3, clock) as second:
                assert await addresses(second) == ["172.31.0.2", "172.31.0.3"]
                await pass_s(clock, 3 * RENEW_S)
                assert await addresses(first) == ["172.31.0.2", "172.31.0.3"]
            assert await addresses(first) == ["172.31.0.2"]  # a clean end is known at once
            killed = await server(store, 4, clock).__aenter__()
            assert await addresses(first) == ["172.31.0.2", "172.31.0.4"]
            for task in killed._tasks:
                task.cancel()
            await pass_s(clock, ALIVE_S - 1)
            assert await addresses(first) == ["172.31.0.2", "172.31.0.4"]
            await pass_s(clock, 2 * RENEW_S)
            assert await addresses(first) == ["172.31.0.2"]

    run(scenario)


def test_each_server_has_a_lease_that_says_who_it_is():
    async def scenario():
        store, clock = MemoryStore(), FakeClock()
        async with server(store, 2, clock) as first, server(store, 3, clock):
            before = await leases(first)
            assert len(before) == 2
            for name, lease in before.items():
                assert lease["metadata"]["labels"]["apiserver.kubernetes.io/identity"] == (
                    "kube-apiserver"
                )
                assert lease["spec"]["holderIdentity"].startswith(f"{name}_")
                assert lease["spec"]["leaseDurationSeconds"] == 3600
            await pass_s(clock, 2 * RENEW_S)
            after = await leases(first)
            for name, lease in after.items():
                assert lease["spec"]["renewTime"] > before[name]["spec"]["renewTime"]
        clock = FakeClock(clock.now() + 4000)
        async with server(store, 5, clock) as third:
            assert len(await leases(third)) == 1  # the others are long gone

    run(scenario)


def test_an_api_without_identities_has_no_leases():
    async def scenario():
        async with server(MemoryStore(), 2, FakeClock(), kubernetes_version="1.20") as only:
            found = await get(only, "/apis/coordination.k8s.io/v1/leases")
            assert found["items"] == []
            assert (await get(only, "/api/v1/namespaces/default/endpoints/kubernetes"))["subsets"]

    run(scenario)


@pytest.fixture
def etcd_lab(tmp_path):
    lab = EtcdLab(tmp_path)
    try:
        yield lab
    finally:
        lab.close()


def test_servers_that_start_at_once_on_an_empty_etcd(etcd_lab):
    async def scenario():
        stores = [await etcd_lab.store() for _ in range(3)]
        servers = [server(store, number) for number, store in enumerate(stores, 2)]
        await asyncio.gather(*(one.__aenter__() for one in servers))
        found = [set(await addresses(one)) for one in servers]
        everybody = {"172.31.0.2", "172.31.0.3", "172.31.0.4"}
        assert all(row <= everybody and row for row in found)
        await asyncio.gather(*(one._peers.settle() for one in servers))
        assert set(await addresses(servers[0])) == everybody
        service = await get(servers[0], "/api/v1/namespaces/default/services/kubernetes")
        assert service["spec"]["clusterIP"] == "10.96.0.1"
        await asyncio.gather(*(one.__aexit__(None, None, None) for one in servers))
        for store in stores:
            await store.close()

    run(scenario)
