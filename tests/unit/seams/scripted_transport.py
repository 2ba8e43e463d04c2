"""A Transport that answers by a script and keeps what it was asked."""

import asyncio
import contextlib
from dataclasses import dataclass, field

import orjson

from muntin.kit import errors
from muntin.seams.kube import Response, StreamResponse


def status(code, reason, message, causes=()):
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
        "details": {"causes": list(causes)},
    }


@dataclass
class ScriptedTransport:
    """``answers``: (status, object) or an exception each; ``streams``: lists of chunks or pauses.

    A stream item ``None`` holds the stream open until the test ends.
    """

    answers: list = field(default_factory=list)
    streams: list = field(default_factory=list)
    asked: list = field(default_factory=list)

    async def request(self, method, path, *, headers, body=b""):
        self.asked.append((method, path, orjson.loads(body) if body else None))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        code, obj = answer
        return Response(code, {}, obj if isinstance(obj, bytes) else orjson.dumps(obj))

    @contextlib.asynccontextmanager
    async def stream(self, method, path, *, headers, body=b""):
        self.asked.append((method, path, None))
        if not self.streams:
            await asyncio.Event().wait()
        script = self.streams.pop(0)
        if isinstance(script, Exception):
            raise script

        async def chunks():
            for chunk in script:
                if chunk is None:
                    await asyncio.Event().wait()
                yield chunk

        yield StreamResponse(200, {}, chunks())

    async def close(self):
        pass


def reset():
    return errors.Unavailable("connection reset")
