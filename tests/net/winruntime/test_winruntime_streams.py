"""Exec, attach and port-forward through the runtime's streaming server."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from runtime_lab import Lab, lab

from muntin.kit.http.client import HttpClient, Upgraded
from muntin.seams.streams.client import SPDY_HEADERS, RemoteCommand
from muntin.seams.streams.duplex import StreamDuplex
from muntin.seams.streams.portforward import PROTOCOL
from muntin.seams.streams.remotecommand import Options
from muntin.seams.streams.spdy import SpdyConnection


def on_node(test: Callable[[Lab], Awaitable[None]]) -> None:
    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node, asyncio.timeout(60):
            await test(node)

    asyncio.run(run())


@contextlib.asynccontextmanager
async def session(url: str, options: Options) -> AsyncIterator[RemoteCommand]:
    http = HttpClient()
    answer = await http.upgrade("POST", url, headers=SPDY_HEADERS)
    assert isinstance(answer, Upgraded)
    command = RemoteCommand(StreamDuplex(answer.reader, answer.writer), options)
    runner = asyncio.ensure_future(command.run())
    try:
        await command.open()
        yield command
    finally:
        await command.close()
        runner.cancel()
        await asyncio.gather(runner, return_exceptions=True)
        await http.close()


async def read_all(command: RemoteCommand, name: str) -> bytes:
    parts = []
    while data := await command.read(name):
        parts.append(data)
    return b"".join(parts)


def exit_code(status: dict[str, Any]) -> str:
    return str(status["details"]["causes"][0]["message"])


def test_exec_carries_streams_apart_and_the_exit_code() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("x", "cmd", stdin=True)
        options = Options(stdin=True, stdout=True, stderr=True)
        command = ["cmd", "/c", "echo out& echo err>&2& findstr x& exit 3"]
        url = (
            await node.cri.Exec(
                {"container_id": container, "cmd": command, "stdin": True, "stdout": True,
                 "stderr": True}
            )
        )["url"]  # fmt: skip
        async with session(url, options) as remote:
            await remote.close_stdin()
            out, err = await asyncio.gather(read_all(remote, "stdout"), read_all(remote, "stderr"))
            status = await remote.status()
        assert out.startswith(b"out\r\n")
        assert err.startswith(b"err\r\n")
        assert exit_code(status) == "3"

    on_node(test)


def test_exec_that_cannot_be_or_ends_below_zero_is_told_as_containerd_does() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("n", "cmd", stdin=True)
        options = Options(stdout=True, stderr=True)
        request = {"container_id": container, "stdout": True, "stderr": True}
        url = (await node.cri.Exec({**request, "cmd": ["cmd", "/c", "exit -5"]}))["url"]
        async with session(url, options) as remote:
            assert exit_code(await remote.status()) == "4294967291"
        url = (await node.cri.Exec({**request, "cmd": ["nosuch.exe"]}))["url"]
        async with session(url, options) as remote:
            message = (await remote.status())["message"]
        assert message.startswith(
            "Internal error occurred: error executing command in container: failed to exec in "
        )
        assert message.endswith("The system cannot find the file specified.: unknown")

    on_node(test)


def test_exec_with_a_terminal_takes_input_and_a_size() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("t", "cmd", stdin=True)
        request = {"container_id": container, "cmd": ["cmd"], "stdin": True, "stdout": True,
                   "tty": True}  # fmt: skip
        url = (await node.cri.Exec(request))["url"]
        async with session(url, Options(stdin=True, stdout=True, tty=True)) as remote:
            await remote.resize(91, 20)
            await _until(remote, b">")
            await remote.write_stdin(b"echo 6%OS%9\r")
            await _until(remote, b"6Windows_NT9")
            await remote.write_stdin(b"exit 4\r")
            await read_all(remote, "stdout")
            assert exit_code(await remote.status()) == "4"

    on_node(test)


async def _until(remote: RemoteCommand, text: bytes) -> None:
    seen = b""
    while text not in seen:
        data = await remote.read("stdout")
        assert data, (seen, await remote.status())
        seen += data


def test_attach_shows_output_and_gives_input() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("a", "cmd", stdin=True, stdin_once=True)
        request = {"container_id": container, "stdin": True, "stdout": True, "stderr": True}
        url = (await node.cri.Attach(request))["url"]
        async with session(url, Options(stdin=True, stdout=True, stderr=True)) as remote:
            await remote.write_stdin(b"echo attached\r\n")
            await _until(remote, b"attached\r\n")
            await remote.write_stdin(b"exit 6\r\n")
            await read_all(remote, "stdout")
            assert (await remote.status())["status"] == "Success"
        assert (await node.ended(container))["exit_code"] == 6

    on_node(test)


def test_port_forward_reaches_into_the_pod_and_names_a_closed_port() -> None:
    async def test(node: Lab) -> None:
        script = (
            "$l = New-Object System.Net.HttpListener; $l.Prefixes.Add('http://*:80/'); $l.Start();"
            "while ($l.IsListening) { $c = $l.GetContext(); $c.Response.Close() }"
        )
        container = await node.run("f", "powershell", "-c", script)
        [sandbox] = (await node.cri.ListPodSandbox({}))["items"]
        url = (await node.cri.PortForward({"pod_sandbox_id": sandbox["id"], "port": [80]}))["url"]
        headers = {**SPDY_HEADERS, "X-Stream-Protocol-Version": PROTOCOL}
        http = HttpClient()
        answer = await http.upgrade("POST", url, headers=headers)
        assert isinstance(answer, Upgraded)
        connection = SpdyConnection(StreamDuplex(answer.reader, answer.writer), client=True)
        runner = asyncio.ensure_future(connection.run())
        try:
            reply, _ = await _forward(connection, "80", "1")
            for _ in range(600):  # until it listens
                if reply:
                    break
                await asyncio.sleep(0.05)
                reply, _ = await _forward(connection, "80", "1")
            assert reply.startswith(b"HTTP/1.1 200")
            reply, error = await _forward(connection, "81", "2")
            assert reply == b""
            assert b"error forwarding port 81" in error
            assert b"127.0.0.1:81 because connectex: No connection could be made" in error
            assert (await node.status(container))["id"] == container
        finally:
            await connection.close()
            runner.cancel()
            await asyncio.gather(runner, return_exceptions=True)
            await http.close()

    on_node(test)


async def _forward(connection: SpdyConnection, port: str, request: str) -> tuple[bytes, bytes]:
    common = {"port": port, "requestid": request}
    error = await connection.open({"streamtype": "error", **common})
    data = await connection.open({"streamtype": "data", **common})
    await error.close_write()
    await data.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    reply, problem = b"", b""
    while piece := await data.read():
        reply += piece
    while piece := await error.read():
        problem += piece
    return reply, problem
