"""A CRI server on a Unix socket, for any CRI client (kubelets, crictl, Go programs).

A service is an object with async methods named like the RPCs, dict in and dict out; for
``GetContainerEvents`` an async generator. An RPC that the service does not have is answered
UNIMPLEMENTED. Errors of ``kit.errors`` become the gRPC status of their row in ``WIRE``; raise
:class:`muntin.seams.cri.Unknown` for a failure that containerd would report as Unknown.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import weakref
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.protocol import H2Protocol
from grpclib.server import Server, Stream

from muntin.kit import files
from muntin.kit.errors import MuntinError, Unsupported
from muntin.kit.log import fields
from muntin.seams.cri import grpc_code
from muntin.seams.cri.codec import CriCodec
from muntin.seams.cri.tables import Rpc, tables

log = logging.getLogger(__name__)
# grpclib says at INFO that a client gave a call up: kubelets do so whenever a pod must end.
logging.getLogger("grpclib.server").setLevel(logging.WARNING)


class _Service:
    """What grpclib asks for: a mapping from paths to handlers."""

    def __init__(self, name: str, service: object) -> None:
        self._handlers = {
            rpc.path: _handler(rpc, getattr(service, rpc.name, None) or _unimplemented(rpc))
            for rpc in tables().rpcs.values()
            if rpc.service == name
        }

    def __mapping__(self) -> dict[str, Handler]:
        return self._handlers


def _unimplemented(rpc: Rpc) -> Callable[..., Any]:
    def method(_request: object) -> Any:
        raise Unsupported(f"unknown method {rpc.name} for service runtime.v1.{rpc.service}")

    return method


def _handler(rpc: Rpc, method: Callable[..., Any]) -> Handler:
    async def unary(stream: Stream[Any, Any]) -> None:
        with _translated(rpc):
            await stream.send_message(await method(await stream.recv_message()))

    async def streaming(stream: Stream[Any, Any]) -> None:
        with _translated(rpc):
            request = await stream.recv_message()
            await stream.send_initial_metadata()
            async for message in method(request):
                await stream.send_message(message)

    cardinality = Cardinality.UNARY_STREAM if rpc.streams else Cardinality.UNARY_UNARY
    # Message types are names; grpclib hands them to the codec unread.
    types: tuple[Any, Any] = (rpc.request, rpc.response)
    return Handler(streaming if rpc.streams else unary, cardinality, *types)


class _Server(Server):
    """grpclib's server that also drops its connections at the end, as a process that ends does."""

    def __init__(self, services: list[_Service]) -> None:
        super().__init__(services, codec=CriCodec())
        self._protocols: weakref.WeakSet[H2Protocol] = weakref.WeakSet()

    def _protocol_factory(self) -> H2Protocol:
        protocol = super()._protocol_factory()
        self._protocols.add(protocol)
        return protocol

    def drop_connections(self) -> None:
        """Close what clients have open."""
        for protocol in list(self._protocols):
            protocol.connection.close()


@contextlib.contextmanager
def _translated(rpc: Rpc) -> Any:
    try:
        yield
    except MuntinError as err:
        raise GRPCError(Status(grpc_code(err)), err.message) from err
    except (GRPCError, asyncio.CancelledError):
        raise
    except Exception as err:
        log.exception("cri call failed", **fields(rpc=rpc.name))
        raise GRPCError(Status.UNKNOWN, f"{type(err).__name__}: {err}") from err


@contextlib.asynccontextmanager
async def serving(
    socket_path: str, runtime_service: object, image_service: object
) -> AsyncIterator[None]:
    """Answer CRI calls on ``socket_path`` inside the ``async with``; a stale socket is replaced.

    Socket and folder are accessible to their owner only.
    """
    files.make_private_folder(Path(socket_path).parent)
    _remove_stale(socket_path)
    services = [
        _Service("RuntimeService", runtime_service),
        _Service("ImageService", image_service),
    ]
    server = _Server(services)
    await server.start(path=socket_path)
    os.chmod(socket_path, 0o600)  # noqa: PTH101 - one call; its folder is private already
    try:
        yield
    finally:
        server.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2.0):  # calls in flight are cancelled by close()
                await server.wait_closed()
        server.drop_connections()
        _remove_stale(socket_path)


def _remove_stale(socket_path: str) -> None:
    Path(socket_path).unlink(missing_ok=True)


async def serve(socket_path: str, runtime_service: object, image_service: object) -> None:
    """Answer CRI calls on ``socket_path`` until cancelled."""
    async with serving(socket_path, runtime_service, image_service):
        await asyncio.get_running_loop().create_future()
