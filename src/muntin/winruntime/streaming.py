"""The streaming server: exec, attach and port-forward sessions that the kubelet passes on.

A session is asked for by RPC, which gives a URL with a token that is good once and for a minute.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from muntin.kit import netns
from muntin.kit.clock import Clock
from muntin.kit.errors import MuntinError, NotFound, Unavailable
from muntin.kit.http.server import OF_COMPONENT, Answer, HttpServer, Request, Response, Upgrade
from muntin.kit.log import fields
from muntin.model.windows import Feature, gate, is_open
from muntin.seams.cri import Message, Unknown
from muntin.seams.streams import portforward, remotecommand
from muntin.seams.streams.duplex import StreamDuplex
from muntin.seams.streams.remotecommand import Options, Session
from muntin.winruntime.exec import Running, running
from muntin.winruntime.exec_terminal import RunningOnTerminal, running_on_terminal
from muntin.winruntime.exit_codes import connect_error, unsigned
from muntin.winruntime.node import Node
from muntin.winruntime.shim.frames import MAX_LINE_BYTES, STDERR, STDIN, FrameReader, frame

log = logging.getLogger(__name__)

TOKEN_LIFE_S = 60.0
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class _Ticket:
    kind: str
    request: Message
    expires: float


class StreamingServer:
    """Serves sessions on a port of the node's loopback."""

    def __init__(self, node: Node, clock: Clock) -> None:
        self._node = node
        self._clock = clock
        self._tickets: dict[str, _Ticket] = {}
        self._server = HttpServer(self._handle, OF_COMPONENT)
        self._address = ""

    async def start(self) -> None:
        """Listen; URLs are good from now on."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        listener.bind((self._node.config.streaming_address, 0))
        listener.listen(128)
        self._address = "{}:{}".format(*listener.getsockname())
        await self._server.listen(listener)

    async def close(self) -> None:
        """End all sessions."""
        await self._server.close()

    def url(self, kind: str, request: Message) -> str:
        """Where the session that ``request`` asks for can be had."""
        now = self._clock.monotonic()
        self._tickets = {t: k for t, k in self._tickets.items() if k.expires > now}
        token = secrets.token_urlsafe(12)
        self._tickets[token] = _Ticket(kind, request, now + TOKEN_LIFE_S)
        return f"http://{self._address}/{kind}/{token}"

    async def _handle(self, request: Request) -> Answer:
        kind, _, token = request.path.strip("/").partition("/")
        ticket = self._tickets.pop(token, None)
        if ticket is None or ticket.kind != kind or ticket.expires < self._clock.monotonic():
            return Response(404, {"Content-Type": "text/plain"}, b"no such session\n")
        try:
            return self._accept(ticket, request)
        except MuntinError as err:
            return Response(400, {"Content-Type": "text/plain"}, err.message.encode())

    def _accept(self, ticket: _Ticket, request: Request) -> Upgrade:
        wanted = ticket.request
        if ticket.kind == "portforward":
            forward = portforward.accept(request.headers)

            async def run_forward(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                await forward.serve(StreamDuplex(reader, writer), self._dial(wanted))

            return Upgrade(forward.protocol, run_forward, forward.headers)
        options = Options(
            stdin=bool(wanted.get("stdin")),
            stdout=bool(wanted.get("stdout")),
            stderr=bool(wanted.get("stderr")),
            tty=bool(wanted.get("tty")),
        )
        accepted = remotecommand.accept(request.headers, options)
        executing = ticket.kind == "exec"
        act = self._exec if executing else self._attach
        doing = "executing command in" if executing else "attaching to"

        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await accepted.serve(
                StreamDuplex(reader, writer), lambda session: _guarded(act, doing, wanted, session)
            )

        return Upgrade(accepted.protocol, run, accepted.headers)

    async def _exec(self, wanted: Message, session: Session) -> None:
        container = self._node.containers.get(wanted["container_id"])
        if wanted.get("tty"):
            async with running_on_terminal(self._node, container, wanted["cmd"]) as program:
                code = await _terminal_session(program, session)
        else:
            stdin = bool(wanted.get("stdin"))
            async with running(self._node, container, wanted["cmd"], stdin=stdin) as plain:
                code = await _pipe_session(plain, session)
        await session.finish(remotecommand.exit_status(unsigned(code)))

    async def _attach(self, wanted: Message, session: Session) -> None:
        container = self._node.containers.get(wanted["container_id"])

        async def type_in(writer: asyncio.StreamWriter) -> None:
            async for data in session.stdin():
                writer.write(frame(STDIN, data))
                await writer.drain()
            writer.write(frame(STDIN, b""))

        async def resize() -> None:
            async for columns, rows in session.sizes():
                request: dict[str, object] = {"op": "resize", "columns": columns, "rows": rows}
                with suppress(NotFound):
                    await self._node.shims.command(container.id, request)

        async with (
            self._node.shims.attach(container.id) as attached,
            _beside(type_in(attached.writer), resize()),
        ):
            frames = FrameReader()
            with suppress(OSError):
                while data := await attached.reader.read(MAX_LINE_BYTES):
                    for kind, text in frames.feed(data):
                        await (session.stderr if kind == STDERR else session.stdout)(text)
        await session.finish(remotecommand.exit_status(0))  # as containerd: it joined and left

    def _dial(self, wanted: Message) -> portforward.Dial:
        """As wincat.exe does it from inside the pod, or containerd to the pod's address."""
        profile = self._node.config.profile
        inside = is_open(Feature.PORTFORWARD_CONTAINERD, profile)

        async def dial(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
            if not is_open(Feature.PORT_FORWARD_1_15, profile):
                raise Unknown(gate(Feature.PORT_FORWARD_1_15).message)
            sandbox = self._node.sandboxes.get(wanted["pod_sandbox_id"])
            address = LOOPBACK if inside or not sandbox.ips else sandbox.ips[0]
            sock = netns.socket_in(sandbox.netns, socket.AF_INET)
            sock.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(sock, (address, port))
                return await asyncio.open_connection(sock=sock)
            except OSError as err:
                sock.close()
                raise Unavailable(
                    f"failed to execute port forward in sandbox: Failed to connect to "
                    f"{address}:{port} because {connect_error(err.errno)}: exit status 1"
                ) from err

        return dial


async def _guarded(
    act: Callable[[Message, Session], Awaitable[None]],
    doing: str,
    wanted: Message,
    session: Session,
) -> None:
    """Tell the user of an error in the only way there is after the upgrade."""
    try:
        await act(wanted, session)
    except Unavailable:
        raise
    except MuntinError as err:
        await session.finish(remotecommand.error_status(_failure(doing, err.message)))
    except Exception as err:
        log.exception("stream failed", **fields(container=wanted.get("container_id")))
        text = _failure(doing, f"{type(err).__name__}: {err}")
        await session.finish(remotecommand.error_status(text))


def _failure(doing: str, text: str) -> str:
    """Source: kubernetes v1.34 k8s.io/kubelet pkg/cri/streaming/remotecommand/{exec,attach}.go."""
    return f"Internal error occurred: error {doing} container: {text}"


@asynccontextmanager
async def _beside(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run coroutines beside a block; they are cancelled when it ends."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pipe_session(program: Running, session: Session) -> int:
    async def type_in() -> None:
        assert program.stdin is not None
        with suppress(OSError):
            async for data in session.stdin():
                program.stdin.write(data)
                await program.stdin.drain()
            program.stdin.close()

    async with _beside(*([type_in()] if program.stdin else [])):
        return await program.show(session.stdout, session.stderr)


async def _terminal_session(program: RunningOnTerminal, session: Session) -> int:
    async def type_in() -> None:
        async for data in session.stdin():
            await program.type(data)

    async def resize() -> None:
        async for columns, rows in session.sizes():
            program.resize(columns, rows)

    async with _beside(type_in(), resize()):
        return await program.show(session.stdout)
