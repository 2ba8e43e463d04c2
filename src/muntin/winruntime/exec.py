"""Runs one more program in a running container, for ExecSync and for the streaming server."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import struct
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from muntin.kit.errors import Internal
from muntin.seams.cri import Unknown
from muntin.winruntime.base.users import user_named
from muntin.winruntime.containers import program_of
from muntin.winruntime.exit_codes import signed, windows_error
from muntin.winruntime.launch import Program, launch
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord
from muntin.winruntime.runc import last_line

_TERMINAL_WAIT_S = 10.0
_FAILED = "failed "


@dataclass(slots=True, kw_only=True)
class Running:
    """A program that was started in a container."""

    process: asyncio.subprocess.Process
    tag: str
    run_folder: Path
    pid_file: Path
    container_id: str
    terminal_fd: int = -1

    async def exit_code(self) -> int:
        """Wait for the end; a signed 32-bit number.

        Raises:
            Unknown: the program could not be started, in the words of HCS.
        """
        code = await self.process.wait()
        try:
            status = (self.run_folder / f"{self.tag}.status").read_text().strip()
        except OSError:
            return code
        if status.startswith(_FAILED):
            raise start_error(self.container_id, self.tag, int(status.removeprefix(_FAILED)))
        return signed(int(status)) if status.isdigit() else code

    def kill(self) -> None:
        """End the program; ended already is fine."""
        with suppress(OSError, ValueError):
            os.kill(int(self.pid_file.read_text()), signal.SIGKILL)
        with suppress(ProcessLookupError):
            self.process.kill()

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program's terminal its size."""
        if self.terminal_fd >= 0:
            size = struct.pack("HHHH", rows, columns, 0, 0)
            fcntl.ioctl(self.terminal_fd, termios.TIOCSWINSZ, size)


def start_error(container_id: str, exec_id: str, number: int) -> Unknown:
    """Why a program could not be started."""
    return Unknown(
        f'failed to exec in container: failed to start exec "{exec_id}": '
        f"hcs::System::CreateProcess {container_id}: {windows_error(number)}: unknown"
    )


def exec_program(
    node: Node, container: ContainerRecord, words: Sequence[str], terminal: bool
) -> Program:
    """``words`` as they run in the container: its environment, directory and user.

    Raises:
        Unknown: the container's image is gone.
    """
    image = node.images.find(container.image_id)
    sandbox = node.sandboxes.get(container.sandbox_id)
    if image is None:
        raise Unknown(f"image {container.image_id} of container {container.id} is gone")
    own = program_of(container, sandbox, image, user_named(container.user), node.config.node_name)
    return Program(
        words=list(words),
        env=own.env,
        directory=own.directory,
        user=own.user,
        hostname=own.hostname,
        terminal=terminal,
    )


@asynccontextmanager
async def running(
    node: Node,
    container: ContainerRecord,
    words: Sequence[str],
    *,
    stdin: bool,
    terminal: bool = False,
) -> AsyncIterator[Running]:
    """Start a program; it is killed if it still runs at the end of the block."""
    tag = f"exec-{os.urandom(6).hex()}"
    folder = node.containers.folder(container.id)
    run_folder = folder / "run"
    started = launch(exec_program(node, container, words, terminal), tag, is_first=False)
    files = {
        run_folder / f"{tag}.start": started.start_file,
        folder / f"{tag}.json": orjson.dumps(started.process.document()),
    }
    for path, content in files.items():
        path.write_bytes(content)
    pid_file = folder / f"{tag}.pid"
    options = ["--process", str(folder / f"{tag}.json"), "--pid-file", str(pid_file)]
    found: Running | None = None
    try:
        if terminal:
            process, fd = await _start_with_terminal(node, container, options, tag)
        else:
            process, fd = await _start(node, container, options, stdin), -1
        found = Running(
            process=process, tag=tag, run_folder=run_folder, pid_file=pid_file,
            container_id=container.id, terminal_fd=fd,
        )  # fmt: skip
        yield found
    finally:
        if found and found.process.returncode is None:
            found.kill()
            await found.process.wait()
        if found and found.terminal_fd >= 0:
            os.close(found.terminal_fd)
        for path in (*files, pid_file, run_folder / f"{tag}.status"):
            path.unlink(missing_ok=True)


async def _start(
    node: Node, container: ContainerRecord, options: list[str], stdin: bool
) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *node.runc.command("exec", *options, container.id),
        stdin=pipe if stdin else asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
    )


async def _start_with_terminal(
    node: Node, container: ContainerRecord, options: list[str], tag: str
) -> tuple[asyncio.subprocess.Process, int]:
    path = node.shims.socket_path(f"{tag}.tty")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(1)
    listener.setblocking(False)
    process = await asyncio.create_subprocess_exec(
        *node.runc.command("exec", *options, "--console-socket", str(path), container.id),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_TERMINAL_WAIT_S):
            fd = await _receive_terminal(listener, process)
    except BaseException:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    finally:
        listener.close()
        path.unlink(missing_ok=True)
    attributes = termios.tcgetattr(fd)
    attributes[1] &= ~termios.ONLCR  # Wine ends lines with CR LF itself
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    return process, fd


async def _receive_terminal(listener: socket.socket, process: asyncio.subprocess.Process) -> int:
    loop = asyncio.get_running_loop()
    accepting = asyncio.ensure_future(loop.sock_accept(listener))
    ending = asyncio.ensure_future(process.wait())
    try:
        await asyncio.wait({accepting, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not accepting.done():
            errors = await process.stderr.read() if process.stderr else b""
            raise Internal(f"runc exec: {last_line(errors)}")
        peer, _ = accepting.result()
        with peer:
            readable = asyncio.Event()
            loop.add_reader(peer, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(peer)
            _, fds, _, _ = socket.recv_fds(peer, 4096, 1)
        return fds[0]
    finally:
        for task in (accepting, ending):
            task.cancel()
        await asyncio.gather(accepting, ending, return_exceptions=True)
