"""Running the PowerShell subset in this process, and as containers run it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from muntin.winruntime import inside
from muntin.winruntime.inside.powershell.command import Session
from muntin.winruntime.inside.powershell.host import Host

MAIN = Path(inside.__file__).parent / "__main__.py"


class RecordingHost(Host):
    """Keeps what is written instead of writing it."""

    def __init__(self, drive_c: Path) -> None:
        super().__init__({"USERNAME": "ContainerAdministrator"}, str(drive_c))
        self.out: list[str] = []
        self.err: list[str] = []
        self.runs: list[tuple[str, list[str]]] = []
        self.programs: dict[str, tuple[int, bytes]] = {}

    def write(self, text: str) -> None:
        self.out.append(text)

    def write_error(self, text: str) -> None:
        self.err.append(text)

    def find_program(self, name: str) -> str | None:
        known = {one.lower() for one in self.programs}
        return f"C:\\tools\\{name}" if name.lower() in known else super().find_program(name)

    def run(
        self,
        program: str,
        args: list[str],
        *,
        stdin: bytes | None,
        capture: bool,
        merge: bool = False,
    ) -> tuple[int, bytes]:
        self.runs.append((program, args))
        code, output = self.programs[program.rsplit("\\", 1)[-1].lower()]
        if not capture:
            self.write(output.decode())
        return code, b"" if not capture else output


@dataclass
class Result:
    """How a script ended; ``out`` and ``err`` with ``\\n`` line ends."""

    code: int
    out: str
    err: str
    host: RecordingHost = field(repr=False)


@pytest.fixture
def drive_c(tmp_path: Path) -> Path:
    folder = tmp_path / "drive_c"
    (folder / "windows/system32").mkdir(parents=True)
    (folder / "data").mkdir()
    return folder


@pytest.fixture
def powershell(drive_c: Path) -> Iterator[Callable[..., Result]]:
    """``powershell(script)`` runs ``-Command script`` in process."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)

    def run(script: str, *, programs: dict[str, tuple[int, bytes]] | None = None) -> Result:
        host = RecordingHost(drive_c)
        host.programs.update(programs or {})
        code = Session(host).run_text(script)
        plain = ["".join(part).replace("\r\n", "\n") for part in (host.out, host.err)]
        return Result(code, plain[0], plain[1], host)

    yield run
    sys.setrecursionlimit(limit)


@pytest.fixture
def container_program(drive_c: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """``container_program("powershell", ...)`` as the launcher starts it."""

    def run(
        *args: str, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["/usr/bin/python3", "-ISE", str(MAIN), *args],
            input=stdin, capture_output=True, timeout=30,
            env={"WINEPREFIX": str(drive_c.parent), **(env or {})},
        )  # fmt: skip

    return run


@pytest.fixture
def started(drive_c: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Like ``container_program``, left running; ended after the test."""
    with contextlib.ExitStack() as stack:

        def start(*args: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(
                ["/usr/bin/python3", "-ISE", str(MAIN), *args],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={"WINEPREFIX": str(drive_c.parent), "PATH": os.defpath},
            )  # fmt: skip
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start
