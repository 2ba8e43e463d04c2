"""A process that writes at random into a store and says what it does, line by line, to be killed.

    store_worker.py SQLITE_FILE|ETCD_PORT:PKI SEED AFTER VALUE_BYTES

Lines are JSON: ["call", number, time, verb, key, value or null, expected revision],
["end", number, time, outcome, result],
["seen", watch, revision, [[key, value, created, revision], ...]].
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from pathlib import Path

from muntin.kit import errors
from muntin.seams.store import RevisionConflict, Store

KEYS = ("/k/a", "/k/b", "/k/ba", "/k/c")
WATCHES = ("/k/", "/k/b")
CLIENTS = 4


async def opened(place: str) -> Store:
    port, colon, pki = place.partition(":")
    if not colon:
        from muntin.seams.store.sqlite import SqliteStore

        return await SqliteStore.open(Path(place))
    from muntin.kit.http.tls import client_context
    from muntin.seams.store.endpoints import Endpoint
    from muntin.seams.store.etcd import EtcdStore

    pair = [(Path(pki) / f"apiserver-etcd-client.{end}").read_bytes() for end in ("crt", "key")]
    ca = (Path(pki) / "etcd-ca.crt").read_bytes()
    tls = client_context(ca=ca, certificate=pair[0], key=pair[1])
    tls.set_alpn_protocols(["h2"])
    return await EtcdStore.open([Endpoint("127.0.0.1", int(port))], ssl=tls, wait_s=60)


class Worker:
    def __init__(self, store: Store, seed: str, size: int) -> None:
        self._store, self._seed, self._size = store, seed, size
        self._calls = 0

    def say(self, *row: object) -> None:
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()

    async def follow(self, prefix: str, after: int) -> None:
        while True:
            try:
                async for batch in self._store.watch(prefix, after):
                    after = batch.revision
                    rows = [(c.key, _text(c.value), c.create_revision, c.revision)
                            for c in batch.changes]  # fmt: skip
                    self.say("seen", prefix, batch.revision, rows)
            except errors.Unavailable:
                await asyncio.sleep(0.05)

    async def client(self, number: int) -> None:
        chance = random.Random(f"{self._seed}.{number}")
        known = dict.fromkeys(KEYS, 0)
        while True:
            key = chance.choice(KEYS)
            verb = chance.choice(("create", "update", "update", "delete", "get", "list"))
            await self._one(chance, verb, key, known)

    async def _one(self, chance: random.Random, verb: str, key: str, known: dict[str, int]) -> None:
        self._calls += 1
        number = f"{self._seed}.{self._calls}"
        writes = verb in ("create", "update")
        value = number.ljust(self._size, "-") if writes else None
        expected = known[key] if verb in ("update", "delete") else 0
        self.say("call", number, time.monotonic(), verb, key, number if writes else None, expected)
        outcome, result = await self._outcome(verb, key, value, expected)
        self.say("end", number, time.monotonic(), outcome, result)
        if outcome == "ok" and verb == "list":
            known.update({row[0]: row[2] for row in result["rows"]})
        elif outcome == "ok":
            known[key] = result["revision"]
        elif outcome == "unavailable":
            await asyncio.sleep(0.05 * chance.random())
        await asyncio.sleep(0.002 * chance.random())

    async def _outcome(
        self, verb: str, key: str, value: str | None, expected: int
    ) -> tuple[str, dict]:
        store = self._store
        try:
            if verb == "get":
                found = await store.get(key)
                return "ok", {"value": _text(found.value), "revision": found.mod_revision}
            if verb == "list":
                page = await store.list("/k/")
                rows = [(r.key, _text(r.value), r.mod_revision) for r in page.records]
                return "ok", {"revision": page.revision, "rows": rows}
            if verb == "create":
                return "ok", {"revision": await store.create(key, value.encode())}
            if verb == "update":
                return "ok", {"revision": await store.update(key, value.encode(), expected)}
            return "ok", {"revision": await store.delete(key, expected)}
        except RevisionConflict:
            return "conflict", {}
        except errors.AlreadyExists:
            return "exists", {}
        except errors.NotFound:
            return "missing", {}
        except errors.Unavailable as err:
            return "unavailable", {"message": str(err)}


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode().rstrip("-")


async def main(place: str, seed: str, after: str, size: str) -> None:
    store = await opened(place)
    worker = Worker(store, seed, int(size))
    worker.say("ready")
    async with asyncio.TaskGroup() as group:
        for number, prefix in enumerate(WATCHES):
            group.create_task(worker.follow(prefix, json.loads(after)[number]))
        for number in range(CLIENTS):
            group.create_task(worker.client(number))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
