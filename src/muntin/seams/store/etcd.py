"""The store on a real etcd, over its v3 gRPC API."""

from __future__ import annotations

import asyncio
import ssl as ssl_module
from collections.abc import AsyncIterator
from typing import Any

from grpclib.client import Channel, Stream, StreamStreamMethod, UnaryUnaryMethod
from grpclib.const import Status
from grpclib.exceptions import GRPCError, StreamTerminatedError

from muntin.kit import errors
from muntin.seams.store import (
    Change,
    Changes,
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

_UNREACHABLE = (OSError, StreamTerminatedError, asyncio.IncompleteReadError)


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
        self._watches: set[Stream[Message, Message]] = set()

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
        for stream in self._watches:
            await stream.send_message({"progress_request": {}})
        return int(answer["header"]["revision"])

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
            "progress_notify": True,
        }
        try:
            async with method.open() as stream:
                await stream.send_message({"create_request": create})
                self._watches.add(stream)
                try:
                    async for answer in stream:
                        yield self._changes(answer, after)
                finally:
                    self._watches.discard(stream)
                    await stream.cancel()
        except GRPCError as err:
            raise self._translated(err) from err
        except _UNREACHABLE as err:
            raise errors.Unavailable(f"store: etcd at {self._name}: {err}") from err
        raise errors.Unavailable(f"store: etcd at {self._name} ended the watch")

    def _changes(self, answer: Message, after: int) -> Changes:
        if answer.get("compact_revision"):
            raise compacted(after, answer["compact_revision"])
        if answer.get("canceled"):
            reason = answer.get("cancel_reason", "no reason given")
            raise errors.Unavailable(f"store: etcd at {self._name} cancelled the watch: {reason}")
        if answer.get("created"):  # its header may be ahead of what the watch has delivered
            return Changes(after, ())
        changes = tuple(_change(event) for event in answer.get("events", ()))
        return Changes(answer["header"]["revision"], changes)

    # -- upkeep ------------------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        await self._call("KV", "Compact", {"revision": revision})

    async def close(self) -> None:
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
