"""Of several control planes, who does what only one may do."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from muntin.cluster import locks
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.seats import Seat
from muntin.kit.errors import Conflict, Unavailable
from muntin.seams.kube import Response, StreamResponse, Transport
from muntin.seams.kube.client import Client
from muntin.seams.kube.leases import LeaderElection

_POLL_S = 0.25
MayWrite = Callable[[], bool]


async def run(
    config: ClusterConfig,
    seat: Seat,
    name: str,
    client: Client,
    work: Callable[[MayWrite], Awaitable[None]],
) -> None:
    """Run ``work``, of several by the leader that the Lease ``name`` names.

    It is given what says whether it may write now: not when it was stopped for so long that another
    one may be at work.
    """
    if config.election is None:
        await work(lambda: True)
        return
    identity = f"{socket.gethostname()}-{seat.name}_{uuid.uuid4()}"
    election = LeaderElection(client, name, identity, config.election)
    await election.lead(lambda: work(lambda: election.may_act))


class Leading:
    """``transport`` for who leads: its writes are refused from when another may have begun."""

    def __init__(self, transport: Transport, may_write: MayWrite) -> None:
        self._transport, self._may_write = transport, may_write

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> Response:
        """One request, its whole answer."""
        if method != "GET" and not self._may_write():
            raise Unavailable(f"{method} {path}: this one leads no longer")
        return await self._transport.request(method, path, headers=headers, body=body)

    def stream(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> AbstractAsyncContextManager[StreamResponse]:
        """One request whose answer is read as it comes."""
        return self._transport.stream(method, path, headers=headers, body=body)

    async def close(self) -> None:
        """Drop all connections."""
        await self._transport.close()


@asynccontextmanager
async def only_one(config: ClusterConfig, paths: ClusterPaths) -> AsyncIterator[None]:
    """A block that one process of this machine is in at a time; another follows in a moment.

    What keeps the network of this machine right cannot wait until a Lease has run out, and need
    not: the kernel knows who has ended.
    """
    if config.control_planes == 1:
        yield
        return
    while True:
        try:
            lock = locks.hold(paths.run / "fabric.lock")
        except Conflict:
            await asyncio.sleep(_POLL_S)
        else:
            break
    try:
        yield
    finally:
        os.close(lock)
