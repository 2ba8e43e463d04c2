"""The API server of this process on a memory store, asked in JSON."""

import asyncio
import json
from contextlib import asynccontextmanager

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.seams.store.memory import MemoryStore

JSON = {"content-type": "application/json"}
MERGE = {"content-type": "application/merge-patch+json"}
KEY = ec.generate_private_key(ec.SECP256R1()).private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption(),
)
PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
SERVICES = "/api/v1/namespaces/default/services"


class Api:
    """JSON in and out, as one user."""

    def __init__(self, transport):
        self.transport = transport

    async def __call__(self, method, path, body=None, *, headers=JSON, code=None):
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.transport.request(method, path, headers=headers, body=data)
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        found = json.loads(answer.body) if is_json else answer.body.decode()
        assert answer.status == (code or answer.status), found
        if code is None:
            assert answer.status < 400, found
        self.headers = answer.headers
        return found

    @asynccontextmanager
    async def watch(self, path):
        async with self.transport.stream("GET", path, headers={}) as answer:
            assert answer.status == 200
            yield Events(answer.chunks)


class Events:
    def __init__(self, chunks):
        self._chunks = chunks
        self._lines = []

    async def next(self):
        while not self._lines:
            chunk = await asyncio.wait_for(anext(self._chunks), 5)
            self._lines += [json.loads(line) for line in chunk.splitlines()]
        return self._lines.pop(0)

    async def short(self):
        event = await self.next()
        return event["type"], event["object"]["metadata"].get("name", "")

    async def silent(self):
        if self._lines:
            return False
        try:
            await asyncio.wait_for(anext(self._chunks), 0.05)
        except TimeoutError:
            return True
        return False


def run(scenario, *, store=None, clock=None, version="1.34", **settings):
    """Run ``scenario(server, api)`` on a server; ``settings`` are more of its configuration's."""

    async def main():
        config = ApiServerConfig(
            kubernetes_version=version,
            service_account_key=KEY,
            advertise_address="192.0.2.1",
            **{"dials_any": True, **settings},
        )
        found = store or MemoryStore()
        async with ApiServer(config, found, clock) as server:
            api = Api(server.user("admin", "system:masters"))
            accounts = "/api/v1/namespaces/default/serviceaccounts"
            await api("POST", accounts, {"metadata": {"name": "default"}})
            await asyncio.wait_for(scenario(server, api), 20)

    asyncio.run(main())


def config_map(name, **labels):
    return {"metadata": {"name": name, "labels": labels}, "data": {"a": "b"}}


def pod(name="one", **spec):
    spec.setdefault("containers", [{"name": "main", "image": "busybox"}])
    return {"metadata": {"name": name}, "spec": spec}
