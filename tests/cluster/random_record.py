"""What came to be in a run: by the log of the store, and by what API servers told of it.

The log is the truth. What lists and watches of any API server tell must be it, without a gap.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from random_store import Told, changes

from muntin.kit import errors
from muntin.model import resources as known
from muntin.model.resources import Resource
from muntin.seams.kube import ObjectList
from muntin.seams.kube.client import Client
from muntin.seams.kube.http import HttpTransport, ServerConfig
from watch_replay import Event, Key, Replay, key_of

WATCHED: tuple[Resource, ...] = (
    known.NAMESPACES,
    known.NODES,
    known.PODS,
    known.REPLICA_SETS,
    known.DEPLOYMENTS,
    known.STATEFUL_SETS,
    known.DAEMON_SETS,
    known.CONTROLLER_REVISIONS,
    known.JOBS,
    known.CRON_JOBS,
    known.POD_DISRUPTION_BUDGETS,
    known.SERVICES,
    known.ENDPOINT_SLICES,
    known.CONFIG_MAPS,
    known.LEASES,
)
QUIET_S = 15.0
"""A watch that tells nothing for so long is opened anew: its server may hang."""
REQUEST_S = 5.0
Version = tuple[Key, int]


def clients(pki: Path, addresses: Sequence[str]) -> list[Client]:
    """One of each API server, as admin."""
    return [
        Client(
            HttpTransport(
                ServerConfig(
                    server=f"https://{address}:6443",
                    ca=(pki / "ca.crt").read_bytes(),
                    certificate=(pki / "admin.crt").read_bytes(),
                    key=(pki / "admin.key").read_bytes(),
                ),
                timeout_s=REQUEST_S,
            )
        )
        for address in addresses
    ]


@dataclass(slots=True)
class Stretch:
    """What one client was told of a kind: a list, and what watches added to it without a gap."""

    plural: str
    revision: int
    listed: set[Version]
    told: list[tuple[str, Key, int]] = field(default_factory=list)
    until: int = 0


class Record:
    """The log of the store, what there is by it, and the stretches of every watched kind."""

    def __init__(self, cluster: str, servers: Sequence[Client]) -> None:
        self._cluster, self._servers = cluster, servers
        self._told = Told(WATCHED)
        self.events: list[Event] = []
        self.now = Replay()
        self.wrong: list[str] = []
        self.stretches: list[Stretch] = []
        self.broken = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._begun = asyncio.Event()

    @property
    def revisions(self) -> int:
        """How many were read, of whatever kind."""
        return self._told.revisions

    async def start(self) -> None:
        """Follow the store, and watch all kinds, each begun at another server."""
        self._run(self._follow())
        await self._begun.wait()
        for number, resource in enumerate(WATCHED):
            self._run(self._watch(resource, number))

    def _run(self, work: asyncio.Future[None]) -> None:
        task = asyncio.ensure_future(work)
        task.add_done_callback(self._ended)
        self._tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.wrong.append(f"record: {task.exception()!r}")
            self._begun.set()

    async def stop(self) -> None:
        """End all that follows and watches."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self) -> None:
        async for rows in changes(self._cluster):
            for row in rows:
                for event in self._told.events(row):
                    self.now.take(event)
                    self.events.append(event)
            self._begun.set()

    async def list(self, resource: Resource) -> ObjectList:
        """What there is of ``resource`` now, by whichever server answers."""
        for client in itertools.cycle(self._servers):
            try:
                return await client.list(resource)
            except errors.MuntinError:
                await asyncio.sleep(0.1)
        raise AssertionError

    async def _watch(self, resource: Resource, number: int) -> None:
        """Watch for ever, at another server each time a watch ends; list when none remembers."""
        stretch, forgotten = await self._stretch(resource), 0
        for turn in itertools.count(number):
            client = self._servers[turn % len(self._servers)]
            try:
                await self._hear(client, resource, stretch)
                forgotten = 0
            except errors.Gone:
                forgotten += 1
            except (errors.MuntinError, TimeoutError):
                await asyncio.sleep(0.1)
            self.broken += 1
            if forgotten > len(self._servers):
                stretch, forgotten = await self._stretch(resource), 0

    async def _stretch(self, resource: Resource) -> Stretch:
        found = await self.list(resource)
        listed = {
            (key_of(resource.plural, obj), int(obj["metadata"]["resourceVersion"]))
            for obj in found.items
        }
        begun = int(found.resource_version)
        self.stretches.append(Stretch(resource.plural, begun, listed, until=begun))
        return self.stretches[-1]

    async def _hear(self, client: Client, resource: Resource, stretch: Stretch) -> None:
        loop = asyncio.get_running_loop()
        watch = client.watch(resource, resource_version=str(stretch.until))
        try:
            async with asyncio.timeout(QUIET_S) as limit:
                async for event in watch:
                    limit.reschedule(loop.time() + QUIET_S)
                    stretch.until = int(event.object["metadata"]["resourceVersion"])
                    if event.type != "BOOKMARK":
                        key = key_of(resource.plural, event.object)
                        stretch.told.append((event.type, key, stretch.until))
        finally:
            await watch.aclose()

    def newest(self) -> int:
        """The last revision of anything but what only tells that somebody lives."""
        calm = (event.revision for event in reversed(self.events) if event.plural != "leases")
        return next(calm, 0)

    def differences(self) -> list[str]:
        """Where lists and watches told something else than what the log says."""
        return [text for stretch in self.stretches for text in self._of(stretch)]

    def _of(self, stretch: Stretch) -> list[str]:
        there: dict[Key, int] = {}
        told, until = [], min(stretch.until, self.now.revision)
        for event in self.events:
            if event.plural != stretch.plural:
                continue
            if stretch.revision < event.revision <= until:
                told.append((event.type, event.key, event.revision))
            if event.revision <= stretch.revision:
                there[event.key] = event.revision
                if event.type == "DELETED":
                    del there[event.key]
        wrong = []
        if set(there.items()) != stretch.listed:
            odd = sorted(set(there.items()) ^ stretch.listed)
            wrong.append(f"list of {stretch.plural} at {stretch.revision} differs: {odd[:5]}")
        heard = [row for row in stretch.told if row[2] <= until]
        if told != heard:
            odd = sorted(set(told) ^ set(heard), key=lambda row: row[2])
            wrong.append(f"watch of {stretch.plural} since {stretch.revision}: {odd[:5]}")
        return wrong
