"""One run of random operations on a cluster that is up; the last line is what came of it, as JSON.

    random_run.py CLUSTER SEED SECONDS FOLDER ADDRESS...

Runs in the network of the control planes. When something did not hold, all that the watches told is
in FOLDER.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import time
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import random_objects as objects
from random_kills import Killer
from random_operations import CALM, WILD, Acknowledged, User
from random_record import Record, clients
from random_rest import help_on

from muntin.kit import errors
from muntin.model import resources as known
from workload_convergence import unfinished
from workload_invariants import Invariants, NeverFewer

USERS = 3
NODES = 6  # simulated ones, as the Cluster files of test_random_operations have it
KILL_EVERY_S, KILL_ALONE_EVERY_S = 4.0, 7.0
"""The second one where nobody serves until who was killed is back."""
SETTLE_S = 240.0
QUIET_S = 3.0
GUARDED, LEAST = 4, 3
ROLLED = {
    "replicas": 4,
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
}
ORDERED = {
    "replicas": 3,
    "podManagementPolicy": "OrderedReady",
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
}


class Run:
    """A run, from an empty cluster to a quiet one."""

    def __init__(self, cluster: str, seed: str, addresses: list[str]) -> None:
        self._seed = seed
        self._servers = clients(Path(f"/var/lib/muntin/{cluster}/pki"), addresses)
        self.record = Record(cluster, self._servers)
        self.done = Acknowledged()
        rng = Random(f"{seed} kills")
        several = len(addresses) > 1
        self._kill_every_s = KILL_EVERY_S if several else KILL_ALONE_EVERY_S
        self.killer = Killer(cluster, rng, self.record.now, stops=several)
        self._users = [
            User(number, Random(f"{seed} {number}"), self._servers, self.record, self.done)
            for number in range(USERS)
        ]
        self.unsettled: list[str] = []
        self.last: list[str] = []  # what was waited for at the end
        self.times: dict[str, float] = {}

    async def run(self, seconds: float) -> None:
        """Set up, let users and kills go on for ``seconds``, and come to rest."""
        began = time.monotonic()
        await self.record.start()
        await self._prepare()
        prepared = time.monotonic()
        tasks = [asyncio.create_task(user.run()) for user in self._users]
        tasks.append(asyncio.create_task(self.killer.run(self._kill_every_s)))
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(result, asyncio.CancelledError):
                self.done.wrong.append(f"run: {result!r}")
        over = time.monotonic()
        await self._settle()
        settled = time.monotonic()
        if not self.unsettled:
            await self._take_away()
        self.times = {
            "prepared": prepared - began,
            "random": over - prepared,
            "settled": settled - over,
            "taken away": time.monotonic() - settled,
        }
        await self.record.stop()

    async def _prepare(self) -> None:
        """The namespaces, the nodes that stay, and the workloads that nobody disturbs."""
        user, rng = self._users[0], Random(f"{self._seed} first")

        async def create(*args: Any) -> None:
            await user.surely(partial(user.create, *args))

        for name in (WILD, CALM):
            new = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await create(known.NAMESPACES, new)
        for node in (await self._nodes())[: NODES // 2]:
            labels = {"metadata": {"labels": {objects.KEPT: "true"}}}
            await user.surely(partial(user.patch, known.NODES, node, labels))
        stays = {"nodeSelector": {objects.KEPT: "true"}}
        for name, fixed in (("guarded", {"replicas": GUARDED}), ("rolled", ROLLED)):
            spec = {**fixed, "template": objects.template(name, "one", **stays)}
            await create(known.DEPLOYMENTS, objects.deployment(name, rng, **spec), CALM)
        ordered = {**ORDERED, "template": objects.template("ordered", "one", **stays)}
        made = objects.stateful_set("ordered", rng, **ordered)
        await create(known.STATEFUL_SETS, made, CALM)
        guard = objects.budget("guard", "guarded", minAvailable=LEAST)
        await create(known.POD_DISRUPTION_BUDGETS, guard, CALM)
        await create(known.CRON_JOBS, objects.cron_job("c0"), WILD)
        for name in ("d0", "d1", "s0"):
            await create(known.SERVICES, objects.service(name), WILD)

    async def _nodes(self) -> list[Any]:
        """The nodes by name, once all have registered: clusters are up before simulated ones."""
        end = time.monotonic() + SETTLE_S
        while True:
            nodes = list(self.record.now.all("nodes"))
            if len(nodes) >= NODES or time.monotonic() > end:
                return sorted(nodes, key=lambda row: str(row["metadata"]["name"]))
            await asyncio.sleep(0.05)

    async def _settle(self) -> None:
        """Help until nothing is left to do, and nobody does anything any more."""
        await self.killer.all_run()
        await self.killer.kubelets()
        user = self._users[0]
        end, newest, since = time.monotonic() + SETTLE_S, 0, time.monotonic()
        while time.monotonic() < end and not self.record.wrong:
            await help_on(user, self.record.now)
            self.unsettled = unfinished(self.record.now)
            self.last = self.unsettled[:3] or self.last
            if self.unsettled or self.record.newest() != newest:
                newest, since = self.record.newest(), time.monotonic()
            elif time.monotonic() - since > QUIET_S:
                return
            await asyncio.sleep(0.25)
        self.unsettled = self.unsettled or ["somebody goes on writing"]

    async def _take_away(self) -> None:
        """Delete the namespaces: nothing of them may be left."""
        user, now = self._users[0], self.record.now
        for namespace in now.all("namespaces"):
            if _is_ours(namespace["metadata"]["name"]):
                await user.surely(partial(user.delete, known.NAMESPACES, namespace))
        end = time.monotonic() + SETTLE_S
        while time.monotonic() < end and not self.record.wrong:
            left = [
                (plural, where, name)
                for plural, where, name in now.objects
                if _is_ours(name if plural == "namespaces" else where)
            ]
            self.unsettled = [f"{key} stays when its namespace goes" for key in left]
            if not left:
                return
            await asyncio.sleep(0.25)

    def found(self) -> dict[str, Any]:
        """What did not hold, and how much was looked at."""
        invariants = Invariants(
            [
                NeverFewer(CALM, "guarded", LEAST),
                NeverFewer(CALM, "rolled", 3),
                NeverFewer(CALM, "ordered", 2),
            ]
        )
        for event in self.record.events:
            invariants.see(event)
        wrong = [*self.done.wrong, *self.record.wrong, *self.record.differences()]
        wrong += [*invariants.wrong, *self._lost()]
        wrong += [f"not at rest: {text}" for text in self.unsettled]
        return {
            "seed": self._seed,
            "wrong": wrong,
            "operations": sum(self.done.operations.values()),
            "acknowledged": len(self.done.writes) + len(self.done.deletions),
            "refused": dict(self.done.refused),
            "ends": dict(self.killer.done),
            "revisions": self.record.revisions,
            "events": dict(invariants.seen),
            "watches": {"broken": self.record.broken, "stretches": len(self.record.stretches)},
            "last": self.last,
            "leaders": _leaders(self.record),
            "seconds": {name: round(value, 1) for name, value in self.times.items()},
        }

    def _lost(self) -> list[str]:
        """Writes and deletions that were acknowledged, and that the store does not know."""
        there = {(event.key, event.revision) for event in self.record.events}
        lost = [f"write of {key} at {rv}" for key, rv in self.done.writes if (key, rv) not in there]
        ended = {
            event.uid
            for event in self.record.events
            if event.type == "DELETED" or event.obj["metadata"].get("deletionTimestamp")
        }
        lost += [f"deletion of {key}" for key, uid in self.done.deletions if uid not in ended]
        return [f"acknowledged and lost: {row}" for row in lost]

    def keep(self, file: Path) -> None:
        """Write down all that was told."""
        with gzip.open(file, "wt") as out:
            for event in self.record.events:
                out.write(json.dumps([event.plural, event.type, event.obj]) + "\n")


def _is_ours(namespace: str) -> bool:
    return namespace in (WILD, CALM) or namespace.startswith("short-")


def _leaders(record: Record) -> int:
    """How often the controllers had another leader."""
    lease = record.now.objects.get(("leases", "kube-system", "kube-controller-manager"))
    return int((lease or {"spec": {}})["spec"].get("leaseTransitions") or 0)


async def main(cluster: str, seed: str, seconds: str, folder: str, *addresses: str) -> None:
    run = Run(cluster, seed, list(addresses))
    try:
        await run.run(float(seconds))
    except (errors.MuntinError, TimeoutError) as err:
        run.done.wrong.append(f"run: {err!r}")
    found = run.found()
    if found["wrong"]:
        run.keep(Path(folder) / f"watched-{seed}.jsonl.gz")
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
