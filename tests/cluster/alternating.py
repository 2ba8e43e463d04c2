"""Writes that alternate between API servers, and watches that go on when one of them is killed.

    alternating.py PKI NAMESPACE ADDRESS ADDRESS

Runs in the network of the control planes until its input ends, and says each acknowledged write on
a line; the last line is what it saw, as JSON.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from pathlib import Path

from muntin.kit import errors
from muntin.model.resources import CONFIG_MAPS
from muntin.seams.kube.client import Client
from muntin.seams.kube.http import HttpTransport, ServerConfig

KEYS = 5
ROOT_CA = "kube-root-ca.crt"  # a controller puts it into every namespace


class Alternating:
    def __init__(self, pki: Path, namespace: str, addresses: list[str]) -> None:
        self._namespace = namespace
        self._clients = [
            Client(
                HttpTransport(
                    ServerConfig(
                        server=f"https://{address}:6443",
                        ca=(pki / "ca.crt").read_bytes(),
                        certificate=(pki / "admin.crt").read_bytes(),
                        key=(pki / "admin.key").read_bytes(),
                    )
                )
            )
            for address in addresses
        ]
        self.written: list[tuple[str, str, int]] = []
        self.watched: list[list[tuple[str, str, int]]] = [[] for _ in addresses]
        self.more = asyncio.Event()  # of what is watched
        self.stale: list[str] = []
        self.switched = 0
        self.over = False

    async def write(self, number: int) -> None:
        """Change one object until it is over, each time at the next server; read it at another."""
        name = f"map-{number}"
        for turn in itertools.count(number):
            if self.over:
                return
            client = self._clients[turn % len(self._clients)]
            other = self._clients[(turn + 1) % len(self._clients)]
            try:
                revision = await self._put(client, name, str(turn))
                self.written.append((name, str(turn), revision))
                print("written", flush=True)
                found = await other.get(CONFIG_MAPS, name, self._namespace)
                if int(found["metadata"]["resourceVersion"]) < revision:
                    self.stale.append(f"{name} at {revision}: {found}")
            except errors.MuntinError:
                await asyncio.sleep(0.05)

    async def _put(self, client: Client, name: str, value: str) -> int:
        meta = {"name": name, "namespace": self._namespace}
        new = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"n": value}}
        try:
            found = await client.get(CONFIG_MAPS, name, self._namespace)
        except errors.NotFound:
            done = await client.create(CONFIG_MAPS, new, self._namespace)
        else:
            done = await client.update(CONFIG_MAPS, {**found, "data": {"n": value}})
        return int(done["metadata"]["resourceVersion"])

    async def watch(self, number: int, since: str) -> None:
        """Watch at one server; when the watch breaks, go on at the next from where it was."""
        seen = self.watched[number]
        for turn in itertools.count(number):
            client = self._clients[turn % len(self._clients)]
            try:
                async for event in client.watch(
                    CONFIG_MAPS, self._namespace, resource_version=since
                ):
                    since = event.object["metadata"]["resourceVersion"]
                    name = event.object["metadata"].get("name")
                    if event.type != "BOOKMARK" and name != ROOT_CA:
                        seen.append((name, event.object["data"]["n"], int(since)))
                        self.more.set()
            except errors.MuntinError:
                await asyncio.sleep(0.05)
            self.switched += 1

    async def newest(self) -> tuple[str, list[tuple[str, str, int]]]:
        """What is there now, by whichever server answers."""
        for client in itertools.cycle(self._clients):
            try:
                found = await client.list(CONFIG_MAPS, self._namespace)
            except errors.MuntinError:
                await asyncio.sleep(0.05)
                continue
            return found.resource_version, sorted(
                (row["metadata"]["name"], row["data"]["n"], int(row["metadata"]["resourceVersion"]))
                for row in found.items
                if row["metadata"]["name"] != ROOT_CA
            )
        raise AssertionError


async def main(pki: str, namespace: str, *addresses: str) -> None:
    work = Alternating(Path(pki), namespace, list(addresses))
    since, _ = await work.newest()
    watching = [
        asyncio.ensure_future(work.watch(number, since)) for number in range(len(addresses))
    ]
    writing = [asyncio.ensure_future(work.write(number)) for number in range(KEYS)]
    await asyncio.to_thread(sys.stdin.read)
    work.over = True  # a write that is cut off might come after what is there was asked for
    await asyncio.gather(*writing)
    _, there = await work.newest()
    newest = max(revision for _, _, revision in there)
    async with asyncio.timeout(60):
        while any(not seen or seen[-1][2] < newest for seen in work.watched):
            work.more.clear()
            await work.more.wait()
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    found = {"written": work.written, "watched": work.watched, "there": there,
             "stale": work.stale, "switched": work.switched}  # fmt: skip
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
