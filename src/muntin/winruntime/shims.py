"""The node process' side of shims: start containers and pause processes, follow, attach, resize.

The starter that forks shims is run when it is needed and ends when it is idle; this side holds
the listening socket, so that a request waits for the starter and none is lost between two.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muntin.kit import files
from muntin.kit.errors import Internal, NotFound, Unavailable
from muntin.winruntime.shim.frames import MAX_LINE_BYTES, line

STARTER = Path(__file__).parent / "shim"
PYTHON = "/usr/bin/python3"
_SOCKET_NAME_LENGTH = 24  # of the container's id; a socket path has room for 107 bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A user's connection to a running container."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class Shims:
    """All shims of one node."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / "shims"
        self._starter: asyncio.subprocess.Process | None = None
        self._listener: socket.socket | None = None
        self._lock = asyncio.Lock()

    def open(self) -> None:
        """Make the socket that starters are asked on; one of a former node process goes."""
        files.make_private_folder(self._folder)  # shims' sockets are there, too
        path = self._starter_socket
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(128)

    async def close(self) -> None:
        """Let the starter go; shims stay."""
        if self._listener:
            self._listener.close()
        if self._starter and self._starter.returncode is None:
            with suppress(ProcessLookupError):
                self._starter.terminate()
            await self._starter.wait()

    def socket_path(self, container_id: str) -> Path:
        """Where the container's shim listens."""
        return self._folder / container_id[:_SOCKET_NAME_LENGTH]

    async def warm_up(self) -> None:
        """Have a starter running, so that the next container need not wait for it."""
        async with self._lock:
            if self._starter is None or self._starter.returncode is not None:
                assert self._listener is not None
                fd = self._listener.fileno()
                self._starter = await asyncio.create_subprocess_exec(
                    PYTHON, "-ISE", str(STARTER), str(fd),
                    pass_fds=(fd,), stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip

    async def start_container(self, folder: Path) -> tuple[dict[str, Any], Following]:
        """The shim's answer, and a way to wait for the container's end.

        Raises:
            Unavailable: no shim could be started.
        """
        reader, writer = await self._ask({"op": "container", "folder": str(folder)})
        try:
            return await _answer(reader), Following(reader, writer)
        except BaseException:
            writer.close()
            raise

    async def start_pause(self, *, netns: str, hostname: str, program: Path) -> int:
        """The pid of a new pause process.

        Raises:
            Internal: it could not enter the namespaces.
        """
        request: dict[str, object] = {
            "op": "pause",
            "netns": netns,
            "hostname": hostname,
            "program": str(program),
        }
        reader, writer = await self._ask(request)
        try:
            answer = await _answer(reader)
        finally:
            writer.close()
        if error := answer.get("error"):
            raise Internal(f"cannot start the pause process: {error}")
        return int(answer["pid"])

    async def _ask(
        self, request: dict[str, object]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        await self.warm_up()
        reader, writer = await asyncio.open_unix_connection(str(self._starter_socket))
        writer.write(line(request))
        await writer.drain()
        # A starter that ended between the look and the request left it in the queue.
        await self.warm_up()
        return reader, writer

    @property
    def _starter_socket(self) -> Path:
        return self._folder / "starter"

    @asynccontextmanager
    async def attach(self, container_id: str) -> AsyncIterator[Attachment]:
        """A connection that carries frames, until the block ends.

        Raises:
            NotFound: the container has no shim.
        """
        reader, writer = await self._connect(container_id, {"op": "attach"})
        try:
            await _answer(reader)
            yield Attachment(reader=reader, writer=writer)
        finally:
            writer.close()

    async def command(self, container_id: str, request: dict[str, object]) -> None:
        """Ask a shim for something short: ``resize`` or ``reopen``.

        Raises:
            NotFound: the container has no shim.
        """
        reader, writer = await self._connect(container_id, request)
        try:
            await _answer(reader)
        finally:
            writer.close()

    async def follow(self, container_id: str) -> Following | None:
        """A way to wait for the container's end; None if it has no shim any more."""
        try:
            reader, writer = await self._connect(container_id, {"op": "follow"})
        except NotFound:
            return None
        return Following(reader, writer)

    async def _connect(
        self, container_id: str, request: dict[str, object]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            reader, writer = await asyncio.open_unix_connection(str(self.socket_path(container_id)))
        except OSError as err:
            raise NotFound(f"container {container_id} is not running") from err
        writer.write(line(request))
        return reader, writer


async def _answer(reader: asyncio.StreamReader) -> dict[str, Any]:
    data = await reader.readline()
    if not data.endswith(b"\n"):
        raise Unavailable("the shim ended without an answer")
    return dict(json.loads(data))


class Following:
    """Waits for the end of one container."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ended(self) -> None:
        """Return when the container has ended, or its shim has."""
        with suppress(OSError):
            while await self._reader.read(MAX_LINE_BYTES):
                pass
        self._writer.close()
