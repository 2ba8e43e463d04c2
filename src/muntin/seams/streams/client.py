"""Exec and attach as a client: SPDY towards a kubelet or a runtime, WebSocket towards a user.

:func:`translate` lets a WebSocket user talk to a server that speaks SPDY only, as the API server
does for kubelets (KEP-4006). :class:`RemoteCommand` is also what tests drive servers with.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.errors import Unavailable
from muntin.seams.streams.duplex import Duplex
from muntin.seams.streams.remotecommand import Options, Session, error_status
from muntin.seams.streams.spdy import SpdyConnection, SpdyStream

SPDY_HEADERS = {
    "Connection": "Upgrade",
    "Upgrade": "SPDY/3.1",
    "X-Stream-Protocol-Version": "v4.channel.k8s.io",
}
"""What a request must carry to be answered with a SPDY exec or attach session."""


class RemoteCommand:
    """The streams of one command on a server, over an upgraded connection."""

    def __init__(self, duplex: Duplex, options: Options) -> None:
        self._connection = SpdyConnection(duplex, client=True)
        self._options = options
        self._streams: dict[str, SpdyStream] = {}

    async def run(self) -> None:
        """Carry the connection; run it beside everything else."""
        await self._connection.run()

    async def open(self) -> None:
        """Open the streams that the options ask for."""
        wanted = ["error"]
        wanted += [name for name in ("stdin", "stdout") if getattr(self._options, name)]
        if self._options.stderr and not self._options.tty:
            wanted.append("stderr")
        if self._options.tty:
            wanted.append("resize")
        for name in wanted:
            self._streams[name] = await self._connection.open({"streamtype": name})

    async def read(self, name: str) -> bytes:
        """The next bytes of ``stdout``, ``stderr`` or ``error``; ``b""`` at its end."""
        stream = self._streams.get(name)
        return await stream.read() if stream else b""

    async def write_stdin(self, data: bytes) -> None:
        """Send input."""
        await self._streams["stdin"].write(data)

    async def close_stdin(self) -> None:
        """Say that no more input comes."""
        if stream := self._streams.get("stdin"):
            await stream.close_write()

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the size of the user's terminal."""
        if stream := self._streams.get("resize"):
            await stream.write(json.dumps({"Width": columns, "Height": rows}).encode() + b"\n")

    async def status(self) -> dict[str, Any]:
        """The final Status; an empty error stream means success."""
        parts = []
        while data := await self.read("error"):
            parts.append(data)
        if not parts:
            return {"metadata": {}, "status": "Success"}
        try:
            status: dict[str, Any] = json.loads(b"".join(parts))
        except ValueError:
            return error_status(b"".join(parts).decode("utf-8", "replace"))
        return status

    async def close(self) -> None:
        """Hang up."""
        await self._connection.close()


async def translate(
    session: Session,
    duplex: Duplex,
    options: Options,
    said: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict,
) -> None:
    """Carry a user's ``session`` over a SPDY server's ``duplex`` until the command ends.

    ``said`` is what the user is told of the server's final Status.
    """
    command = RemoteCommand(duplex, options)

    async def stdin() -> None:
        async for data in session.stdin():
            await command.write_stdin(data)
        await command.close_stdin()

    async def sizes() -> None:
        async for columns, rows in session.sizes():
            await command.resize(columns, rows)

    async def output(name: str) -> None:
        while data := await command.read(name):
            await (session.stdout if name == "stdout" else session.stderr)(data)

    runner = asyncio.ensure_future(command.run())
    inward: list[asyncio.Future[Any]] = []
    try:
        await command.open()
        if options.stdin:
            inward.append(asyncio.ensure_future(stdin()))
        if options.tty:
            inward.append(asyncio.ensure_future(sizes()))
        async with asyncio.TaskGroup() as group:
            group.create_task(output("stdout"))
            group.create_task(output("stderr"))
            final = group.create_task(command.status())
        await session.finish(said(final.result()))
    except* Unavailable:
        pass  # one side is gone; closing tells the other
    finally:
        await command.close()
        for task in (*inward, runner):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*inward, runner, return_exceptions=True)
