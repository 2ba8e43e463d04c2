"""Addresses and node ports: one owner each, also with two servers over one store."""

import asyncio
import ipaddress
from contextlib import asynccontextmanager

import pytest
from api_in_process import KEY, SERVICES, Api, run

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.seams.store.memory import MemoryStore

ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
HEADERS = {"content-type": "application/json"}


def service(name, **spec):
    spec.setdefault("ports", [{"port": 80}])
    return {"metadata": {"name": name}, "spec": spec}


@asynccontextmanager
async def two_servers(store, version="1.34", **fields):
    config = ApiServerConfig(
        kubernetes_version=version,
        service_account_key=KEY,
        advertise_address="192.0.2.1",
        **fields,
    )
    async with ApiServer(config, store) as one, ApiServer(config, store) as two:
        yield [Api(server.user("admin", "system:masters")) for server in (one, two)], (one, two)


async def created(apis, count, **spec):
    """What ``count`` creations gave, sent to the servers by turns at the same time."""

    async def one(n):
        try:
            return await apis[n % 2]("POST", SERVICES, service(f"s{n}", **spec))
        except AssertionError as err:
            return err

    found = await asyncio.gather(*(one(n) for n in range(count)))
    return [row["spec"] for row in found if isinstance(row, dict)], found


@pytest.mark.parametrize("version", ["1.34", "1.25", "1.20"])
def test_two_servers_never_hand_out_the_same(version):
    async def main():
        store = MemoryStore()
        limits = {"service_cidr": "10.96.0.0/26", "node_ports": (30000, 30039)}
        async with two_servers(store, version, **limits) as (apis, _):
            specs, found = await created(apis, 40, type="NodePort")
            assert len(specs) == 40, found
            assert len({spec["clusterIP"] for spec in specs}) == 40
            ports = {spec["ports"][0]["nodePort"] for spec in specs}
            assert ports == set(range(30000, 30040))
            await apis[0]("POST", SERVICES, service("more", type="NodePort"), code=500)

    asyncio.run(asyncio.wait_for(main(), 30))


def test_what_is_asked_for_goes_to_one_of_two():
    async def main():
        store = MemoryStore()
        async with two_servers(store) as (apis, _):
            specs, found = await created(apis, 2, clusterIP="10.96.7.7")
            assert len(specs) == 1
            (error,) = [row for row in found if not isinstance(row, dict)]
            assert "failed to allocate IP 10.96.7.7: provided IP is already allocated" in str(error)
            port = [{"port": 80, "nodePort": 30123}]
            async with asyncio.timeout(5):
                answers = await asyncio.gather(
                    *(_status(api, service(f"p{n}", type="NodePort", ports=port))
                      for n, api in enumerate(apis))
                )  # fmt: skip
            assert sorted(answers) == [201, 422]

    asyncio.run(asyncio.wait_for(main(), 30))


async def _status(api, body):
    import orjson

    answer = await api.transport.request("POST", SERVICES, headers=HEADERS, body=orjson.dumps(body))
    return answer.status


def test_addresses_are_objects_that_come_and_go_with_their_service():
    async def scenario(server, api):
        made = await api("POST", SERVICES, service("s"))
        address = made["spec"]["clusterIP"]
        found = await api("GET", f"{ADDRESSES}/{address}")
        assert found["spec"] == {
            "parentRef": {"group": "", "resource": "services", "namespace": "default", "name": "s"}
        }
        assert found["metadata"]["labels"] == {
            "ipaddress.kubernetes.io/ip-family": "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator",
        }
        await api("DELETE", f"{SERVICES}/s")
        await api("GET", f"{ADDRESSES}/{address}", code=404)

    run(scenario)


def test_nothing_is_left_of_what_was_not_stored():
    async def scenario(server, api):
        records = server.core.allocator.records
        before = {held.key for held in await records.all()}
        await api("POST", f"{SERVICES}?dryRun=All", service("dry", type="NodePort"))
        await api("POST", SERVICES, service("bad", clusterIP="192.0.2.1"), code=422)
        assert {held.key for held in await records.all()} == before
        await api("POST", SERVICES, service("s", type="NodePort"))
        between = {held.key for held in await records.all()}
        assert len(between) == len(before) + 2
        await api("POST", SERVICES, service("s", type="NodePort"), code=409)
        assert {held.key for held in await records.all()} == between
        found = await api("GET", f"{SERVICES}/s")
        found["spec"]["type"] = "ClusterIP"
        del found["spec"]["ports"][0]["nodePort"]
        await api("PUT", f"{SERVICES}/s", found)
        assert len(await records.all()) == len(before) + 1
        await api("DELETE", f"{SERVICES}/s")
        assert {held.key for held in await records.all()} == before

    run(scenario)


def test_repair_writes_what_is_missing_and_frees_what_is_left_over():
    async def scenario(server, api):
        allocator = server.core.allocator
        made = await api("POST", SERVICES, service("s", type="NodePort"))
        held = {row.key: row for row in await allocator.records.all()}
        mine = {allocator.records.key(made["spec"]["clusterIP"]),
                allocator.records.key(made["spec"]["ports"][0]["nodePort"])}  # fmt: skip
        for key in mine:
            await server.core.store.delete(key, held[key].revision)
        from muntin.apiserver.services.records import Owner

        await allocator.records.take("10.96.9.9", Owner("default", "gone"))
        await allocator.repair.once()
        keys = {row.key for row in await allocator.records.all()}
        assert mine <= keys
        assert allocator.records.key("10.96.9.9") in keys  # its Service may be on the way
        await allocator.repair.once()
        keys = {row.key for row in await allocator.records.all()}
        assert mine <= keys
        assert allocator.records.key("10.96.9.9") not in keys

    run(scenario)


def test_a_store_of_before_gets_its_records():
    store = MemoryStore()

    async def first(server, api):
        await api("POST", SERVICES, service("s", clusterIP="10.96.3.3"))
        key = server.core.allocator.records.key("10.96.3.3")
        record = await server.core.store.get(key)
        await server.core.store.delete(key, record.mod_revision)

    async def second(server, api):
        await server.core.allocator.repair.once()
        assert await _has(server, "10.96.3.3")
        error = await api("POST", SERVICES, service("t", clusterIP="10.96.3.3"), code=422)
        assert "already allocated" in error["message"]

    async def _has(server, address):
        key = server.core.allocator.records.key(address)
        return key in {held.key for held in await server.core.allocator.records.all()}

    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34", service_account_key=KEY, advertise_address="192.0.2.1"
        )
        for scenario in (first, second):
            async with ApiServer(config, store) as server:
                await scenario(server, Api(server.user("admin", "system:masters")))

    asyncio.run(asyncio.wait_for(main(), 30))


def test_the_whole_range_can_be_used():
    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34",
            service_account_key=KEY,
            advertise_address="192.0.2.1",
            service_cidr="10.96.0.0/29",
        )
        async with ApiServer(config, MemoryStore()) as server:
            api = Api(server.user("admin", "system:masters"))
            found = [await api("POST", SERVICES, service(f"s{n}")) for n in range(5)]
            taken = {row["spec"]["clusterIP"] for row in found} | {"10.96.0.1"}
            hosts = {str(host) for host in ipaddress.ip_network("10.96.0.0/29").hosts()}
            assert taken == hosts

    asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.parametrize(("version", "code"), [("1.34", 200), ("1.32", 404)])
def test_the_range_is_an_object_too(version, code):
    async def scenario(server, api):
        path = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"
        found = await api("GET", path, code=code)
        if code == 200:
            assert found["spec"] == {"cidrs": ["10.96.0.0/12"]}
            assert found["status"]["conditions"][0]["type"] == "Ready"

    run(scenario, version=version)
