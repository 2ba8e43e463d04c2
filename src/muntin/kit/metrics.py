"""Counters, gauges and histograms, and their Prometheus text form.

A family holds one number (or row of buckets) for each tuple of label values; whoever counts keeps
the tuple at hand, so that counting is one look-up. Numbers that are known elsewhere are collected
when they are read. Source: Prometheus text exposition format 0.0.4.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Values = tuple[str, ...]
Samples = Iterable[tuple[Values, float]]
F = TypeVar("F", bound="Family")


class Family(Protocol):
    """One named metric with all its label values."""

    name: str

    def lines(self) -> Iterator[str]:
        """Its text form."""


class Counter:
    """Numbers that only grow."""

    kind = "counter"

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.text, self.labels = name, text, tuple(labels)
        self.values: dict[Values, float] = {} if labels else {(): 0.0}

    def add(self, values: Values = (), amount: float = 1.0) -> None:
        """Count ``amount`` more under these label values."""
        self.values[values] = self.values.get(values, 0.0) + amount

    def lines(self) -> Iterator[str]:
        """Its text form."""
        yield from _head(self.name, self.text, self.kind)
        for values, number in sorted(self.values.items()):
            yield f"{self.name}{_labels(self.labels, values)} {_number(number)}"


class Gauge(Counter):
    """Numbers that go up and down."""

    kind = "gauge"

    def set(self, values: Values, number: float) -> None:
        """Replace the number under these label values."""
        self.values[values] = number


class Histogram:
    """Observations counted in buckets: ``bounds`` are their upper ends, in order."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]
    ) -> None:
        self.name, self.text, self.labels = name, text, tuple(labels)
        self.bounds = tuple(bounds)
        self.rows: dict[Values, list[float]] = {}

    def row(self, values: Values) -> list[float]:
        """The buckets' counts, each without the smaller ones, and at the end the sum."""
        found = self.rows.get(values)
        if found is None:
            found = self.rows[values] = [0.0] * (len(self.bounds) + 2)
        return found

    def observe(self, values: Values, number: float, times: int = 1) -> None:
        """Count one observation, or as many as were alike."""
        row = self.row(values)
        row[bisect_left(self.bounds, number)] += times
        row[-1] += number * times

    def lines(self) -> Iterator[str]:
        """Its text form."""
        yield from _head(self.name, self.text, "histogram")
        labels = (*self.labels, "le")
        bounds = (*map(_number, self.bounds), "+Inf")
        for values, row in sorted(self.rows.items()):
            seen = 0.0
            for bound, count in zip(bounds, row, strict=False):
                seen += count
                yield f"{self.name}_bucket{_labels(labels, (*values, bound))} {_number(seen)}"
            shown = _labels(self.labels, values)
            yield f"{self.name}_sum{shown} {_number(row[-1])}"
            yield f"{self.name}_count{shown} {_number(seen)}"


class Collected:
    """Numbers that ``read`` gives when they are asked for."""

    def __init__(
        self,
        name: str,
        text: str,
        labels: Sequence[str],
        read: Callable[[], Samples],
        kind: str = "gauge",
    ) -> None:
        self.name, self.text, self.labels, self.kind = name, text, tuple(labels), kind
        self._read = read

    def lines(self) -> Iterator[str]:
        """Its text form."""
        yield from _head(self.name, self.text, self.kind)
        for values, number in self._read():
            yield f"{self.name}{_labels(self.labels, values)} {_number(number)}"


class Families:
    """All metrics of one process or server, by name."""

    def __init__(self) -> None:
        self._families: dict[str, Family] = {}

    def add(self, family: F) -> F:
        """Publish ``family``, in place of an older one of that name."""
        self._families[family.name] = family
        return family

    def text(self, *others: Families) -> str:
        """All of them, and all of ``others``."""
        merged = dict(self._families)
        for other in others:
            merged |= other._families
        found = [merged[name] for name in sorted(merged)]
        return "\n".join(line for family in found for line in family.lines()) + "\n"


PROCESS = Families()
"""What is counted wherever in this process it happens; whoever has an endpoint shows it, too."""


def process(families: Families) -> None:
    """Publish what Prometheus' clients say of their own process."""
    started = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + _start_ticks()
    ticks: list[tuple[str, str, Callable[[], float], str]] = [
        ("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
         time.process_time, "counter"),
        ("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
         lambda: started, "gauge"),
        ("process_resident_memory_bytes", "Resident memory size in bytes.",
         lambda: _statm(1), "gauge"),
        ("process_virtual_memory_bytes", "Virtual memory size in bytes.",
         lambda: _statm(0), "gauge"),
        ("process_open_fds", "Number of open file descriptors.",
         lambda: float(len(list(Path("/proc/self/fd").iterdir()))), "gauge"),
        ("process_max_fds", "Maximum number of open file descriptors.",
         _most_files, "gauge"),
    ]  # fmt: skip
    for name, text, read, kind in ticks:
        families.add(Collected(name, text, (), _single(read), kind))


def _single(read: Callable[[], float]) -> Callable[[], Samples]:
    return lambda: [((), read())]


def _start_ticks() -> float:
    """Seconds after the machine's start at which this process began."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _statm(column: int) -> float:
    pages = Path("/proc/self/statm").read_text().split()[column]
    return float(int(pages) * os.sysconf("SC_PAGE_SIZE"))


def _most_files() -> float:
    import resource

    return float(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _head(name: str, text: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _labels(names: Values, values: Values) -> str:
    inner = ",".join(f'{key}="{_escaped(value)}"' for key, value in zip(names, values, strict=True))
    return f"{{{inner}}}" if inner else ""


def _escaped(value: str) -> str:
    if "\\" in value or '"' in value or "\n" in value:
        return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return value


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
