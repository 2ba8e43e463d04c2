"""A ``Transport`` into the server of this process: the same way as every request, without TLS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager

from muntin.apiserver.handler import Handler
from muntin.apiserver.request import User
from muntin.kit import errors
from muntin.kit.http import messages
from muntin.seams.kube import Response, StreamResponse

MOST_UNREAD = 4 * 1024 * 1024


class DirectTransport:
    """Requests of one user to ``handler``."""

    def __init__(self, handler: Handler, user: User) -> None:
        self._handler = handler
        self._user = user

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> Response:
        """One request, its whole answer."""
        answer = await self._answer(method, path, headers, body)
        found = answer.body
        if not isinstance(found, bytes):
            pieces = [piece async for piece in _pieces(answer)]
            found = b"".join(pieces)
        return Response(answer.status, _lower(answer.headers), found)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[StreamResponse]:
        """One request whose answer is read as it comes."""
        answer = await self._answer(method, path, headers, body)
        chunks = _pieces(answer)
        try:
            yield StreamResponse(answer.status, _lower(answer.headers), chunks)
        finally:
            await chunks.aclose()

    async def close(self) -> None:
        """There is nothing to drop."""

    async def _answer(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> messages.Response:
        plain, _, query = path.partition("?")
        request = messages.Request(
            method=method, path=plain, query=query, headers=_lower(headers), body=body
        )
        answer = await self._handler.as_user(request, self._user)
        if isinstance(answer, messages.Upgrade):
            raise errors.Unsupported(f"{method} {plain}: an upgrade needs a connection")
        return answer


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


async def _pieces(answer: messages.Response) -> AsyncGenerator[bytes, None]:
    body = answer.body
    if isinstance(body, bytes):
        if body:
            yield body
    elif isinstance(body, AsyncIterable):
        async for piece in body:
            yield piece
    else:
        async for piece in _pushed(body):
            yield piece


async def _pushed(push: messages.Push) -> AsyncIterator[bytes]:
    """What ``push`` writes; it is cancelled when nobody reads on."""
    writer = _Writer()
    task = asyncio.ensure_future(push(writer))
    task.add_done_callback(writer.end)
    try:
        while not writer.aborted:
            await writer.filled.wait()
            data = writer.take()
            if data:
                yield data
            elif task.done():
                await task
                return
        raise errors.Unavailable("the stream was cut: it was read too slowly")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class _Writer:
    """The BodyWriter of an answer that is read in process."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._taken = asyncio.Event()
        self.filled = asyncio.Event()
        self.aborted = False
        self._ended = False

    def write(self, data: bytes) -> None:
        self._data.append(data)
        self._size += len(data)
        self.filled.set()

    async def drain(self) -> None:
        while self._size > MOST_UNREAD // 4:
            self._taken.clear()
            await self._taken.wait()

    @property
    def buffered(self) -> int:
        return self._size

    def abort(self) -> None:
        self.aborted = True
        self.filled.set()

    def end(self, _: object) -> None:
        """The body is complete."""
        self._ended = True
        self.filled.set()

    def take(self) -> bytes:
        """All that was written and not taken yet."""
        data = b"".join(self._data)
        self._data.clear()
        self._size = 0
        self._taken.set()
        if not self._ended:
            self.filled.clear()
        return data
