"""Cluster DNS: watches namespaces, Services and EndpointSlices, answers over UDP and TCP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from functools import partial
from typing import cast

from muntin.dns.answer import answer
from muntin.dns.config import DnsConfig
from muntin.dns.forward import forward
from muntin.dns.zone import ServiceKey, Zone
from muntin.kit import supervised
from muntin.kit.log import fields
from muntin.model.resources import NAMESPACES, known
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange

log = logging.getLogger(__name__)

SERVICE_LABEL = "kubernetes.io/service-name"
TCP_IDLE_S = 10.0
MAX_PENDING = 1000
"""UDP queries worked on at once; more are dropped, as a full socket buffer would."""


async def run(
    config: DnsConfig, client: KubeClient, *, udp: socket.socket, tcp: socket.socket
) -> None:
    """Serve on the bound sockets until cancelled; both are closed then."""
    server = DnsServer(config, client)
    await server.run(udp, tcp)


class DnsServer:
    """The zone and the informers that keep it current."""

    def __init__(self, config: DnsConfig, client: KubeClient) -> None:
        self._config = config
        self._zone = Zone(config.cluster_domain)
        self._services = Informer(client, known("v1", "Service"))
        self._slices = Informer(
            client,
            known("discovery.k8s.io/v1", "EndpointSlice"),
            indexers={"service": lambda piece: ["/".join(_service_of(piece))]},
        )
        self._namespaces = Informer(client, NAMESPACES)
        self._namespaces.add_handler(OnChange(lambda obj, _: self._update_namespace(obj)))
        self._services.add_handler(OnChange(lambda obj, _: self._update(_key(obj))))
        self._slices.add_handler(OnChange(lambda obj, _: self._update(_service_of(obj))))
        self.synced = asyncio.Event()

    async def run(self, udp: socket.socket, tcp: socket.socket) -> None:
        """Serve until cancelled."""
        async with supervised.Group() as group:
            informers = (self._namespaces, self._services, self._slices)
            for informer in informers:
                group.start("informer", informer.run)
            for informer in informers:
                await informer.synced.wait()
            self.synced.set()
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_datagram_endpoint(lambda: _Udp(self, group), sock=udp)
            server = await asyncio.start_server(self._serve_tcp, sock=tcp)
            log.info("answering", **fields(domain=self._config.cluster_domain))
            try:
                async with server:
                    await asyncio.Event().wait()
            finally:
                transport.close()

    def _update_namespace(self, namespace: Object) -> None:
        name = str(namespace["metadata"]["name"])
        self._zone.set_namespace(name, exists=self._namespaces.get(name) is not None)

    def _update(self, key: ServiceKey) -> None:
        name = "/".join(key)
        self._zone.update(key, self._services.get(name), self._slices.by_index("service", name))

    async def respond(self, packet: bytes, *, tcp: bool) -> bytes:
        """The answer to one packet; empty for none."""

        async def upstream(query: bytes) -> bytes | None:
            return await forward(self._config, query, tcp=tcp)

        try:
            return await answer(self._zone, self._config.ttl_s, packet, upstream, tcp=tcp)
        except Exception:  # one packet must never end the server
            log.exception("no answer to a packet", **fields(size_bytes=len(packet)))
            return b""

    async def _serve_tcp(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            while True:
                async with asyncio.timeout(TCP_IDLE_S):
                    size = int.from_bytes(await reader.readexactly(2))
                    packet = await reader.readexactly(size)
                reply = await self.respond(packet, tcp=True)
                if not reply:
                    break
                writer.write(len(reply).to_bytes(2) + reply)
                await writer.drain()
        writer.close()


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, server: DnsServer, group: supervised.Group) -> None:
        self._server = server
        self._group = group
        self._pending = 0
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)  # uvloop's is no subclass

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if self._pending < MAX_PENDING:
            self._pending += 1
            self._group.start_once("dns-answer", partial(self._answer, data, addr))

    async def _answer(self, data: bytes, addr: tuple[str, int]) -> None:
        try:
            reply = await self._server.respond(data, tcp=False)
            if reply and self._transport is not None:
                self._transport.sendto(reply, addr)
        finally:
            self._pending -= 1


def _key(obj: Object) -> ServiceKey:
    meta = obj["metadata"]
    return str(meta.get("namespace", "")), str(meta["name"])


def _service_of(piece: Object) -> ServiceKey:
    meta = piece["metadata"]
    return str(meta.get("namespace", "")), str((meta.get("labels") or {}).get(SERVICE_LABEL, ""))
