"""ExecSync, and the URLs of Exec, Attach and PortForward."""

from __future__ import annotations

import asyncio

from muntin.kit.errors import Conflict, Invalid, TimedOut
from muntin.seams.cri import Message
from muntin.seams.cri.enums import ContainerState
from muntin.winruntime.containers import state
from muntin.winruntime.exec import running
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord
from muntin.winruntime.streaming import StreamingServer

MAX_OUTPUT_BYTES = 16 << 20


class ExecRpcs:
    """Programs in running containers."""

    def __init__(self, node: Node, streaming: StreamingServer) -> None:
        self._node = node
        self._streaming = streaming

    async def ExecSync(self, request: Message) -> Message:
        container = self._running(request)
        timeout_s = request.get("timeout", 0) or None
        words = _words(request)
        stdout, stderr = _Kept(), _Kept()
        try:
            async with (
                asyncio.timeout(timeout_s),
                running(self._node, container, words, stdin=False) as program,
            ):
                code = await program.show(stdout.write, stderr.write)
        except TimeoutError as err:
            raise TimedOut(
                f"failed to exec in container: timeout {timeout_s}s exceeded: "
                "context deadline exceeded"
            ) from err
        return {
            "stdout": bytes(stdout.data),
            "stderr": bytes(stderr.data),
            "exit_code": code,
        }

    async def Exec(self, request: Message) -> Message:
        self._running(request)
        _words(request)
        _check_streams(request)
        return {"url": self._streaming.url("exec", request)}

    async def Attach(self, request: Message) -> Message:
        self._running(request)
        _check_streams(request)
        return {"url": self._streaming.url("attach", request)}

    async def PortForward(self, request: Message) -> Message:
        self._node.sandboxes.get(request.get("pod_sandbox_id", ""))
        return {"url": self._streaming.url("portforward", request)}

    def _running(self, request: Message) -> ContainerRecord:
        container = self._node.containers.get(request.get("container_id", ""))
        if state(container) is not ContainerState.CONTAINER_RUNNING:
            raise Conflict(f"container is in {state(container).name} state")
        return container


def _words(request: Message) -> list[str]:
    words = list(request.get("cmd") or ())
    if not words:
        raise Invalid("cmd must not be empty")
    return words


def _check_streams(request: Message) -> None:
    if request.get("tty") and request.get("stderr"):
        raise Invalid("tty and stderr cannot both be true")
    if not any(request.get(name) for name in ("stdin", "stdout", "stderr")):
        raise Invalid("one of stdin, stdout, or stderr must be set")


class _Kept:
    """Output, of which the first 16 MiB are kept."""

    def __init__(self) -> None:
        self.data = bytearray()

    async def write(self, data: bytes) -> None:
        self.data += data[: MAX_OUTPUT_BYTES - len(self.data)]
