"""Answers in gzip for clients that take it, made in a thread: only large ones are worth it.

Source: apiserver v1.34 pkg/endpoints/handlers/responsewriters/writers.go (threshold and level).
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterable, AsyncIterator, Mapping

from muntin.kit.http.messages import Answer, Request, Response

THRESHOLD_BYTES = 128 * 1024
_LEVEL = 1
_GZIP = 16 + zlib.MAX_WBITS


def is_accepted(request: Request) -> bool:
    """Whether the client of ``request`` takes gzip."""
    accepted = request.headers.get("accept-encoding", "")
    if "gzip" not in accepted:
        return False
    names = [part.partition(";") for part in accepted.split(",")]
    return any(
        name.strip() == "gzip" and rest.replace(" ", "") not in ("q=0", "q=0.0")
        for name, _, rest in names
    )


async def for_client(request: Request, answer: Answer) -> Answer:
    """``answer`` in gzip, if the client of ``request`` takes that and it is large."""
    if isinstance(answer, Response) and is_accepted(request):
        return await compressed(answer)
    return answer


async def compressed(answer: Response) -> Response:
    """``answer`` in gzip, if it is large and not compressed already."""
    body = answer.body
    if answer.status != 200 or "Content-Encoding" in answer.headers:
        return answer
    if isinstance(body, bytes):
        if len(body) > THRESHOLD_BYTES:
            answer.body = await _whole(body)
            answer.headers = marked(answer.headers)
    elif isinstance(body, AsyncIterable):
        first, rest, ended = await _beginning(body)
        if ended:
            answer.body = await _whole(first) if len(first) > THRESHOLD_BYTES else first
        else:
            answer.body = _pieces(first, rest)
        if not ended or len(first) > THRESHOLD_BYTES:
            answer.headers = marked(answer.headers)
    return answer


def marked(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer that is in gzip."""
    vary = headers.get("Vary", "")
    return {
        **headers,
        "Content-Encoding": "gzip",
        "Vary": f"{vary}, Accept-Encoding" if vary else "Accept-Encoding",
    }


async def _beginning(body: AsyncIterable[bytes]) -> tuple[bytes, AsyncIterator[bytes], bool]:
    """As much of ``body`` as it takes to see that it is large, the rest, and whether it ended."""
    pieces, size = [], 0
    rest = aiter(body)
    async for piece in rest:
        pieces.append(piece)
        size += len(piece)
        if size > THRESHOLD_BYTES:
            return b"".join(pieces), rest, False
    return b"".join(pieces), rest, True


async def _whole(body: bytes) -> bytes:
    found = [piece async for piece in _pieces(body, None)]
    return b"".join(found)


async def _pieces(first: bytes, rest: AsyncIterator[bytes] | None) -> AsyncIterator[bytes]:
    """Each piece is compressed while other requests run: zlib lets go of the interpreter."""
    loop = asyncio.get_running_loop()
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    if data := await loop.run_in_executor(None, packer.compress, first):
        yield data
    if rest is not None:
        async for piece in rest:
            if data := await loop.run_in_executor(None, packer.compress, piece):
                yield data
    yield await loop.run_in_executor(None, packer.flush)
