"""An API server of this process on TLS, certificates for it, and services that it may ask."""

import asyncio
import json
import socket
import ssl
from contextlib import asynccontextmanager

from apiserver_process import Authority

from muntin.apiserver.access_config import AccessConfig, RemoteConfig
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer, Listener, server_context
from muntin.kit.http.client import HttpClient
from muntin.kit.http.messages import Response
from muntin.kit.http.server import HttpServer
from muntin.kit.http.tls import client_context
from muntin.seams.store.memory import MemoryStore

WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


class Lab:
    """``await lab("GET", path, token=...)`` gives status and JSON."""

    def __init__(self, server, pki, port):
        self.server = server
        self.pki = pki
        self.port = port
        self._clients = {}

    def admin(self):
        return self.server.user("admin", "system:masters")

    def client(self, pair=""):
        if pair not in self._clients:
            read = (lambda end: (self.pki / f"{pair}.{end}").read_bytes()) if pair else None
            self._clients[pair] = HttpClient(
                tls=client_context(
                    ca=(self.pki / "ca.crt").read_bytes(),
                    certificate=read("crt") if read else b"",
                    key=read("key") if read else b"",
                )
            )
        return self._clients[pair]

    async def __call__(self, method, path, body=None, *, pair="", token="", headers=None):
        sent = {"content-type": "application/json", **(headers or {})}
        if token:
            sent["authorization"] = f"Bearer {token}"
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.client(pair).request(
            method, f"https://localhost:{self.port}{path}", headers=sent, body=data, timeout_s=10
        )
        return answer.status, json.loads(answer.body) if answer.body[:1] in b"{[" else answer.body

    async def whoami(self, **credentials):
        """Status, and the user if there is one."""
        code, found = await self("POST", WHOAMI, {}, **credentials)
        return code, found.get("status", {}).get("userInfo", found) if code < 400 else found

    async def make(self, path, body, method="POST"):
        """The object that the administrator's own step made."""
        answer = await self.admin().request(
            method, path, headers={"content-type": "application/json"},
            body=json.dumps(body).encode(),
        )  # fmt: skip
        found = json.loads(answer.body)
        assert answer.status < 300, found
        return found

    async def token(self, account="default", **spec):
        """A new token of a ServiceAccount of the namespace default."""
        found = await self.make(f"{ACCOUNTS}/{account}/token", {"spec": spec})
        return found["status"]["token"]

    async def close(self):
        for client in self._clients.values():
            await client.close()


def access(scenario, folder, *, version="1.34", clock=None, key=b"", **config):
    """Run ``scenario(lab)``; ``config`` are fields of AccessConfig, or make them of a folder."""
    pki = Authority(folder)
    pki.pair("server", "kube-apiserver", server=True)
    pki.key("service-account.key")
    config = {name: made(folder) if callable(made) else made for name, made in config.items()}
    cas = (folder / "ca.crt").read_text()
    if front := config.get("request_header"):
        cas += front.client_ca.decode()

    async def main():
        server_config = ApiServerConfig(
            kubernetes_version=version,
            service_account_key=key or (folder / "service-account.key").read_bytes(),
            advertise_address="192.0.2.1",
            access=AccessConfig(client_ca=(folder / "ca.crt").read_bytes(), **config),
        )
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        sock.setblocking(False)
        tls = server_context(
            certificate=str(folder / "server.crt"),
            key=str(folder / "server.key"),
            client_ca_pem=cas,
        )
        async with ApiServer(server_config, MemoryStore(), clock) as server:
            port = sock.getsockname()[1]
            await server.serve([Listener(sock, tls)])
            lab = Lab(server, folder, port)
            lab.authority = pki
            await lab.make(ACCOUNTS, {"metadata": {"name": "default"}})
            try:
                await asyncio.wait_for(scenario(lab), 20)
            finally:
                await lab.close()

    asyncio.run(main())


@asynccontextmanager
async def service(folder, answer, port=0):
    """A service over TLS; ``answer(path, body)`` gives its JSON. Yields its URL."""

    async def handle(request):
        body = json.loads(request.body) if request.body else None
        found = answer(request.path, body)
        code = found if isinstance(found, int) else 200
        data = b"" if isinstance(found, int) else json.dumps(found).encode()
        return Response(code, {"Content-Type": "application/json"}, data)

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "server.crt", folder / "server.key")
    server = HttpServer(handle)
    found = await server.listen_tcp("127.0.0.1", port, tls)
    try:
        yield f"https://localhost:{found}"
    finally:
        await server.close(0.1)


def remote(folder, port, **more):
    """How to reach a service of this machine that will listen on ``port``."""
    ca = (folder / "ca.crt").read_bytes()
    return RemoteConfig(url=f"https://localhost:{port}/ask", ca=ca, **more)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
