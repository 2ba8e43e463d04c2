"""Native programs: Windows programs through Wine, ours from this folder without it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from os.path import abspath, basename, dirname, isfile
from typing import TYPE_CHECKING

from .. import PROGRAMS

if TYPE_CHECKING:
    from .host import Host

WINE = "/usr/lib/wine/wine64"
WCINIT = "C:\\windows\\muntin\\wcinit.exe"
"""Gives a Windows program standard streams that it can use, and reports its whole exit code."""


class Start:
    """One program about to be started: its Unix command, environment and files."""

    def __init__(self, host: Host, program: str, args: list[str]) -> None:
        """``program`` is a full Windows path."""
        self.environ = _child_environment(host)
        self.folder = tempfile.mkdtemp(prefix="ps")
        self.status = f"{self.folder}/status"
        self.cwd = _existing(host.unix_path(host.location))
        own = _own_program(program)
        if own:
            entry = dirname(dirname(abspath(__file__))) + "/__main__.py"
            self.command = ["/usr/bin/python3", "-ISE", entry, own, *args]
            self.environ["WCINIT_STATUS"] = self.status
            return
        words = [program, *args]
        if program.lower().endswith((".bat", ".cmd")):
            words = ["C:\\windows\\system32\\cmd.exe", "/c", *words]
        self.command = [WINE, *words]
        if isfile(host.unix_path(WCINIT)):
            self._through_wcinit(host, words)

    def _through_wcinit(self, host: Host, words: list[str]) -> None:
        self.command = [WINE, WCINIT]
        records = [
            subprocess.list2cmdline(words), host.location, "", self.status,
            *(f"{name}={value}" for name, value in host.environ.items()),
        ]  # fmt: skip
        start = f"{self.folder}/start"
        with open(start, "wb") as file:
            file.writelines(one.encode("utf-8", "surrogateescape") + b"\0" for one in records)
        self.environ = {
            key: value
            for key, value in host.unix_environ.items()
            if key.startswith("WINE") or key in ("HOME", "USER", "LANG")
        }
        self.environ["PATH"] = "/usr/bin:/bin"
        self.environ["WCINIT_START"] = start

    def finish(self) -> int | None:
        """Remove the files; the whole exit code, where one was reported."""
        code: int | None = None
        try:
            with open(self.status, encoding="ascii") as file:
                text = file.read().strip()
            code = int(text) if text.isdigit() else None
        except OSError:
            pass  # nothing was reported
        for name in os.listdir(self.folder):
            os.unlink(f"{self.folder}/{name}")
        os.rmdir(self.folder)
        return code - (1 << 32) if code is not None and code >= 1 << 31 else code


def _own_program(program: str) -> str:
    """The name of a program of this folder, '' for any other."""
    name = basename(program.replace("\\", "/")).lower().removesuffix(".exe")
    return name if name in PROGRAMS and program.lower().startswith("c:\\windows\\") else ""


def _child_environment(host: Host) -> dict[str, str]:
    """What a child sees: the Windows variables, and those that Wine itself needs."""
    environ = {
        key: value
        for key, value in host.unix_environ.items()
        if key.startswith("WINE") or key in ("HOME", "USER", "LANG")
    }
    environ.update(host.environ)
    environ["WINEPATH"] = host.variable("PATH") or ""
    environ["WINCWD"] = host.location
    return environ


def run_program(
    host: Host, program: str, args: list[str], *, stdin: bytes | None, capture: bool, merge: bool
) -> tuple[int, bytes]:
    """Run to the end. The exit code is the whole 32 bits where they were reported."""
    start = Start(host, program, args)
    full = None
    process = subprocess.Popen(
        start.command,
        stdin=subprocess.PIPE if stdin is not None else None,
        stdout=subprocess.PIPE if capture else None,
        stderr=subprocess.STDOUT if merge else None,
        env=start.environ,
        cwd=start.cwd,
    )
    try:
        output, _ = process.communicate(stdin)
    except BaseException:
        process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    finally:
        full = start.finish()
    code = process.returncode
    if full is not None:
        code = full
    return (code if code >= 0 or full is not None else 128 - code), output or b""


def start_program(host: Host, program: str, args: list[str]) -> int:
    """Start without waiting; the process id."""
    start = Start(host, program, args)
    process = subprocess.Popen(
        start.command, stdin=subprocess.DEVNULL, env=start.environ, cwd=start.cwd
    )
    process.returncode = 0  # left to itself: nobody waits for it
    return process.pid


def _existing(path: str) -> str:
    return path if os.path.isdir(path) else "/"
