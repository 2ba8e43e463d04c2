"""Of several control planes, who does what only one may do."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from muntin.cluster import locks
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.seats import Seat
from muntin.kit.errors import Conflict
from muntin.seams.kube.client import Client
from muntin.seams.kube.leases import LeaderElection

_POLL_S = 0.25


async def run(
    config: ClusterConfig,
    seat: Seat,
    name: str,
    client: Client,
    work: Callable[[], Awaitable[None]],
) -> None:
    """Run ``work``, of several by the leader that the Lease ``name`` names."""
    if config.election is None:
        await work()
        return
    identity = f"{socket.gethostname()}-{seat.name}_{uuid.uuid4()}"
    await LeaderElection(client, name, identity, config.election).lead(work)


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
