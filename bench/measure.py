"""Samples and what is said of them, and the machine they were taken on."""

from __future__ import annotations

import math
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Samples:
    """Times in seconds of one thing that was done several times."""

    values: list[float] = field(default_factory=list)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add how long the block takes."""
        began = time.perf_counter()
        yield
        self.values.append(time.perf_counter() - began)

    def add(self, seconds: float) -> None:
        self.values.append(seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def worst(self) -> float:
        return max(self.values)

    def quantile(self, share: float) -> float:
        """The nearest-rank quantile: a value that was really measured."""
        ordered = sorted(self.values)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def milliseconds(value: float) -> str:
    digits = 2 if value < 1e-3 else 1 if value < 0.1 else 0
    return f"{value * 1e3:.{digits}f} ms"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def until(what: str, ask: Callable[[], object], *, limit_s: float, poll_s: float = 0.005) -> None:
    """Return when ``ask`` gives something true."""
    deadline = time.monotonic() + limit_s
    while not ask():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {limit_s:.0f} s")
        time.sleep(poll_s)


def _whose_python() -> str:
    """Distributions build theirs with profile-guided optimization; others may not."""
    return "the system's own" if sys.base_prefix == "/usr" else "of another origin"


def machine() -> list[tuple[str, str]]:
    """What the figures depend on most, as (name, value)."""
    cpu = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    release = re.search(r'^PRETTY_NAME="(.+)"$', Path("/etc/os-release").read_text(), re.MULTILINE)
    return [
        ("processor", cpu[1] if cpu else platform.machine()),
        ("processors", str(len(os.sched_getaffinity(0)))),
        ("memory", f"{memory:.0f} GiB"),
        ("system", release[1] if release else platform.system()),
        ("kernel", platform.release()),
        ("Python", f"{platform.python_version()}, {_whose_python()}"),
        ("date", time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())),
        ("load when it began", f"{os.getloadavg()[0]:.2f}"),
    ]
