"""The proxy subresource of pods, services and nodes: an HTTP request passed on as it is.

Answers are streamed; an upgraded connection is tunnelled. Links in answers are left
alone, redirects to absolute paths are rewritten to stay below the proxy's own path.
Source: kubernetes v1.34 staging/src/k8s.io/apimachinery/pkg/util/proxy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

from muntin.kit.http.client import Headers, HttpClient, HttpResponse
from muntin.kit.http.messages import Answer, Request, Response, Upgrade
from muntin.seams.streams.duplex import StreamDuplex, relay

HOP_BY_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
    ]
)
# The API server's own credentials and the user's must not reach a workload.
PRIVATE = frozenset({"authorization", "host", "cookie"})
TIMEOUT_S = 30.0


async def proxy(
    request: Request, client: HttpClient, url: str, prefix: str, more: Headers | None = None
) -> Answer:
    """Send ``request`` on to ``url``; ``prefix`` is the proxy's own path, for redirects, and
    ``more`` are headers of our own.

    Raises:
        Unavailable, TimedOut: nobody answers there.
    """
    headers: dict[str, str | tuple[str, ...]] = {**_forwarded(request), **(more or {})}
    if request.upgrade:
        return await _upgrade(request, client, url, headers)
    stack = AsyncExitStack()
    try:
        answer = await stack.enter_async_context(
            client.stream(
                request.method, url, headers=headers, body=request.body, timeout_s=TIMEOUT_S
            )
        )
    except BaseException:
        await stack.aclose()
        raise

    async def body() -> AsyncIterator[bytes]:
        async with stack:
            async for piece in answer.chunks:
                yield piece

    return Response(answer.status, _returned(answer.headers, prefix), body())


async def _upgrade(request: Request, client: HttpClient, url: str, headers: Headers) -> Answer:
    protocol = request.headers.get("upgrade", "")
    wanted = {**headers, "Connection": "Upgrade", "Upgrade": protocol}
    upstream = await client.upgrade(request.method, url, headers=wanted, timeout_s=TIMEOUT_S)
    if isinstance(upstream, HttpResponse):
        return Response(upstream.status, _returned(upstream.headers, ""), upstream.body)
    target = StreamDuplex(upstream.reader, upstream.writer)

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await relay(StreamDuplex(reader, writer), target)

    return Upgrade(protocol, run, _returned(upstream.headers, ""))


def _forwarded(request: Request) -> dict[str, str]:
    kept = {
        name: value
        for name, value in request.headers.items()
        if name not in HOP_BY_HOP and name not in PRIVATE
    }
    earlier = request.headers.get("x-forwarded-for")
    kept["x-forwarded-for"] = f"{earlier}, {request.remote}" if earlier else request.remote
    return kept


def _returned(headers: Mapping[str, str], prefix: str) -> dict[str, str]:
    kept = {name: value for name, value in headers.items() if name not in HOP_BY_HOP}
    location = kept.get("location", "")
    if prefix and location.startswith("/") and not urlsplit(location).netloc:
        kept["location"] = prefix.rstrip("/") + location
    return kept
