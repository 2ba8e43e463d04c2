"""Two API servers over one real etcd: each sees at once what the other has written."""

import asyncio
import json

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd import EtcdStore

JSON = {"content-type": "application/json"}


async def call(server, method, path, body=None):
    transport = server.user("admin", "system:masters")
    data = b"" if body is None else json.dumps(body).encode()
    answer = await transport.request(method, path, headers=JSON, body=data)
    return answer.status, json.loads(answer.body)


def both(etcd, scenario):
    """Run ``scenario(first, second)`` with two servers over that etcd."""
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    config = ApiServerConfig(kubernetes_version="1.34", service_account_key=key)

    async def main():
        stores = EtcdStore([Endpoint(path=etcd)]), EtcdStore([Endpoint(path=etcd)])
        async with (
            ApiServer(config, stores[0]) as first,
            ApiServer(config, stores[1]) as second,
        ):
            await asyncio.wait_for(scenario(first, second), 20)
        for store in stores:
            await store.close()

    asyncio.run(main())


def test_two_servers_are_one(etcd):
    maps = "/api/v1/namespaces/two/configmaps"  # other tests use this etcd too

    async def scenario(first, second):
        await call(first, "POST", "/api/v1/namespaces", {"metadata": {"name": "two"}})
        await call(second, "GET", "/api/v1/namespaces/two")
        for n in range(10):
            code, made = await call(first, "POST", maps, {"metadata": {"name": f"c{n}"}})
            assert code == 201, made
            code, found = await call(second, "GET", f"{maps}/c{n}")
            assert code == 200, found
            assert found["metadata"] == made["metadata"]
        _, listed = await call(second, "GET", maps)
        assert len(listed["items"]) == 10
        code, _ = await call(second, "PUT", f"{maps}/c0", {**made, "data": {}})
        assert code == 400  # its name is another
        _, stale = await call(first, "GET", f"{maps}/c0")
        await call(second, "PUT", f"{maps}/c0", {**stale, "data": {"a": "b"}})
        code, error = await call(first, "PUT", f"{maps}/c0", {**stale, "data": {"a": "c"}})
        assert (code, error["reason"]) == (409, "Conflict")
        assert (await call(first, "DELETE", f"{maps}/c0"))[0] == 200
        assert (await call(second, "GET", f"{maps}/c0"))[0] == 404

    both(etcd, scenario)


def test_two_servers_share_addresses_and_quotas(etcd):
    root = "/api/v1/namespaces/shared"

    async def scenario(first, second):
        servers = (first, second)
        await call(first, "POST", "/api/v1/namespaces", {"metadata": {"name": "shared"}})
        await call(second, "GET", "/api/v1/namespaces/shared")

        def service(n):
            return {"metadata": {"name": f"s{n}"}, "spec": {"type": "NodePort", "ports": [
                {"port": 80, "nodePort": 30000 + n // 2}]}}  # fmt: skip

        answers = await asyncio.gather(
            *(call(servers[n % 2], "POST", f"{root}/services", service(n)) for n in range(20))
        )
        made = [found for code, found in answers if code == 201]
        assert len(made) == 10, answers  # of the two that want a port, one
        assert len({found["spec"]["clusterIP"] for found in made}) == 10
        quota = {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "5"}}}
        _, found = await call(first, "POST", f"{root}/resourcequotas", quota)
        found["status"] = {"hard": {"secrets": "5"}, "used": {"secrets": "0"}}
        await call(first, "PUT", f"{root}/resourcequotas/q/status", found)
        await call(second, "GET", f"{root}/resourcequotas/q")
        answers = await asyncio.gather(
            *(
                call(servers[n % 2], "POST", f"{root}/secrets", {"metadata": {"name": f"x{n}"}})
                for n in range(20)
            )
        )
        assert sorted(code for code, _ in answers) == [201] * 5 + [403] * 15

    both(etcd, scenario)


def test_of_two_that_make_the_same_service_one_keeps_its_numbers(etcd):
    root = "/api/v1/namespaces/same"

    async def scenario(first, second):
        await call(first, "POST", "/api/v1/namespaces", {"metadata": {"name": "same"}})
        await call(second, "GET", "/api/v1/namespaces/same")

        def service(name, n):
            spec = {"type": "NodePort", "clusterIP": f"10.96.200.{n}", "ports": [
                {"port": 80, "nodePort": 31000 + n}]}  # fmt: skip
            return {"metadata": {"name": name}, "spec": spec}

        for n in range(1, 11):
            answers = await asyncio.gather(
                *(call(s, "POST", f"{root}/services", service(f"s{n}", n)) for s in (first, second))
            )
            assert sorted(code for code, _ in answers) == [201, 409], answers
            for server in (first, second):  # what the one that lost had taken is not free
                records = server.core.allocator.records
                held = {row.key: row.owner for row in await records.all()}
                for number in (f"10.96.200.{n}", 31000 + n):
                    assert held[records.key(number)].name == f"s{n}"

    both(etcd, scenario)
