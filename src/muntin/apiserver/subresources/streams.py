"""exec, attach and portforward: from the user to the node's kubelet.

A user who speaks SPDY is tunnelled as is; one who speaks WebSocket is translated, because kubelets
understand SPDY (KEP-4006, as kube-apiserver does since 1.30). What a kubelet refuses is passed on
as it is, or said on the error stream of a translated session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from muntin.kit.http.client import HttpClient, HttpResponse, Upgraded
from muntin.kit.http.messages import Answer, Request, Response, Upgrade
from muntin.seams.streams import portforward, portforward_channels, remotecommand
from muntin.seams.streams.client import SPDY_HEADERS, translate
from muntin.seams.streams.duplex import Duplex, StreamDuplex, relay
from muntin.seams.streams.remotecommand import Options, Session, error_status
from muntin.seams.streams.websocket import MessageDuplex, WebSocket, offered

CONNECT_TIMEOUT_S = 15.0


def parse_options(query: Mapping[str, list[str]]) -> Options:
    """The streams that a PodExecOptions or PodAttachOptions query asks for."""

    def wants(name: str) -> bool:
        return any(value in ("true", "1", "True") for value in query.get(name, ()))

    return Options(
        stdin=wants("stdin"), stdout=wants("stdout"), stderr=wants("stderr"), tty=wants("tty")
    )


async def remote_command(
    request: Request, client: HttpClient, url: str, options: Options, protocols: Sequence[str]
) -> Answer:
    """Answer an exec or attach ``request`` by the kubelet's ``url``.

    ``protocols`` are what users may speak over a WebSocket.

    Raises:
        Invalid: the request asks for no upgrade, or for one that nobody speaks.
        Unavailable, TimedOut: the kubelet cannot be reached.
    """
    if request.headers.get("upgrade", "").lower() != "websocket":
        remotecommand.accept(request.headers, options)
        return await _tunnel(request, client, url)
    accepted = remotecommand.accept(request.headers, options, protocols)
    said = _said_anew if remotecommand.TRANSLATED in accepted.headers.values() else _as_it_is
    upstream = await _upgrade(client, url, SPDY_HEADERS)

    async def serve(duplex: Duplex) -> None:
        async def handle(session: Session) -> None:
            if isinstance(upstream, HttpResponse):
                text = f"unable to upgrade connection: {_text(upstream)}"
                await session.finish(error_status(f"Internal error occurred: {text}"))
                return
            target = StreamDuplex(upstream.reader, upstream.writer)
            await translate(session, target, options, said)

        await accepted.serve(duplex, handle)

    return _upgraded(accepted.protocol, accepted.headers, serve)


def _as_it_is(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return status


def _said_anew(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a translated session says of a kubelet's failure that is no exit code.

    Source: kubernetes v1.34 apiserver pkg/util/proxy/streamtranslator.go.
    """
    if status.get("status") != "Failure" or status.get("reason") == "NonZeroExitCode":
        return status
    return error_status(f"Internal error occurred: {status.get('message', '')}")


async def port_forward(
    request: Request, client: HttpClient, url: str, ports: Sequence[str]
) -> Answer:
    """Answer a portforward ``request`` by the kubelet's ``url``; errors as remote_command's.

    ``ports`` are those of the query: only users who forward in channels name them there.
    """
    if _in_channels(request):
        return await _forward_in_channels(
            request, client, url, portforward_channels.parse_ports(ports)
        )
    accepted = portforward.accept(request.headers)
    if accepted.protocol != "websocket":
        return await _tunnel(request, client, url)
    upstream = await _upgrade(client, url, _PORT_FORWARD_HEADERS)
    if isinstance(upstream, HttpResponse):
        return _refusal(upstream)
    target = StreamDuplex(upstream.reader, upstream.writer)

    async def serve(duplex: Duplex) -> None:
        await relay(MessageDuplex(WebSocket(duplex)), target)

    return _upgraded(accepted.protocol, accepted.headers, serve)


_PORT_FORWARD_HEADERS = {**SPDY_HEADERS, "X-Stream-Protocol-Version": portforward.PROTOCOL}


def _in_channels(request: Request) -> bool:
    is_websocket = request.headers.get("upgrade", "").lower() == "websocket"
    return is_websocket and portforward.TUNNEL not in offered(request.headers)


async def _forward_in_channels(
    request: Request, client: HttpClient, url: str, ports: Sequence[int]
) -> Answer:
    protocol, answer_headers = portforward_channels.accept(request.headers)
    upstream = await _upgrade(client, url, _PORT_FORWARD_HEADERS)
    if isinstance(upstream, HttpResponse):
        return _refusal(upstream)
    target = StreamDuplex(upstream.reader, upstream.writer)

    async def serve(duplex: Duplex) -> None:
        await portforward_channels.bridge(duplex, protocol, ports, target)

    return _upgraded("websocket", answer_headers, serve)


async def _tunnel(request: Request, client: HttpClient, url: str) -> Answer:
    versions = request.headers.get("x-stream-protocol-version", "")
    headers = {**SPDY_HEADERS, "X-Stream-Protocol-Version": versions}
    upstream = await _upgrade(client, url, headers)
    if isinstance(upstream, HttpResponse):
        return _refusal(upstream)
    target = StreamDuplex(upstream.reader, upstream.writer)
    chosen = upstream.headers.get("x-stream-protocol-version", "")

    async def serve(duplex: Duplex) -> None:
        await relay(duplex, target)

    return _upgraded("SPDY/3.1", {"X-Stream-Protocol-Version": chosen}, serve)


async def _upgrade(
    client: HttpClient, url: str, headers: Mapping[str, str]
) -> Upgraded | HttpResponse:
    return await client.upgrade("POST", url, headers=headers, timeout_s=CONNECT_TIMEOUT_S)


def _upgraded(
    protocol: str, headers: Mapping[str, str], serve: Callable[[Duplex], Awaitable[None]]
) -> Upgrade:
    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve(StreamDuplex(reader, writer))

    return Upgrade(protocol, run, headers)


def _refusal(answer: HttpResponse) -> Response:
    """The kubelet's own answer; clients show its text."""
    headers = {"Content-Type": answer.headers.get("content-type", "text/plain")}
    return Response(answer.status, headers, answer.body)


def _text(answer: HttpResponse) -> str:
    return answer.body.decode("utf-8", "replace").strip() or f"kubelet answered {answer.status}"
