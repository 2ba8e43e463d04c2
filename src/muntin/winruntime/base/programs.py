"""Compile the PE programs of the base image from the C sources of this package."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from muntin.kit.errors import Unavailable

SOURCES = Path(__file__).parent.parent / "programs"
COMPILER = "x86_64-w64-mingw32-gcc"
FLAGS = ("-O2", "-s", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True, slots=True)
class Program:
    """``output`` is made from ``source`` with the libraries of ``links``."""

    source: str
    output: str
    links: tuple[str, ...] = ()

    @property
    def is_library(self) -> bool:
        """Whether it is a DLL."""
        return self.output.endswith(".dll")


PROGRAMS = (
    Program("wcinit.c", "wcinit.exe"),
    Program("wcctl.c", "wcctl.exe"),
    Program("wclinger.c", "wclinger.exe"),
    Program("unixrun.c", "unixrun.exe", ("-lshell32",)),
    Program("pause.c", "pause.exe"),
    Program("bcryptprimitives.c", "bcryptprimitives.dll", ("-ladvapi32",)),
)


def compile_programs(destination: Path) -> None:
    """Put every program into the folder ``destination``.

    Raises:
        Unavailable: there is no compiler, or it failed; the message says what to install.
    """
    destination.mkdir(parents=True, exist_ok=True)
    running = [(program, _start(program, destination)) for program in PROGRAMS]
    for program, process in running:
        _, errors = process.communicate()
        if process.returncode:
            raise Unavailable(f"cannot compile {program.source}: {errors.decode().strip()}")


def _start(program: Program, destination: Path) -> subprocess.Popen[bytes]:
    command = [COMPILER, *FLAGS, *(["-shared"] if program.is_library else [])]
    command += ["-o", str(destination / program.output), str(SOURCES / program.source)]
    try:
        return subprocess.Popen([*command, *program.links], stderr=subprocess.PIPE)
    except FileNotFoundError as err:
        raise Unavailable(
            f"{COMPILER} is not installed: apt-get install gcc-mingw-w64-x86-64-win32"
        ) from err
