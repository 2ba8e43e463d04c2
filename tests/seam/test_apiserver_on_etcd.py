"""Two API servers over one real etcd: each sees at once what the other has written."""

import asyncio
import json

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.seams.store.etcd import EtcdStore

MAPS = "/api/v1/namespaces/default/configmaps"
JSON = {"content-type": "application/json"}


async def call(server, method, path, body=None):
    transport = server.user("admin", "system:masters")
    data = b"" if body is None else json.dumps(body).encode()
    answer = await transport.request(method, path, headers=JSON, body=data)
    return answer.status, json.loads(answer.body)


def test_two_servers_are_one(etcd):
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    config = ApiServerConfig(kubernetes_version="1.34", service_account_key=key)

    async def scenario(first, second):
        for n in range(10):
            code, made = await call(first, "POST", MAPS, {"metadata": {"name": f"c{n}"}})
            assert code == 201, made
            code, found = await call(second, "GET", f"{MAPS}/c{n}")
            assert code == 200, found
            assert found["metadata"] == made["metadata"]
        _, listed = await call(second, "GET", MAPS)
        assert len(listed["items"]) == 10
        code, _ = await call(second, "PUT", f"{MAPS}/c0", {**made, "data": {}})
        assert code == 400  # its name is another
        _, stale = await call(first, "GET", f"{MAPS}/c0")
        await call(second, "PUT", f"{MAPS}/c0", {**stale, "data": {"a": "b"}})
        code, error = await call(first, "PUT", f"{MAPS}/c0", {**stale, "data": {"a": "c"}})
        assert (code, error["reason"]) == (409, "Conflict")
        assert (await call(first, "DELETE", f"{MAPS}/c0"))[0] == 200
        assert (await call(second, "GET", f"{MAPS}/c0"))[0] == 404

    async def main():
        stores = EtcdStore(path=etcd), EtcdStore(path=etcd)
        async with (
            ApiServer(config, stores[0]) as first,
            ApiServer(config, stores[1]) as second,
        ):
            await asyncio.wait_for(scenario(first, second), 20)
        for store in stores:
            await store.close()

    asyncio.run(main())
