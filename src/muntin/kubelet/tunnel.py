"""exec, attach and port-forward: the runtime says where, and the bytes go there and back.

The runtime's streaming server speaks what the client speaks (SPDY or WebSocket), so the upgraded
connection is passed on as it is.
Source: kubernetes v1.34 pkg/kubelet/server/server.go proxyStream.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from muntin.kit.http.client import HttpClient, HttpResponse
from muntin.kit.http.messages import Answer, Request, Response, Upgrade

PASSED_ON = ("upgrade", "connection", "content-type", "content-length", "user-agent")
HOP_HEADERS = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "upgrade"}
)
BLOCK = 64 * 1024
ANSWER_S = 30.0  # until the runtime has switched protocols


def upstream_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """What the runtime needs of the client's headers."""
    return {
        key: value
        for key, value in headers.items()
        if key in PASSED_ON or key.startswith(("x-stream-", "sec-websocket-"))
    }


async def tunnel(request: Request, url: str) -> Answer:
    """Ask ``url`` for the same upgrade and join the two connections.

    Raises:
        Unavailable, TimedOut: the runtime's streaming server does not answer.
    """
    client = HttpClient(keep_alive=False)
    upgraded = await client.upgrade(
        request.method,
        url,
        headers=upstream_headers(request.headers),
        body=request.body,
        timeout_s=ANSWER_S,
    )
    if isinstance(upgraded, HttpResponse):
        return Response(upgraded.status, _end_to_end(upgraded.headers), upgraded.body)

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _join(reader, writer, upgraded.reader, upgraded.writer)
        finally:
            upgraded.writer.close()
            await client.close()

    protocol = upgraded.headers.get("upgrade", request.headers.get("upgrade", ""))
    return Upgrade(protocol, run, _end_to_end(upgraded.headers))


def _end_to_end(headers: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key not in HOP_HEADERS}


async def _join(
    client_reader: asyncio.StreamReader,
    client_writer: asyncio.StreamWriter,
    runtime_reader: asyncio.StreamReader,
    runtime_writer: asyncio.StreamWriter,
) -> None:
    """Copy both ways; the end of either side is passed on, and both ends end it."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(client_reader, runtime_writer))
        group.create_task(_copy(runtime_reader, client_writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()  # TLS has no half-closed state
