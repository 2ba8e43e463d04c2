"""The proxy subresource of pods, services and nodes: an HTTP request passed on as it is.

Answers are streamed; an upgraded connection is tunnelled. Redirects, and the links of pages in
HTML, are rewritten to stay below the proxy's own path; pages are held back for that.
Source: kubernetes v1.34 staging/src/k8s.io/apimachinery/pkg/util/proxy.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

from muntin.apiserver.subresources.links import rewritten, rewritten_page
from muntin.kit import urls
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
# A page that is longer is passed on as it is: nobody could hold any number of them.
LONGEST_PAGE_BYTES = 4 * 1024 * 1024


async def proxy(
    request: Request, client: HttpClient, url: str, prefix: str, more: Headers | None = None
) -> Answer:
    """Send ``request`` on to ``url``; ``prefix`` is the proxy's own path, for redirects and links
    (empty: they are left alone), and ``more`` are headers of our own.

    Raises:
        Unavailable, TimedOut: nobody answers there.
    """
    sent: dict[str, str | tuple[str, ...]] = {**_forwarded(request), **(more or {})}
    if prefix:
        sent["x-forwarded-uri"] = request.path
    if request.upgrade:
        return await _upgrade(request, client, url, sent)
    stack = AsyncExitStack()
    try:
        answer = await stack.enter_async_context(
            client.stream(request.method, url, headers=sent, body=request.body, timeout_s=TIMEOUT_S)
        )
    except BaseException:
        await stack.aclose()
        raise

    hosts = (urls.split(url).netloc, request.headers.get("host", ""))
    headers = _returned(answer.headers, prefix, hosts)
    if prefix and "location" not in headers and _is_page(headers):
        return await _page(
            Response(answer.status, headers, b""), answer.chunks, stack, prefix, hosts
        )

    async def body() -> AsyncIterator[bytes]:
        async with stack:
            async for piece in answer.chunks:
                yield piece

    return Response(answer.status, headers, body())


def _is_page(headers: Mapping[str, str]) -> bool:
    kind = headers.get("content-type", "").partition(";")[0].strip()
    return kind == "text/html" and headers.get("content-encoding", "") in ("", "gzip")


async def _page(
    answer: Response,
    chunks: AsyncIterator[bytes],
    stack: AsyncExitStack,
    prefix: str,
    hosts: tuple[str, ...],
) -> Response:
    """The answer with its page, as UTF-8 like upstream takes it, led through the proxy."""
    pieces: list[bytes] = []
    size = 0
    async for piece in chunks:
        pieces.append(piece)
        size += len(piece)
        if size > LONGEST_PAGE_BYTES:
            answer.body = _rest(pieces, chunks, stack)
            return answer
    await stack.aclose()
    answer.body = await asyncio.to_thread(_led, b"".join(pieces), answer.headers, prefix, hosts)
    return answer


async def _rest(
    pieces: list[bytes], chunks: AsyncIterator[bytes], stack: AsyncExitStack
) -> AsyncIterator[bytes]:
    async with stack:
        for piece in pieces:
            yield piece
        async for piece in chunks:
            yield piece


def _led(body: bytes, headers: Mapping[str, str], prefix: str, hosts: tuple[str, ...]) -> bytes:
    packed = headers.get("content-encoding") == "gzip"
    if packed:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            page = unpacker.decompress(body, LONGEST_PAGE_BYTES)
        except zlib.error:
            return body
        if unpacker.unconsumed_tail:
            return body
    else:
        page = body
    text = page.decode("utf-8", "surrogateescape")
    led = rewritten_page(text, prefix, hosts).encode("utf-8", "surrogateescape")
    return gzip.compress(led, 1) if packed else led


async def _upgrade(request: Request, client: HttpClient, url: str, headers: Headers) -> Answer:
    protocol = request.headers.get("upgrade", "")
    wanted = {**headers, "Connection": "Upgrade", "Upgrade": protocol}
    upstream = await client.upgrade(request.method, url, headers=wanted, timeout_s=TIMEOUT_S)
    if isinstance(upstream, HttpResponse):
        return Response(upstream.status, _returned(upstream.headers, "", ()), upstream.body)
    target = StreamDuplex(upstream.reader, upstream.writer)

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await relay(StreamDuplex(reader, writer), target)

    return Upgrade(protocol, run, _returned(upstream.headers, "", ()))


def _forwarded(request: Request) -> dict[str, str]:
    kept = {
        name: value
        for name, value in request.headers.items()
        if name not in HOP_BY_HOP and name not in PRIVATE
    }
    earlier = request.headers.get("x-forwarded-for")
    kept["x-forwarded-for"] = f"{earlier}, {request.remote}" if earlier else request.remote
    return kept


def _returned(headers: Mapping[str, str], prefix: str, hosts: tuple[str, ...]) -> dict[str, str]:
    kept = {name: value for name, value in headers.items() if name not in HOP_BY_HOP}
    if prefix and kept.get("location"):
        kept["location"] = rewritten(kept["location"], prefix, hosts)
    return kept
