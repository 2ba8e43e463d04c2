"""The store on a real etcd, over its v3 gRPC API."""

from __future__ import annotations

import asyncio
import contextlib
import ssl as ssl_module
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from grpclib.client import Channel, Stream, StreamStreamMethod, UnaryUnaryMethod
from grpclib.const import Status
from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError

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
from muntin.seams.store.etcd_messages import EtcdCodec, create_revision_is, mod_revision_is

Message = dict[str, Any]

NUDGE_S = 0.05
_UNREACHABLE = (OSError, StreamTerminatedError, asyncio.IncompleteReadError)


@dataclass(slots=True, eq=False)
class _Watch:
    """An open watch: the revision it has ``reported``, and the one it was ``asked`` to."""

    stream: Stream[Message, Message]
    reported: int
    asked: int = 0


class EtcdStore:
    """One etcd endpoint: ``EtcdStore(host, port)``, or a Unix socket by ``path``."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 2379,
        *,
        path: str | None = None,
        ssl: ssl_module.SSLContext | None = None,
    ) -> None:
        self._name = path or f"{host}:{port}"
        if path is None:
            self._channel = Channel(host, port, ssl=ssl, codec=EtcdCodec())
        else:
            self._channel = Channel(path=path, ssl=ssl, codec=EtcdCodec())
        self._watches: set[_Watch] = set()
        self._wanted = 0
        self._nudges: set[asyncio.Task[None]] = set()

    async def _call(self, service: str, method: str, message: Message) -> Message:
        name = "Compaction" if method == "Compact" else method
        # The codec takes names of tables where grpclib's types speak of message classes.
        kinds: tuple[Any, Any] = (f"{name}Request", f"{name}Response")
        path = f"/etcdserverpb.{service}/{method}"
        call: UnaryUnaryMethod[Message, Message] = UnaryUnaryMethod(self._channel, path, *kinds)
        try:
            return await call(message)
        except GRPCError as err:
            raise self._translated(err) from err
        except _UNREACHABLE as err:
            raise errors.Unavailable(f"store: etcd at {self._name}: {err}") from err

    def _translated(self, err: GRPCError) -> errors.MuntinError:
        if err.status is Status.OUT_OF_RANGE:
            return errors.Gone(f"store: {err.message}")
        return errors.Unavailable(f"store: etcd at {self._name}: {err.message}")

    # -- reads -------------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> Record:
        answer = await self._call("KV", "Range", {"key": key.encode(), "revision": revision})
        if not answer.get("kvs"):
            raise not_found(key)
        return _record(answer["kvs"][0])

    async def list(
        self, prefix: str, *, after: str = "", limit: int = 0, revision: int = 0
    ) -> Page:
        request = {
            "key": max(prefix, after + "\0" if after else "").encode(),
            "range_end": prefix_end(prefix).encode(),
            "limit": limit,
            "revision": revision,
        }
        answer = await self._call("KV", "Range", request)
        records = [_record(kv) for kv in answer.get("kvs", ())]
        at = revision or answer["header"]["revision"]
        return Page(at, records, more=answer.get("more", False))

    async def count(self, prefix: str) -> int:
        request = {"key": prefix.encode(), "range_end": prefix_end(prefix).encode()}
        answer = await self._call("KV", "Range", {**request, "count_only": True})
        return int(answer.get("count", 0))

    async def current_revision(self) -> int:
        answer = await self._call("KV", "Range", {"key": b"\0", "count_only": True})
        revision = int(answer["header"]["revision"])
        self._wanted = max(self._wanted, revision)
        if self._behind(revision) and not self._nudges:
            task = asyncio.create_task(self._nudge())
            self._nudges.add(task)
            task.add_done_callback(self._nudges.discard)
        return revision

    def _behind(self, revision: int) -> tuple[_Watch, ...]:
        return tuple(watch for watch in self._watches if watch.reported < revision)

    async def _nudge(self) -> None:
        """Have watches report a revision that no change of theirs brings them to.

        Only after a while: until 3.4.25 etcd may answer before the events that came earlier.
        """
        while self._behind(self._wanted):
            revision = self._wanted
            await asyncio.sleep(NUDGE_S)
            for watch in self._behind(revision):
                watch.asked = revision
                with contextlib.suppress(GRPCError, ProtocolError, *_UNREACHABLE):
                    await watch.stream.send_message({"progress_request": {}})

    # -- writes ------------------------------------------------------------------------------

    async def create(self, key: str, value: bytes) -> int:
        put = {"request_put": {"key": key.encode(), "value": value}}
        answer = await self._txn(key, create_revision_is(key, 0), put)
        if not answer.get("succeeded"):
            raise exists(key)
        return int(answer["header"]["revision"])

    async def update(self, key: str, value: bytes, expected: int) -> int:
        put = {"request_put": {"key": key.encode(), "value": value}}
        return await self._expecting(key, expected, put)

    async def delete(self, key: str, expected: int) -> int:
        delete = {"request_delete_range": {"key": key.encode()}}
        return await self._expecting(key, expected, delete)

    async def _expecting(self, key: str, expected: int, change: Message) -> int:
        answer = await self._txn(key, mod_revision_is(key, expected), change)
        if answer.get("succeeded"):
            return int(answer["header"]["revision"])
        found = answer["responses"][0]["response_range"].get("kvs")
        if not found:
            raise not_found(key)
        raise conflict(key, expected, found[0]["mod_revision"])

    async def _txn(self, key: str, compare: Message, success: Message) -> Message:
        otherwise = {"request_range": {"key": key.encode(), "keys_only": True}}
        request = {"compare": [compare], "success": [success], "failure": [otherwise]}
        return await self._call("KV", "Txn", request)

    # -- watch -------------------------------------------------------------------------------

    async def watch(self, prefix: str, after: int) -> AsyncIterator[Changes]:
        kinds: tuple[Any, Any] = ("WatchRequest", "WatchResponse")
        method: StreamStreamMethod[Message, Message] = StreamStreamMethod(
            self._channel, "/etcdserverpb.Watch/Watch", *kinds
        )
        create = {
            "key": prefix.encode(),
            "range_end": prefix_end(prefix).encode(),
            "start_revision": after + 1,
        }
        try:
            async with method.open() as stream:
                await stream.send_message({"create_request": create})
                watch = _Watch(stream, after)
                self._watches.add(watch)
                try:
                    async for answer in stream:
                        changes = self._changes(answer, watch)
                        watch.reported = changes.revision
                        yield changes
                finally:
                    self._watches.discard(watch)
                    await stream.cancel()
        except GRPCError as err:
            raise self._translated(err) from err
        except _UNREACHABLE as err:
            raise errors.Unavailable(f"store: etcd at {self._name}: {err}") from err
        raise errors.Unavailable(f"store: etcd at {self._name} ended the watch")

    def _changes(self, answer: Message, watch: _Watch) -> Changes:
        if answer.get("compact_revision"):
            raise compacted(watch.reported, answer["compact_revision"])
        if answer.get("canceled"):
            reason = answer.get("cancel_reason", "no reason given")
            raise errors.Unavailable(f"store: etcd at {self._name} cancelled the watch: {reason}")
        changes = tuple(_change(event) for event in answer.get("events", ()))
        if changes:  # the header tells of the store, which may be ahead of this watch
            return Changes(changes[-1].revision, changes)
        return Changes(max(watch.reported, watch.asked), ())

    # -- upkeep ------------------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        await self._call("KV", "Compact", {"revision": revision})

    @property
    def durability(self) -> Durability:
        return Durability("etcd")

    async def close(self) -> None:
        for task in self._nudges:
            task.cancel()
        self._channel.close()


def _record(kv: Message) -> Record:
    return Record(
        kv["key"].decode(), kv.get("value", b""), kv["create_revision"], kv["mod_revision"]
    )


def _change(event: Message) -> Change:
    kv = event["kv"]
    deleted = event.get("type", 0) == 1
    value = None if deleted else kv.get("value", b"")
    return Change(kv["key"].decode(), value, kv.get("create_revision", 0), kv["mod_revision"])
