"""Exec, attach and port-forward between real peers on loopback, over each carrier.

Covered: SPDY and WebSocket exec, stdin to its end, exit codes, terminal sizes, a user who hangs
up, large input with back-pressure, translation of a WebSocket user to a SPDY server, port-forward
raw, tunnelled with half-closed connections and in channels, refusals.
"""

import asyncio
import base64
import json
import os

import pytest

from muntin.kit.errors import Invalid, Unavailable
from muntin.kit.http.client import HttpClient, Upgraded
from muntin.kit.http.server import HttpServer, Response, Upgrade
from muntin.seams.streams import portforward, portforward_channels, remotecommand
from muntin.seams.streams.client import SPDY_HEADERS, RemoteCommand, translate
from muntin.seams.streams.duplex import StreamDuplex
from muntin.seams.streams.remotecommand import Options, error_status, exit_status
from muntin.seams.streams.spdy import SpdyConnection
from muntin.seams.streams.websocket import MessageDuplex, WebSocket

ALL = Options(stdin=True, stdout=True, stderr=True)


async def echo(session):
    """A command that repeats its input, complains once and ends with 3."""
    async for data in session.stdin():
        await session.stdout(data)
    await session.stderr(b"done")
    await session.finish(exit_status(3))


class Server:
    def __init__(self, handler=echo, options=ALL, dial=None):
        self.handler, self.options, self.dial = handler, options, dial
        self.ended = asyncio.Event()

    async def answer(self, request):
        try:
            if request.path == "/portforward":
                accepted, served = portforward.accept(request.headers), self.dial
            else:
                accepted = remotecommand.accept(request.headers, self.options)
                served = self.handler
        except Invalid as err:
            return Response(400, {}, err.message.encode())

        async def run(reader, writer):
            try:
                await accepted.serve(StreamDuplex(reader, writer), served)
            finally:
                self.ended.set()

        return Upgrade(accepted.protocol, run, accepted.headers)

    async def __aenter__(self):
        self.http = HttpServer(self.answer)
        self.port = await self.http.listen_tcp("127.0.0.1", 0)
        self.client = HttpClient()
        return self

    async def __aexit__(self, *_):
        await self.client.close()
        await self.http.close(0.1)

    async def upgrade(self, headers, path="/exec"):
        answer = await self.client.upgrade(
            "GET", f"http://127.0.0.1:{self.port}{path}", headers=headers
        )
        if isinstance(answer, Upgraded):
            return StreamDuplex(answer.reader, answer.writer)
        return answer

    async def websocket(self, protocol, path="/exec"):
        headers = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        }
        if protocol:
            headers["Sec-WebSocket-Protocol"] = protocol
        return WebSocket(await self.upgrade(headers, path), client=True)


async def collect(read):
    parts = []
    while data := await read():
        parts.append(data)
    return b"".join(parts)


def run(coroutine):
    async def bounded():
        async with asyncio.timeout(20):
            return await coroutine

    return asyncio.run(bounded())


@pytest.mark.parametrize("size", [5, 3_000_000])
def test_exec_over_spdy(size):
    async def scenario():
        async with Server() as server:
            command = RemoteCommand(await server.upgrade(SPDY_HEADERS), ALL)
            runner = asyncio.create_task(command.run())
            await command.open()
            sent = os.urandom(size)

            async def send():
                await command.write_stdin(sent)
                await command.close_stdin()

            async with asyncio.TaskGroup() as group:
                group.create_task(send())
                out = group.create_task(collect(lambda: command.read("stdout")))
                err = group.create_task(collect(lambda: command.read("stderr")))
                status = group.create_task(command.status())
            await command.close()
            await runner
            assert out.result() == sent
            assert err.result() == b"done"
            assert status.result()["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]

    run(scenario())


class Recorder:
    """A duplex whose peer says nothing and hears everything."""

    def __init__(self):
        self.written = []

    async def read(self):
        await asyncio.Event().wait()

    def write(self, data):
        self.written.append(data)

    async def drain(self):
        await asyncio.sleep(0)

    def close(self):
        self.written.append(None)


@pytest.mark.parametrize(
    ("protocol", "status"),
    [("v4.channel.k8s.io", b"\x03{"), ("v4.base64.channel.k8s.io", b"3" + base64.b64encode(b"{"))],
)
def test_status_and_close_frame_are_one_piece(protocol, status):
    """A client that hangs up at the status (httpx-ws) is not amid reading what follows: it would
    go on reading from a new connection of the same file number, as [SSL: WRONG_VERSION_NUMBER]."""
    headers = {
        "upgrade": "websocket",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-protocol": protocol,
    }

    async def scenario():
        recorder = Recorder()

        async def handler(session):
            await session.stdout(b"hi")
            await session.finish(exit_status(3))

        await remotecommand.accept(headers, ALL).serve(recorder, handler)
        *_, last, closed = recorder.written
        assert closed is None
        assert status[:2] in last
        assert last.endswith(b"\x88\x02\x03\xe8")  # a close frame with code 1000
        assert len(last) > 100

    run(scenario())


async def websocket_echo(server, protocol="v5.channel.k8s.io", ending=b"\xff\x00"):
    socket = await server.websocket(protocol)
    assert await socket.receive() == b"\x01"
    await socket.send(b"\x00hello")
    await socket.send(ending)
    got = {1: b"", 2: b"", 3: b""}
    while (message := await socket.receive()) is not None:
        got[message[0]] += message[1:]
    return got


def test_exec_over_websocket_v5_knows_the_end_of_input():
    async def scenario():
        async with Server() as server:
            got = await websocket_echo(server)
            assert (got[1], got[2]) == (b"hello", b"done")
            assert json.loads(got[3])["reason"] == "NonZeroExitCode"

    run(scenario())


@pytest.mark.parametrize(
    "protocol, has_status",
    [("v4.base64.channel.k8s.io", True), ("base64.channel.k8s.io", False), ("", False)],
)
def test_exec_of_older_websocket_clients(protocol, has_status):
    def packed(channel, data):
        if "base64" in protocol:
            return b"%d%s" % (channel, base64.b64encode(data))
        return bytes((channel,)) + data

    def unpacked(message):
        if "base64" in protocol:
            return message[0] - 48, base64.b64decode(message[1:])
        return message[0], message[1:]

    async def first_word(session):
        async for data in session.stdin():
            await session.stdout(data)
            break
        await session.finish(exit_status(3))

    async def scenario():
        async with Server(first_word) as server:
            socket = await server.websocket(protocol)
            assert unpacked(await socket.receive()) == (1, b"")
            await socket.send(packed(0, b"hello"))
            got = {1: b"", 3: b""}
            while (message := await socket.receive()) is not None:
                channel, data = unpacked(message)
                got[channel] += data
        assert got[1] == b"hello"
        text = "command terminated with non-zero exit code: exit status 3"
        assert (json.loads(got[3])["message"] if has_status else got[3].decode()) == text

    run(scenario())


def test_success_is_a_status_too():
    async def scenario():
        async def handler(session):
            await session.finish(exit_status(0))

        async with Server(handler) as server:
            got = await websocket_echo(server)
            assert json.loads(got[3]) == {"metadata": {}, "status": "Success"}

    run(scenario())


@pytest.mark.parametrize("carrier", ["websocket", "spdy"])
def test_terminal_sizes_arrive(carrier):
    async def scenario():
        options = Options(stdin=True, stdout=True, tty=True)

        async def handler(session):
            async for columns, rows in session.sizes():
                await session.finish(error_status(f"{columns}x{rows}"))
                return

        async with Server(handler, options) as server:
            if carrier == "websocket":
                socket = await server.websocket("v4.channel.k8s.io")
                assert await socket.receive() == b"\x01"
                await socket.send(b'\x04{"Width":100,"Height":30}')
                status = json.loads((await socket.receive())[1:])
                assert await socket.receive() is None
            else:
                command = RemoteCommand(await server.upgrade(SPDY_HEADERS), options)
                runner = asyncio.create_task(command.run())
                await command.open()
                await command.resize(100, 30)
                status = await command.status()
                await command.close()
                await runner
            assert status["message"] == "100x30"

    run(scenario())


@pytest.mark.parametrize("carrier", ["websocket", "spdy"])
def test_a_user_who_hangs_up_cancels_the_command(carrier):
    async def scenario():
        cancelled = asyncio.Event()

        async def handler(session):
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        async with Server(handler) as server:
            if carrier == "websocket":
                socket = await server.websocket("v4.channel.k8s.io")
                await socket.receive()
                socket.close()
            else:
                stream = await server.upgrade(SPDY_HEADERS)
                command = RemoteCommand(stream, ALL)
                runner = asyncio.create_task(command.run())
                await command.open()
                await asyncio.sleep(0.05)
                stream.close()
                await runner
            await cancelled.wait()
            await server.ended.wait()

    run(scenario())


def test_a_websocket_user_reaches_a_spdy_server():
    async def scenario():
        async with Server() as inner:

            async def handler(session):
                await translate(session, await inner.upgrade(SPDY_HEADERS), ALL)

            async with Server(handler) as outer:
                got = await websocket_echo(outer)
        assert (got[1], got[2]) == (b"hello", b"done")
        assert json.loads(got[3])["details"]["causes"][0]["message"] == "3"

    run(scenario())


async def shout_server():
    """Reads to the end of input, then answers in capitals: needs half-closed connections."""

    async def shout(reader, writer):
        writer.write((await reader.read()).upper())
        await writer.drain()
        writer.close()

    return await asyncio.start_server(shout, "127.0.0.1", 0)


async def forward(connection, port, request_id, text):
    headers = {"port": str(port), "requestid": request_id}
    error = await connection.open({**headers, "streamtype": "error"})
    data = await connection.open({**headers, "streamtype": "data"})
    await error.close_write()
    if text:
        await data.write(text)
    await data.close_write()
    return await collect(data.read), await collect(error.read)


@pytest.mark.parametrize("tunnelled", [False, True])
def test_port_forward(tunnelled):
    async def scenario():
        shouting = await shout_server()
        port = shouting.sockets[0].getsockname()[1]

        async def dial(wanted):
            if wanted != port:
                raise Unavailable(f"connection to port {wanted} refused")
            return await asyncio.open_connection("127.0.0.1", wanted)

        async with Server(dial=dial) as server:
            if tunnelled:
                socket = await server.websocket(portforward.TUNNEL, "/portforward")
                stream = MessageDuplex(socket)
            else:
                headers = {**SPDY_HEADERS, "X-Stream-Protocol-Version": portforward.PROTOCOL}
                stream = await server.upgrade(headers, "/portforward")
            connection = SpdyConnection(stream, client=True)
            runner = asyncio.create_task(connection.run())
            answers = await asyncio.gather(
                forward(connection, port, "0", b"first"),
                forward(connection, port, "1", b"second"),
                forward(connection, 1, "2", b""),
                forward(connection, "x", "3", b""),
            )
            await connection.close()
            await runner
            await server.ended.wait()
        shouting.close()
        await shouting.wait_closed()
        assert answers[0] == (b"FIRST", b"")
        assert answers[1] == (b"SECOND", b"")
        assert answers[2] == (b"", b"error forwarding port 1: connection to port 1 refused")
        assert answers[3] == (
            b"",
            b"error forwarding port x: 'x' is not a port: it must be a number from 1 to 65535",
        )

    run(scenario())


class Bridge(Server):
    """Port-forward in channels, carried to the SPDY server ``inner``."""

    def __init__(self, inner, ports):
        super().__init__()
        self.inner, self.ports = inner, ports

    async def answer(self, request):
        protocol, headers = portforward_channels.accept(request.headers)
        spdy = {**SPDY_HEADERS, "X-Stream-Protocol-Version": portforward.PROTOCOL}
        upstream = await self.inner.upgrade(spdy, "/portforward")

        async def run(reader, writer):
            duplex = StreamDuplex(reader, writer)
            await portforward_channels.bridge(duplex, protocol, self.ports, upstream)
            self.ended.set()

        return Upgrade("websocket", run, headers)


@pytest.mark.parametrize("protocol", ["v4.channel.k8s.io", ""])
def test_port_forward_in_channels(protocol):
    async def scenario():
        async def repeat(reader, writer):
            while data := await reader.read(65536):
                writer.write(data)
            writer.close()

        repeating = await asyncio.start_server(repeat, "127.0.0.1", 0)
        port = repeating.sockets[0].getsockname()[1]

        async def dial(wanted):
            if wanted != port:
                raise Unavailable(f"connection to port {wanted} refused")
            return await asyncio.open_connection("127.0.0.1", wanted)

        sent = os.urandom(300_000)
        async with Server(dial=dial) as inner, Bridge(inner, [port, 1]) as server:
            socket = await server.websocket(protocol)
            note, other = port.to_bytes(2, "little"), b"\1\0"
            first = {await socket.receive() for _ in range(4)}
            assert first == {b"\0" + note, b"\1" + note, b"\2" + other, b"\3" + other}
            await socket.send(b"\0" + sent)
            got = {0: b"", 3: b""}
            while len(got[0]) < len(sent) or not got[3]:
                message = await socket.receive()
                got[message[0]] += message[1:]
            socket.close()
            await server.ended.wait()
            await inner.ended.wait()
        repeating.close()
        await repeating.wait_closed()
        assert got[0] == sent
        assert got[3] == b"error forwarding port 1: connection to port 1 refused"

    run(scenario())


@pytest.mark.parametrize(
    "ports, message",
    [
        ([], 'query parameter "port" is required'),
        (["80,x"], 'unable to parse "x" as a port'),
        (["0"], 'unable to parse "0" as a port'),
        (["65536"], 'unable to parse "65536" as a port'),
    ],
)
def test_ports_of_a_query(ports, message):
    assert portforward_channels.parse_ports(["80,81", "9"]) == [80, 81, 9]
    with pytest.raises(Invalid, match=message):
        portforward_channels.parse_ports(ports)


@pytest.mark.parametrize(
    "headers, message",
    [
        ({}, "need an upgrade"),
        ({"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}, "no stream protocol"),
        (
            {
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Protocol": "v1.channel.k8s.io",
            },
            "offer v5.channel.k8s.io or v4.channel.k8s.io",
        ),
    ],
)
def test_what_is_not_spoken_is_refused(headers, message):
    async def scenario():
        async with Server() as server:
            answer = await server.upgrade(headers)
            assert answer.status == 400
            assert message in answer.body.decode()

    run(scenario())


def test_a_peer_that_speaks_something_else_ends_the_connection():
    async def scenario():
        async with Server() as server:
            stream = await server.upgrade(SPDY_HEADERS)
            stream.write(b"\x80\x02" + bytes(6))
            assert await collect(stream.read) in (
                b"",
                b"\x80\x03\x00\x07" + b"\0\0\0\x08" + bytes(8),
            )
            stream.close()
            await server.ended.wait()

    run(scenario())
