"""Runs one more program in a running container, for ExecSync and for the streaming server."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from muntin.seams.cri import Unknown
from muntin.winruntime import child
from muntin.winruntime.base.users import user_named
from muntin.winruntime.child import Child
from muntin.winruntime.containers import memory_limit, program_of
from muntin.winruntime.exit_codes import signed, windows_error
from muntin.winruntime.launch import Program, launch
from muntin.winruntime.node import Node
from muntin.winruntime.records import ContainerRecord
from muntin.winruntime.runc import last_line
from muntin.winruntime.shim.control import Control, sealed
from muntin.winruntime.warm_wine import Memory

READ_BYTES = 65536
LAST_OUTPUT_S = 0.03
"""All output is in the pipes when the program has ended; this is the time to read it."""
_FAILED = "failed "

Write = Callable[[bytes], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One exec: the words that make runc start it, and what the program inherits from 3 on."""

    container_id: str
    tag: str
    pid_file: Path
    command: Sequence[str]
    control: Control
    files: Sequence[int]
    is_inside: bool

    def failure(self, errors: bytes) -> Unknown:
        """What to raise when runc could not start it."""
        return Unknown(
            f'failed to exec in container: failed to start exec "{self.tag}": {last_line(errors)}'
        )


@dataclass(slots=True, kw_only=True)
class Running:
    """A program that was started in a container; ``stdin`` where it was asked for."""

    prepared: Prepared
    process: Child
    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader

    async def show(self, stdout: Write, stderr: Write) -> int:
        """Pass the outputs on until the program has ended; gives its exit code.

        What the program leaves running (Wine's services among it) may keep the pipes open: what
        comes after the end is not waited for.

        Raises:
            Unknown: the program could not be started, in the words of HCS.
        """
        copies = [
            asyncio.ensure_future(_copy(self.stdout, stdout)),
            asyncio.ensure_future(_copy(self.stderr, stderr)),
        ]
        try:
            code = await self.process.wait()
            await asyncio.wait(copies, timeout=LAST_OUTPUT_S)
        finally:
            for copy in copies:
                copy.cancel()
            results = await asyncio.gather(*copies, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result
        return exit_code(self.prepared, code)


def exit_code(prepared: Prepared, code: int) -> int:
    """The program's signed 32-bit exit code, when runc has ended with ``code``.

    Raises:
        Unknown: the program could not be started, in the words of HCS.
    """
    status = prepared.control.status()
    if status.startswith(_FAILED):
        number = int(status.removeprefix(_FAILED))
        raise Unknown(
            f'failed to exec in container: failed to start exec "{prepared.tag}": '
            f"hcs::System::CreateProcess {prepared.container_id}: {windows_error(number)}: unknown"
        )
    return signed(int(status)) if status else code


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
async def prepared(
    node: Node, container: ContainerRecord, words: Sequence[str], *, terminal: bool = False
) -> AsyncIterator[Prepared]:
    """Make what runc and wcinit read; it goes at the end of the block."""
    tag = f"exec-{os.urandom(6).hex()}"
    folder = node.containers.folder(container.id)
    program, netns = exec_program(node, container, words, terminal), _netns(node, container)
    if container.inside and not program.is_inside:
        user = program.user
        memory = Memory(node.cgroups, node.cgroup(container.id), memory_limit(container))
        await node.warm_wine.ensure(container.id, netns, folder, user.name, user.uid, memory)
    started = launch(program, is_first=False)
    process_file, pid_file = folder / f"{tag}.json", folder / f"{tag}.pid"
    with ExitStack() as stack:
        stack.callback(process_file.unlink, missing_ok=True)
        stack.callback(pid_file.unlink, missing_ok=True)
        process_file.write_bytes(orjson.dumps(started.process.document()))
        control = Control()
        stack.callback(control.close)
        files = [control.theirs.fileno()]
        if started.start_file:
            files.append(sealed(started.start_file))
            stack.callback(os.close, files[-1])
        options = ["--process", str(process_file), "--pid-file", str(pid_file)]
        options += ["--preserve-fds", str(len(files))]
        yield Prepared(
            container_id=container.id,
            tag=tag,
            pid_file=pid_file,
            command=node.runc.exec_command(netns, *options, container.id),
            control=control,
            files=files,
            is_inside=program.is_inside,
        )


def _netns(node: Node, container: ContainerRecord) -> str:
    return node.sandboxes.get(container.sandbox_id).netns


@asynccontextmanager
async def running(
    node: Node, container: ContainerRecord, words: Sequence[str], *, stdin: bool
) -> AsyncIterator[Running]:
    """Start a program with pipes; it is killed if it still runs at the end of the block."""
    async with prepared(node, container, words) as ready, AsyncExitStack() as stack:
        stdout, stdout_end = await _reading_pipe(stack)
        stderr, stderr_end = await _reading_pipe(stack)
        writer, stdin_end = await _writing_pipe(stack) if stdin else (None, None)
        if stdin_end is None:
            stdin_end = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        standard = [stdin_end, stdout_end, stderr_end]
        try:
            process = child.start(ready.command, [*standard, *ready.files])
        finally:
            for fd in standard:
                os.close(fd)
        stack.push_async_callback(end, process, ready)
        yield Running(prepared=ready, process=process, stdin=writer, stdout=stdout, stderr=stderr)


async def end(process: Child, ready: Prepared) -> None:
    """Make sure that a program does not run any more."""
    if process.returncode is None:
        with suppress(OSError, ValueError):
            os.kill(int(ready.pid_file.read_text()), signal.SIGKILL)
        process.kill()
        await process.wait()


async def _reading_pipe(stack: AsyncExitStack) -> tuple[asyncio.StreamReader, int]:
    """Our end as a reader, and theirs."""
    ours, theirs = os.pipe()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", 0)
    )
    stack.callback(transport.close)
    return reader, theirs


async def _writing_pipe(stack: AsyncExitStack) -> tuple[asyncio.StreamWriter, int]:
    """Our end as a writer, and theirs."""
    theirs, ours = os.pipe()
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(), os.fdopen(ours, "wb", 0)
    )
    stack.callback(transport.close)
    return asyncio.StreamWriter(transport, protocol, None, loop), theirs


async def _copy(reader: asyncio.StreamReader, write: Write) -> None:
    while data := await reader.read(READ_BYTES):
        await write(data)
