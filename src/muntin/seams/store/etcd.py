"""The store on a real etcd, over its v3 gRPC API.

A watch follows all keys of etcd and drops what is not asked for: so every revision is seen, and
how far a watch has come is known by what has come. Asking etcd for progress is no substitute:
until 3.4.25 and 3.5.8 it may answer before events of earlier revisions.
"""

from __future__ import annotations

import asyncio
import ssl as ssl_module
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from grpclib.exceptions import GRPCError

from muntin.kit import errors
from muntin.seams.store import (
    Change,
    Changes,
    Durability,
    Page,
    Record,
    compacted,
    conflict,
    exists,
    not_found,
    prefix_end,
)
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd_connection import UNREACHABLE, Connect, Connection, NoAnswer
from muntin.seams.store.etcd_messages import create_revision_is, mod_revision_is
from muntin.seams.store.feed import Watch

Message = dict[str, Any]

RETRY_S = 0.1
OUTCOME_S = 3.0
"""How long to ask what became of a write that nobody answered."""


class EtcdStore:
    """One etcd, reached by any of ``endpoints``. All keys are under ``prefix``, which no key shows.

    ``connect`` makes the sockets, where this process does not stand in the members' network.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        *,
        prefix: str = "",
        ssl: ssl_module.SSLContext | None = None,
        connect: Connect | None = None,
    ) -> None:
        self._prefix = prefix
        self._connection = Connection(endpoints, ssl, connect)
        self._closed = False

    @classmethod
    async def open(
        cls,
        endpoints: Sequence[Endpoint],
        *,
        prefix: str = "",
        ssl: ssl_module.SSLContext | None = None,
        connect: Connect | None = None,
        wait_s: float = 0.0,
    ) -> EtcdStore:
        """The store, when etcd has answered; ``wait_s`` is how long it may take to start.

        Raises:
            Unavailable: it does not answer.
        """
        store = cls(endpoints, prefix=prefix, ssl=ssl, connect=connect)
        end = asyncio.get_running_loop().time() + wait_s
        while True:
            try:
                await store.current_revision()
            except errors.Unavailable:
                if asyncio.get_running_loop().time() > end:
                    await store.close()
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                return store

    def _key(self, key: str) -> bytes:
        return f"{self._prefix}{key}".encode()

    # -- reads -------------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> Record:
        answer = await self._call("Range", {"key": self._key(key), "revision": revision})
        if not answer.get("kvs"):
            raise not_found(key)
        return self._record(answer["kvs"][0])

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 0, revision: int = 0
    ) -> Page:
        request = {
            "key": self._key(max(prefix, after + "\0" if after else "")),
            "range_end": self._key(prefix_end(prefix)),
            "limit": limit,
            "revision": revision,
        }
        answer = await self._call("Range", request)
        records = [self._record(kv) for kv in answer.get("kvs", ())]
        at = revision or answer["header"]["revision"]
        return Page(at, records, more=answer.get("more", False))

    async def count(self, prefix: str) -> int:
        request = {"key": self._key(prefix), "range_end": self._key(prefix_end(prefix))}
        answer = await self._call("Range", {**request, "count_only": True})
        return int(answer.get("count", 0))

    async def current_revision(self) -> int:
        answer = await self._call("Range", {"key": b"\0", "count_only": True})
        return int(answer["header"]["revision"])

    async def _call(self, method: str, message: Message) -> Message:
        if self._closed:
            raise errors.Unavailable("store: closed")
        return await self._connection.call(method, message, again=method == "Range")

    # -- writes ------------------------------------------------------------------------------

    async def create(self, key: str, value: bytes) -> int:
        put = {"request_put": {"key": self._key(key), "value": value}}
        try:
            answer = await self._txn(key, create_revision_is(self._prefix + key, 0), put)
        except NoAnswer as err:
            return await self._outcome(key, value, err)
        if not answer.get("succeeded"):
            raise exists(key)
        return int(answer["header"]["revision"])

    async def update(self, key: str, value: bytes, expected: int) -> int:
        put = {"request_put": {"key": self._key(key), "value": value}}
        try:
            return await self._expecting(key, expected, put)
        except NoAnswer as err:
            return await self._outcome(key, value, err)

    async def delete(self, key: str, expected: int) -> int:
        delete = {"request_delete_range": {"key": self._key(key)}}
        return await self._expecting(key, expected, delete)

    async def _expecting(self, key: str, expected: int, change: Message) -> int:
        if not expected:  # to etcd, that is the revision of what is not there
            raise conflict(key, expected, (await self.get(key)).mod_revision)
        answer = await self._txn(key, mod_revision_is(self._prefix + key, expected), change)
        if answer.get("succeeded"):
            return int(answer["header"]["revision"])
        found = answer["responses"][0]["response_range"].get("kvs")
        if not found:
            raise not_found(key)
        raise conflict(key, expected, found[0]["mod_revision"])

    async def _outcome(self, key: str, value: bytes, failure: NoAnswer) -> int:
        """The revision of a write without an answer, if ``value`` is what is there now.

        Else ``failure`` is raised: whoever writes anew what has happened already does it twice.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + OUTCOME_S
        while True:
            try:
                found = await self.get(key)
            except errors.NotFound:
                raise failure from None
            except errors.Unavailable:
                if clock() > end:
                    raise failure from None
                await asyncio.sleep(RETRY_S)
                continue
            if found.value != value:
                raise failure
            return found.mod_revision

    async def _txn(self, key: str, compare: Message, success: Message) -> Message:
        otherwise = {"request_range": {"key": self._key(key), "keys_only": True}}
        request = {"compare": [compare], "success": [success], "failure": [otherwise]}
        return await self._call("Txn", request)

    async def clear(self) -> None:
        """Remove every key under the store's own prefix, which must not be empty."""
        assert self._prefix
        end = prefix_end(self._prefix).encode()
        await self._call("DeleteRange", {"key": self._prefix.encode(), "range_end": end})

    # -- watch -------------------------------------------------------------------------------

    def watch(self, prefix: str, after: int) -> Watch:
        return Watch(self._batches(prefix, after))

    async def _batches(self, prefix: str, after: int) -> AsyncGenerator[Changes, None]:
        create = {"key": b"\0", "range_end": b"\0", "start_revision": after + 1}
        if self._closed:
            raise errors.Unavailable("store: closed")
        opened = await self._connection.watch()
        member = str(self._connection)
        reported = after
        try:
            async with opened as stream:
                await stream.send_message({"create_request": create})
                try:
                    async for answer in stream:
                        changes = self._changes(answer, prefix, reported)
                        reported = changes.revision
                        yield changes
                finally:
                    await stream.cancel()
        except (GRPCError, *UNREACHABLE) as err:
            self._connection.give_up()
            raise self._connection.translated(err, member) from err
        self._connection.give_up()
        raise errors.Unavailable(f"{member} ended the watch")

    def _changes(self, answer: Message, prefix: str, reported: int) -> Changes:
        if answer.get("compact_revision"):
            raise compacted(reported, answer["compact_revision"])
        if answer.get("canceled"):
            self._connection.give_up()
            reason = answer.get("cancel_reason", "no reason given")
            raise errors.Unavailable(f"{self._connection} cancelled the watch: {reason}")
        events = answer.get("events", ())
        wanted = self._key(prefix)
        changes = tuple(
            self._change(event) for event in events if event["kv"]["key"].startswith(wanted)
        )
        # the header tells of the store, which may be ahead of this watch
        return Changes(events[-1]["kv"]["mod_revision"] if events else reported, changes)

    # -- upkeep ------------------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        await self._call("Compact", {"revision": revision})

    @property
    def durability(self) -> Durability:
        return Durability("etcd")

    async def close(self) -> None:
        self._closed = True
        await self._connection.close()

    def _record(self, kv: Message) -> Record:
        key = kv["key"].decode()[len(self._prefix) :]
        return Record(key, kv.get("value", b""), kv["create_revision"], kv["mod_revision"])

    def _change(self, event: Message) -> Change:
        kv = event["kv"]
        key = kv["key"].decode()[len(self._prefix) :]
        deleted = event.get("type", 0) == 1
        value = None if deleted else kv.get("value", b"")
        return Change(key, value, kv.get("create_revision", 0), kv["mod_revision"])
