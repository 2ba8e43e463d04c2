"""NodePorts for the user's own shell: ``curl 127.0.0.1:NODEPORT`` on the host.

A listener on the host's loopback hands each connection to a node's port from the master's side of
the network. Nothing of the host is opened to the cluster. TCP only.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import socket
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from muntin.cluster.config import ClusterConfig
from muntin.kit import netns, supervised
from muntin.kit.log import fields
from muntin.model.nodes import internal_addresses, os_of
from muntin.model.pods import is_ready
from muntin.model.resources import NODES, SERVICES
from muntin.model.simulated import REAL
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.events import WARNING, EventRecorder
from muntin.seams.kube.informer import Informer, OnChange
from muntin.seams.kube.workqueue import WorkQueue

log = logging.getLogger(__name__)
HOST = "127.0.0.1"
# A node that drops the packets (its policy is Local, its pods are elsewhere) must not hold up the
# rest: all are tried for a moment before any is given time.
_CONNECT_ROUNDS_S = (0.2, 2.0)
_RETRY_BIND_S, _READ_BYTES = 2.0, 64 * 1024
_EVERYTHING = "ports"


def node_ports(services: Iterable[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    """The TCP node ports of ``services``, each with its Service. Pure."""
    return {
        port["nodePort"]: service
        for service in services
        for port in service["spec"].get("ports") or ()
        if port.get("nodePort") and port.get("protocol", "TCP") == "TCP"
    }


def ready_addresses(nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """Internal addresses of the nodes that are Ready, Linux ones first. Pure."""
    ready = [node for node in nodes if is_ready(node)]
    ready.sort(key=os_of)
    return [str(address) for node in ready for address in internal_addresses(node)]


class Publisher:
    """Follows ``services`` and ``nodes``; ``host`` names the namespace of the user's shell."""

    def __init__(self, config: ClusterConfig, client: KubeClient, host: str) -> None:
        self._host = host
        self.services = Informer(client, SERVICES)
        self.nodes = Informer(client, NODES, label_selector=REAL)
        self._events = EventRecorder(client, "muntin")
        self._servers: dict[int, asyncio.Server] = {}
        self._refused: set[int] = set()
        self._queue: WorkQueue[str] = WorkQueue()
        self._turn = itertools.count()
        self.services.add_handler(OnChange(self._changed))

    async def run(self) -> None:
        """Publish until cancelled."""
        try:
            async with supervised.Group() as group:
                group.start("publisher-services", self.services.run)
                group.start("publisher-nodes", self.nodes.run)
                group.start("events", self._events.run)
                group.start("publisher-sync", partial(self._queue.run, self._sync))
        finally:
            for server in self._servers.values():
                server.close()

    def _changed(self, new: Object, old: Object | None) -> None:
        self._queue.add(_EVERYTHING)

    async def _sync(self, key: str) -> None:
        wanted = node_ports(self.services)
        for port in self._servers.keys() - wanted.keys():
            self._servers.pop(port).close()
            log.info("node port withdrawn", **fields(port=port))
        self._refused &= wanted.keys()
        for port in wanted.keys() - self._servers.keys():
            try:
                self._servers[port] = await self._listen(port)
                self._refused.discard(port)
                log.info("node port published", **fields(port=port))
            except OSError as err:
                self._refuse(port, wanted[port], err)
                self._queue.add_after(_EVERYTHING, _RETRY_BIND_S)

    def _refuse(self, port: int, service: Mapping[str, Any], err: OSError) -> None:
        """Say once that the host keeps ``port`` for itself; it is tried again and again."""
        if port in self._refused:
            return
        self._refused.add(port)
        where, reason = f"{HOST}:{port}", os.strerror(err.errno or 0)
        name = "{namespace}/{name}".format_map(service["metadata"])
        log.warning(
            "node port not published: the host uses it",
            **fields(address=where, service=name, error=reason),
        )
        text = f"{where} of the host cannot be used: {reason}"
        self._events.event(dict(service), WARNING, "NodePortNotPublished", text)

    async def _listen(self, port: int) -> asyncio.Server:
        listener = netns.socket_in(self._host)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, port))
            listener.listen(128)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(port, reader, writer)

        return await asyncio.start_server(serve, sock=listener)

    async def _serve(
        self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            far = await self._connect(port)
            if far is None:
                writer.transport.abort()
                return
            with contextlib.closing(far[1]):
                async with asyncio.TaskGroup() as group:
                    group.create_task(_copy(reader, far[1]))
                    group.create_task(_copy(far[0], writer))
        finally:
            writer.close()

    async def _connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        addresses = ready_addresses(self.nodes)
        start = next(self._turn)
        for limit_s in _CONNECT_ROUNDS_S:
            for index in range(len(addresses)):
                address = addresses[(start + index) % len(addresses)]
                try:
                    async with asyncio.timeout(limit_s):
                        return await asyncio.open_connection(address, port)
                except (OSError, TimeoutError) as err:
                    log.debug("node port refused", **fields(node=address, port=port, error=err))
        return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes until the sender ends, then end the receiver's direction alone."""
    try:
        while data := await reader.read(_READ_BYTES):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.transport.abort()
