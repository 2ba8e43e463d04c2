"""A CRI client for any runtime: one async method per RPC, named as in the proto.

``await cri.RunPodSandbox({"config": config}, timeout_s=60)`` gives the response as a dict. The
connection is made on the first call and made anew when it is lost.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol, cast

from grpclib.client import Channel, UnaryStreamMethod, UnaryUnaryMethod
from grpclib.exceptions import GRPCError, ProtocolError, StreamTerminatedError

from muntin.kit.errors import (
    WIRE,
    Conflict,
    Forbidden,
    MuntinError,
    TimedOut,
    Unavailable,
)
from muntin.seams.cri import Message, Unknown
from muntin.seams.cri.codec import CriCodec
from muntin.seams.cri.tables import Rpc, tables

LONGEST_TIMEOUT_S = 99_999_999.0  # gRPC's header has eight digits, and servers refuse more
DEFAULT_TIMEOUT_S = 120.0  # kubelet's --runtime-request-timeout; pulls are given their own

_CLASSES: dict[int, type[MuntinError]] = {
    **{codes.grpc: cls for cls, codes in WIRE.items()},
    1: Unavailable,  # Canceled
    2: Unknown,
    9: Conflict,  # FailedPrecondition
    16: Forbidden,  # Unauthenticated
}


class Call(Protocol):
    """One unary RPC."""

    async def __call__(
        self, request: Mapping[str, Any] | None = None, *, timeout_s: float | None = ...
    ) -> Message:
        """Send ``request`` and give the response; ``timeout_s`` None waits without end.

        Raises the class of ``kit.errors`` that the status code stands for, with its description;
        TimedOut at the deadline, Unavailable when no runtime answers.
        """


class _Unary:
    def __set_name__(self, owner: type, name: str) -> None:
        self._rpc = tables().rpcs[name]

    def __get__(self, client: CriClient, owner: type) -> Call:
        async def call(
            request: Mapping[str, Any] | None = None,
            *,
            timeout_s: float | None = DEFAULT_TIMEOUT_S,
        ) -> Message:
            return await client._call(self._rpc, request or {}, timeout_s)

        return call


class CriClient:
    """The RPCs of RuntimeService and ImageService on one Unix socket."""

    Version = _Unary()
    Status = _Unary()
    UpdateRuntimeConfig = _Unary()
    RuntimeConfig = _Unary()

    RunPodSandbox = _Unary()
    StopPodSandbox = _Unary()
    RemovePodSandbox = _Unary()
    PodSandboxStatus = _Unary()
    ListPodSandbox = _Unary()

    CreateContainer = _Unary()
    StartContainer = _Unary()
    StopContainer = _Unary()
    RemoveContainer = _Unary()
    ListContainers = _Unary()
    ContainerStatus = _Unary()
    UpdateContainerResources = _Unary()
    ReopenContainerLog = _Unary()

    ExecSync = _Unary()
    Exec = _Unary()
    Attach = _Unary()
    PortForward = _Unary()

    ContainerStats = _Unary()
    ListContainerStats = _Unary()
    PodSandboxStats = _Unary()
    ListPodSandboxStats = _Unary()

    ListImages = _Unary()
    ImageStatus = _Unary()
    PullImage = _Unary()
    RemoveImage = _Unary()
    ImageFsInfo = _Unary()

    def __init__(self, socket_path: str) -> None:
        """Nothing is opened before the first call."""
        self.socket_path = socket_path
        self._channel: Channel | None = None

    async def __aenter__(self) -> CriClient:
        """The client itself."""
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Drop the connection; a later call makes a new one."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    async def events(self) -> AsyncIterator[Message]:
        """GetContainerEvents: container events until the runtime ends the stream.

        Raises:
            Unsupported: the runtime has no event stream.
        """
        rpc = tables().rpcs["GetContainerEvents"]
        method = UnaryStreamMethod[Any, Any](
            self._connected(), rpc.path, cast("Any", rpc.request), cast("Any", rpc.response)
        )
        try:
            async with method.open() as stream:
                await stream.send_message({}, end=True)
                async for message in stream:
                    yield message
        except GRPCError as err:
            raise _error(err) from err
        except (OSError, StreamTerminatedError, ProtocolError) as err:
            raise self._unavailable(err) from err

    def _connected(self) -> Channel:
        if self._channel is None:
            self._channel = Channel(path=self.socket_path, codec=CriCodec())
            # grpc-go refuses the "None:None" that grpclib makes of a path.
            self._channel._authority = "localhost"
        return self._channel

    async def _call(self, rpc: Rpc, request: Mapping[str, Any], timeout_s: float | None) -> Message:
        # The tables name message types; grpclib hands them to the codec unread.
        method = UnaryUnaryMethod[Any, Any](
            self._connected(), rpc.path, cast("Any", rpc.request), cast("Any", rpc.response)
        )
        try:
            limit_s = None if timeout_s is None else min(timeout_s, LONGEST_TIMEOUT_S)
            return cast("Message", await method(request, timeout=limit_s))
        except GRPCError as err:
            raise _error(err) from err
        except TimeoutError as err:
            raise TimedOut(f"{rpc.name}: no answer within {timeout_s:g} s") from err
        except (OSError, StreamTerminatedError, ProtocolError) as err:
            raise self._unavailable(err) from err

    def _unavailable(self, err: Exception) -> Unavailable:
        return Unavailable(f"connection to unix://{self.socket_path}: {err}")


def _error(err: GRPCError) -> MuntinError:
    return _CLASSES.get(err.status.value, Unknown)(err.message or err.status.name)
