"""The DNS server on loopback: real packets over UDP and TCP, changes shown at once, upstreams."""

import asyncio
import contextlib
import socket

import pytest
from dnslib import RR, DNSRecord

from muntin.dns.config import DnsConfig
from muntin.dns.forward import forward
from muntin.dns.loop import DnsServer
from muntin.seams.kube import ObjectList, WatchEvent


class Client:
    """A KubeClient of three lists and the events that a test sends."""

    def __init__(self):
        self.events = {kind: asyncio.Queue() for kind in ("Namespace", "Service", "EndpointSlice")}
        self.version = 1

    async def list(self, resource, namespace=None, **_):
        return ObjectList("1", [])

    async def watch(self, resource, namespace=None, **_):
        while True:
            yield await self.events[resource.kind].get()

    def send(self, kind, event, name, **fields):
        self.version += 1
        meta = {"name": name, "namespace": "default", "uid": name, **fields.pop("meta", {})}
        meta["resourceVersion"] = str(self.version)
        self.events[kind].put_nowait(WatchEvent(event, {"metadata": meta, **fields}))


def sockets():
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(tcp.getsockname())
    for sock in (udp, tcp):
        sock.setblocking(False)
    return udp, tcp, tcp.getsockname()[1]


@contextlib.asynccontextmanager
async def serving(client, **config):
    udp, tcp, port = sockets()
    server = DnsServer(DnsConfig(**config), client)
    task = asyncio.create_task(server.run(udp, tcp))
    try:
        await server.synced.wait()
        await asyncio.sleep(0)
        yield DnsConfig(upstreams=(f"127.0.0.1#{port}",), upstream_timeout_s=15)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def ask(where, name, kind="A", *, tcp=False):
    raw = await forward(where, DNSRecord.question(name, kind).pack(), tcp=tcp)
    return DNSRecord.parse(raw) if raw is not None else None


async def until(where, name, wanted):
    async with asyncio.timeout(30):
        while True:
            reply = await ask(where, name)
            if [str(record.rdata) for record in reply.rr] == wanted:
                return
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("tcp", [False, True])
def test_services_come_and_go(tcp):
    async def scenario():
        client = Client()
        async with serving(client) as where:
            name = "web.default.svc.cluster.local"
            assert (await ask(where, name, tcp=tcp)).header.rcode == 3
            client.send("Service", "ADDED", "web", spec={"clusterIP": "10.96.0.20"})
            await until(where, name, ["10.96.0.20"])
            client.send("Service", "MODIFIED", "web", spec={"clusterIP": "None"})
            client.send(
                "EndpointSlice",
                "ADDED",
                "web-x",
                meta={"labels": {"kubernetes.io/service-name": "web"}},
                endpoints=[{"addresses": ["10.244.1.3"], "conditions": {"ready": True}}],
            )
            await until(where, name, ["10.244.1.3"])
            client.send("Service", "DELETED", "web", spec={})
            await until(where, name, [])

    asyncio.run(scenario())


def test_pods_have_names_where_their_namespace_exists():
    async def scenario():
        client = Client()
        async with serving(client) as where:
            name = "10-244-0-32.quiet.pod.cluster.local"
            assert (await ask(where, name)).header.rcode == 3
            client.send("Namespace", "ADDED", "quiet", meta={"namespace": None})
            await until(where, name, ["10.244.0.32"])
            client.send("Namespace", "DELETED", "quiet", meta={"namespace": None})
            await until(where, name, [])

    asyncio.run(scenario())


def test_other_names_go_upstream():
    class Upstream(asyncio.DatagramProtocol):
        def connection_made(self, transport):
            self.transport = transport

        def datagram_received(self, data, addr):
            reply = DNSRecord.parse(data).reply()
            reply.add_answer(*RR.fromZone("example.org 60 A 192.0.2.80"))
            self.transport.sendto(reply.pack(), addr)

    async def scenario():
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(Upstream, local_addr=("127.0.0.1", 0))
        port = transport.get_extra_info("sockname")[1]
        dead = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        dead.bind(("127.0.0.1", 0))
        upstreams = (f"127.0.0.1#{dead.getsockname()[1]}", f"127.0.0.1#{port}")
        async with serving(Client(), upstreams=upstreams, upstream_timeout_s=1.0) as where:
            reply = await ask(where, "example.org")
            assert [str(record.rdata) for record in reply.rr] == ["192.0.2.80"]
        async with serving(Client(), upstreams=upstreams[:1], upstream_timeout_s=0.1) as where:
            assert (await ask(where, "example.org")).header.rcode == 2
        dead.close()
        transport.close()

    asyncio.run(scenario())


def test_rubbish_leaves_the_server_alive():
    async def scenario():
        async with serving(Client()) as where:
            port = int(where.upstreams[0].partition("#")[2])
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                for packet in (b"", b"x", b"\xff" * 600, bytes(12)):
                    sock.sendto(packet, ("127.0.0.1", port))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"\x00\x03abc")
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()
            assert (await ask(where, "x.cluster.local")).header.rcode == 3

    asyncio.run(scenario())


def test_a_failure_of_one_answer_leaves_the_server_alive(monkeypatch):
    async def broken(*_, **__):
        raise RuntimeError("unforeseen")

    async def scenario():
        async with serving(Client()) as where:
            monkeypatch.setattr("muntin.dns.loop.answer", broken)
            port = int(where.upstreams[0].partition("#")[2])
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                sock.sendto(DNSRecord.question("x.cluster.local").pack(), ("127.0.0.1", port))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"\x00\x03abc")
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()
            monkeypatch.undo()
            assert (await ask(where, "x.cluster.local")).header.rcode == 3

    asyncio.run(scenario())
