"""Calls of runc: exec, kill, update, delete, and the process that an exec needs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from muntin.kit.errors import Internal, NotFound
from muntin.winruntime import child

_NSENTER = "/usr/bin/nsenter"


@dataclass(frozen=True, slots=True)
class Runc:
    """One runc with its state folder."""

    program: str
    root: Path

    def command(self, *words: str) -> list[str]:
        """A whole command line."""
        return [self.program, "--root", str(self.root), *words]

    def exec_command(self, netns: str, *words: str) -> list[str]:
        """A whole command line of ``runc exec`` in the pod's network namespace.

        A container has a user namespace, out of which it could not join its network itself.
        """
        return [_NSENTER, f"--net={netns}", "--", *self.command("exec", *words)]

    async def kill(self, container_id: str, signal_name: str, *, everyone: bool = False) -> None:
        """Send a signal to the container's first process, or to all; gone is fine."""
        options = ["--all"] if everyone else []
        await self._call("kill", *options, container_id, signal_name, ignore=True)

    async def delete(self, container_id: str) -> None:
        """Remove what runc and the kernel keep for a container, running or not; absent is fine."""
        await self._call("delete", "--force", container_id, ignore=True)

    async def exec_detached(
        self, container_id: str, netns: str, process_file: Path, control: int
    ) -> None:
        """Start one more process, with no stdio and ``control`` as CONTROL_FD; return when it runs.

        Raises:
            Internal: there is no such container, or runc refused.
        """
        options = ["--detach", "--process", str(process_file), "--preserve-fds", "1"]
        quiet = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            words = self.exec_command(netns, *options, container_id)
            process = child.start(words, [quiet, quiet, quiet, control])
        finally:
            os.close(quiet)
        if await process.wait():
            raise Internal(f"runc cannot start a process in container {container_id}")

    async def update(self, container_id: str, resources: dict[str, object]) -> None:
        """Change limits of a running container.

        Raises:
            Internal: runc refused; its words.
        """
        await self._call(
            "update", "--resources", "-", container_id, stdin=json.dumps(resources).encode()
        )

    async def _call(self, *words: str, stdin: bytes = b"", ignore: bool = False) -> None:
        process = await asyncio.create_subprocess_exec(
            *self.command(*words),
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await process.communicate(stdin or None)
        if process.returncode and not ignore:
            text = last_line(errors)
            if "does not exist" in text:
                raise NotFound(text)
            raise Internal(f"runc {words[0]}: {text}")


def last_line(output: bytes) -> str:
    """The last thing a program said."""
    lines: Sequence[str] = output.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no message"
