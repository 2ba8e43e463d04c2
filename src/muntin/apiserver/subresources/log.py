"""``log``: a container's log, passed on from its kubelet as it comes.

Over a WebSocket it comes in binary messages, or in base64 for those who cannot read them. One of
the two streams alone can be asked for as where upstream's PodLogsQuerySplitStreams is on.
Source: kubernetes v1.36 pkg/registry/core/pod/rest/log.go, pkg/apis/core/validation
ValidatePodLogOptions; streaming pkg/httpstream/wsstream.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from muntin.apiserver import status, watch_socket, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources.kubelets import container_of, kubelet_of
from muntin.kit import clock, errors, numbers
from muntin.kit.http.client import read_whole
from muntin.kit.http.messages import Answer, BodyWriter, Response, Upgrade
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources.lifecycle import version_of

if TYPE_CHECKING:
    from muntin.kit.http.client import StreamedResponse
    from muntin.seams.streams.websocket import WebSocket

_FLAGS = ("follow", "previous", "timestamps")
_NUMBERS = ("sinceSeconds", "tailLines", "limitBytes")
_STREAMS = ("All", "Stderr", "Stdout")
_BASE64 = "base64.binary.k8s.io"
_PROTOCOLS = ("binary.k8s.io", _BASE64)
_LEAST: tuple[tuple[str, int, str], ...] = (
    ("tailLines", 0, "must be greater than or equal to 0"),
    ("limitBytes", 1, "must be greater than 0"),
    ("sinceSeconds", 1, "must be greater than 0"),
)
_INT64 = 2**63
_MOST_TOLD = 64 * 1024  # bytes of a kubelet's refusal


async def run(core: Core, request: ApiRequest) -> Answer:
    """The log as plain text; ``follow`` keeps it open."""
    options = _options(core, request)
    await core.cache.fresh()
    pod = writes.find(core, request).object()
    container = container_of(pod, request.param("container"))
    node = pod["spec"].get("nodeName", "")
    if not node:
        return Response(204, {}, b"")
    kubelet = kubelet_of(core.cache, node, request.target)
    url = kubelet.url("containerLogs", request.namespace, request.name, container)
    client = core.kubelet_client(verify=not request.flag("insecureSkipTLSVerifyBackend"))
    query = f"?{urlencode(options)}" if options else ""
    stream = client.stream("GET", f"{url}{query}", headers={})
    try:
        answer = await stream.__aenter__()
    except (errors.Unavailable, errors.TimedOut) as err:
        text = f"Get {url!r}: {err.message}"
        raise status.ApiError(500, "InternalError", text) from err
    if answer.status != 200:
        try:
            text = (await read_whole(answer.chunks, _MOST_TOLD)).decode(errors="replace")
        finally:
            await stream.__aexit__(None, None, None)
        raise _refused(answer.status, text.strip())
    if watch_socket.is_asked(request.http):
        return _over_websocket(request, answer.chunks, stream)

    async def body(writer: BodyWriter) -> None:
        try:
            async for chunk in answer.chunks:
                writer.write(chunk)
                await writer.drain()
        finally:
            await stream.__aexit__(None, None, None)

    return Response(200, {"Content-Type": "text/plain"}, body)


def _over_websocket(
    request: ApiRequest,
    chunks: AsyncIterator[bytes],
    stream: AbstractAsyncContextManager[StreamedResponse],
) -> Upgrade:
    from muntin.seams.streams import websocket  # a library that few logs need
    from muntin.seams.streams.duplex import StreamDuplex

    offered = websocket.offered(request.http.headers)
    chosen = next((name for name in offered if name in _PROTOCOLS), "")

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        socket = websocket.WebSocket(StreamDuplex(reader, writer))
        sender = asyncio.create_task(_send(socket, chunks, as_text=chosen == _BASE64))
        listener = asyncio.create_task(watch_socket.until_closed(socket), name="log-websocket")
        try:
            await asyncio.wait((sender, listener), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sender, listener):
                task.cancel()
            await asyncio.gather(sender, listener, return_exceptions=True)
            await stream.__aexit__(None, None, None)
            socket.close()

    return Upgrade("websocket", run, websocket.accept_headers(request.http.headers, chosen))


async def _send(socket: WebSocket, chunks: AsyncIterator[bytes], *, as_text: bool) -> None:
    async for chunk in chunks:
        if as_text:
            socket.push_text(base64.b64encode(chunk).decode())
            await socket.drain()
        else:
            await socket.send(chunk)


def _options(core: Core, request: ApiRequest) -> list[tuple[str, str]]:
    """The options as the kubelet is asked.

    Raises:
        ApiError: 422 for options that cannot be, 400 for what is no number or time.
    """
    found = [(name, "true") for name in _FLAGS if request.flag(name)]
    numbers = {name: _number(request, name) for name in _NUMBERS}
    found += [(name, str(value)) for name, value in numbers.items() if value is not None]
    causes = []
    for field, least, text in _LEAST:
        value = numbers[field]
        if value is not None and value < least:
            message = f"Invalid value: {value}: {text}"
            causes.append(errors.Cause("FieldValueInvalid", field, message))
    if since := request.param("sinceTime"):
        found.append(("sinceTime", _time(since)))
        if numbers["sinceSeconds"] is not None:
            message = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
            causes.append(errors.Cause("FieldValueForbidden", "[]", message))
    if is_in(ApiFeature.LOG_STREAMS, version_of(core.schema.version)):
        wanted = request.param("stream") or "All"
        causes += _stream_causes(wanted, numbers["tailLines"])
        if wanted != "All":
            found.append(("stream", wanted))
    if causes:
        raise status.invalid_options("PodLogOptions", request.name, causes)
    return found


def _stream_causes(wanted: str, tail_lines: int | None) -> list[errors.Cause]:
    causes = []
    if wanted not in _STREAMS:
        known = ", ".join(f'"{name}"' for name in _STREAMS)
        message = f'Unsupported value: "{wanted}": supported values: {known}'
        causes.append(errors.Cause("FieldValueNotSupported", "stream", message))
    if wanted != "All" and tail_lines is not None:
        message = "Forbidden: `tailLines` and specific `stream` are mutually exclusive for now"
        causes.append(errors.Cause("FieldValueForbidden", "[]", message))
    return causes


def _number(request: ApiRequest, field: str) -> int | None:
    text = request.param(field)
    if not text:
        return None
    try:
        return numbers.parse_int(text)
    except errors.Invalid as err:
        raise status.bad_request(err.message) from err


def _time(text: str) -> str:
    try:
        clock.parse_rfc3339(text)
    except ValueError as err:
        why = f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}" as '
        raise status.bad_request(f'{why}"2006"') from err
    return text


def _refused(code: int, text: str) -> status.ApiError:
    reason = {400: "BadRequest", 404: "NotFound", 403: "Forbidden"}.get(code, "InternalError")
    return status.ApiError(code, reason, text or f"the kubelet answered {code}")
