"""Connections to the members of one etcd: calls go to one of them until it fails, then to the next.

A read is asked of every member once. A write is sent to another member only when the first could
not even be connected to: else nobody knows whether it happened.
"""

from __future__ import annotations

import asyncio
import socket
import ssl as ssl_module
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from grpclib.client import Channel, Handler, Stream, StreamStreamMethod, UnaryUnaryMethod
from grpclib.config import Configuration
from grpclib.const import Status
from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError
from grpclib.protocol import H2Protocol

from muntin.kit import errors
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd_messages import EtcdCodec

Message = dict[str, Any]
Connect = Callable[[str, int], Awaitable[socket.socket]]
"""Gives a connected socket: for who does not stand where the members can be reached."""

CONNECT_S = 5.0
CALL_S = 10.0  # longer than a member itself waits for the others: 7 s
GOODBYE_S = 1.0  # for the end of TLS: who hangs says none
PING_S = 10.0  # a member that answers no ping for as long is given up
UNREACHABLE = (OSError, StreamTerminatedError, ProtocolError, asyncio.IncompleteReadError)
# A member without a leader ends what needs one, instead of being silent.
# Source: etcd v3.4 etcdserver/api/v3rpc/rpctypes/metadatafields.go.
NEEDS_LEADER = {"hasleader": "true"}
_CONFIGURATION = Configuration(
    _keepalive_time=PING_S,
    _keepalive_timeout=PING_S,
    _keepalive_permit_without_calls=True,
    _http2_max_pings_without_data=0,
    _http2_min_sent_ping_interval_without_data=PING_S,
)


class NoAnswer(errors.Unavailable):
    """A write was sent, and whether it happened is not known."""


class _Protocol(H2Protocol):
    """One connection: among ``alive`` until its socket is closed."""

    def __init__(self, alive: set[_Protocol], *settings: Any) -> None:
        super().__init__(*settings)
        self._alive = alive
        self._transport: asyncio.BaseTransport | None = None
        self._gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._transport = transport
        self._alive.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._transport = None
        self._alive.discard(self)
        self._gone.set()

    async def wait_closed(self) -> None:
        """After the channel's close: until TLS has ended; who says no goodbye is cut off."""
        try:
            async with asyncio.timeout(GOODBYE_S):
                await self._gone.wait()
        except TimeoutError:
            if isinstance(self._transport, asyncio.WriteTransport):
                self._transport.abort()
            await self._gone.wait()


class _Channel(Channel):
    """A connection over a socket that somebody else has made, or to a socket's path."""

    def __init__(
        self, endpoint: Endpoint, ssl: ssl_module.SSLContext | None, connect: Connect
    ) -> None:
        where: dict[str, Any] = {"path": endpoint.path} if endpoint.path else {}
        if not where:
            where = {"host": endpoint.host, "port": endpoint.port}
        super().__init__(**where, ssl=ssl, codec=EtcdCodec(), config=_CONFIGURATION)
        self._endpoint, self._tls, self._make = endpoint, ssl, connect
        self._alive: set[_Protocol] = set()

    async def wait_closed(self) -> None:
        """After ``close``: until no socket of this channel is open."""
        await asyncio.gather(*(protocol.wait_closed() for protocol in self._alive))

    def _protocol_factory(self) -> H2Protocol:
        return _Protocol(self._alive, Handler(), self._config, self._h2_config)

    async def _create_connection(self) -> H2Protocol:
        if self._endpoint.path:
            return await super()._create_connection()
        sock = await self._make(self._endpoint.host, self._endpoint.port)
        name = self._endpoint.host if self._tls else None
        loop = asyncio.get_running_loop()
        goodbye_s = GOODBYE_S if self._tls else None
        try:
            _, protocol = await loop.create_connection(
                self._protocol_factory,
                sock=sock,
                ssl=self._tls,
                server_hostname=name,
                ssl_shutdown_timeout=goodbye_s,
            )
        except BaseException:
            sock.close()
            raise
        return protocol


class Connection:
    """The members ``endpoints`` of one etcd."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        ssl: ssl_module.SSLContext | None = None,
        connect: Connect | None = None,
    ) -> None:
        self._endpoints = tuple(endpoints)
        self._channels = [_Channel(endpoint, ssl, connect or _connect) for endpoint in endpoints]
        self._current = 0

    def __str__(self) -> str:
        return f"store: etcd at {self._endpoints[self._current]}"

    async def call(self, method: str, message: Message, *, again: bool = True) -> Message:
        """The answer to ``message``; ``again`` when a second try does no harm.

        Raises:
            Gone: etcd no longer has that revision.
            Unavailable: no member answers, or etcd cannot.
            NoAnswer: and what must not be sent twice was sent.
        """
        failure: errors.MuntinError | None = None
        for _ in self._endpoints:
            try:
                channel = await self._connected()
            except errors.Unavailable as err:
                failure = failure or err
                self._next()
                continue
            try:
                return await _unary(channel, method)(message, timeout=CALL_S)
            except (GRPCError, *UNREACHABLE) as err:
                failure = self.translated(err)
                if isinstance(err, TimeoutError):
                    channel.close()  # it hangs: its watches are to go on elsewhere, too
                if isinstance(failure, errors.Gone) or not _may_be_the_member(err):
                    raise failure from err
                self._next()
                if not again:
                    raise NoAnswer(failure.message) from err
        assert failure is not None
        raise failure

    async def watch(self) -> Stream[Message, Message]:
        """A stream of the Watch service, not opened yet.

        Raises:
            Unavailable: no member can be connected to.
        """
        channel = await self._connected_to_any()
        kinds: tuple[Any, Any] = ("WatchRequest", "WatchResponse")
        method: StreamStreamMethod[Message, Message] = StreamStreamMethod(
            channel, "/etcdserverpb.Watch/Watch", *kinds
        )
        return method.open(metadata=NEEDS_LEADER)

    async def _connected_to_any(self) -> Channel:
        for _ in self._endpoints[1:]:
            try:
                return await self._connected()
            except errors.Unavailable:
                self._next()
        return await self._connected()

    async def _connected(self) -> Channel:
        channel = self._channels[self._current]
        try:
            async with asyncio.timeout(CONNECT_S):
                await channel.__connect__()
        except UNREACHABLE as err:
            raise self.translated(err) from err
        return channel

    def give_up(self) -> None:
        """Go on with another member: this one's watch has ended."""
        self._next()

    def _next(self) -> None:
        self._current = (self._current + 1) % len(self._endpoints)

    def translated(self, err: Exception, member: str = "") -> errors.MuntinError:
        """The error of ours for what grpclib or the system raised; ``member``: not the current."""
        name = member or str(self)
        if not isinstance(err, GRPCError):
            why = str(err) or (
                "no answer in time" if isinstance(err, TimeoutError) else type(err).__name__
            )
            return errors.Unavailable(f"{name}: {why}")
        if err.status is Status.OUT_OF_RANGE:
            return errors.Gone(f"store: {err.message}")
        return errors.Unavailable(f"{name}: {err.message}{_advice(err)}")

    async def close(self) -> None:
        """Let go of all members; no socket is open afterwards."""
        for channel in self._channels:
            with suppress(Exception):
                channel.close()
        await asyncio.gather(*(channel.wait_closed() for channel in self._channels))


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    sock.setblocking(False)
    try:
        await loop.sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


def _unary(channel: Channel, method: str) -> UnaryUnaryMethod[Message, Message]:
    service = "Maintenance" if method in ("Status", "Alarm") else "KV"
    name = "Compaction" if method == "Compact" else method
    # The codec takes names of tables where grpclib's types speak of message classes.
    kinds: tuple[Any, Any] = (f"{name}Request", f"{name}Response")
    return UnaryUnaryMethod(channel, f"/etcdserverpb.{service}/{method}", *kinds)


def _may_be_the_member(err: Exception) -> bool:
    """Whether another member could do better."""
    if not isinstance(err, GRPCError):
        return True
    return err.status in (Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.UNKNOWN)


def _advice(err: GRPCError) -> str:
    """What to do about a full database. Source: etcd v3.4 documentation, "Maintenance"."""
    if err.status is Status.RESOURCE_EXHAUSTED and "space" in (err.message or ""):
        return "; make room in etcd (defrag, --quota-backend-bytes), then: etcdctl alarm disarm"
    return ""
