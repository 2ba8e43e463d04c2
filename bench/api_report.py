"""What was measured of one server, and two of them side by side."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from measure import milliseconds, seconds, table

START = "start"
_SECONDS = ("list", "a change", START)  # rows whose figures are seconds; others are rates


@dataclass(slots=True)
class Record:
    """``figures`` are those of each round, by row: a rate, or seconds (see `is_time`);
    ``memory`` is by number of pods, in MiB, of each process."""

    name: str
    version: str
    machine: Mapping[str, str]
    figures: dict[str, list[float]] = field(default_factory=dict)
    memory: dict[str, list[float]] = field(default_factory=dict)
    durability: str = ""

    def add(self, found: Mapping[str, float]) -> None:
        """The figures of one round more."""
        for name, value in found.items():
            self.figures.setdefault(name, []).append(value)

    def as_json(self) -> dict[str, Any]:
        """To be kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """As it was kept."""
        return cls(**value)


def is_time(row: str) -> bool:
    """Whether a row's figures are seconds: less is better."""
    return row.startswith(_SECONDS)


def table_of(mine: Record, other: Record) -> str:
    """Each row: median and worst round of both, and how many times better ours is."""
    head = ("what", "muntin", "worst", other.name, "worst", "times", "worst to worst")
    rows = [_row(name, mine, other) for name in mine.figures if name in other.figures]
    rows += [_memory(count, mine, other) for count in mine.memory if count in other.memory]
    return table(head, rows)


def _row(name: str, mine: Record, other: Record) -> tuple[str, ...]:
    ours, theirs = mine.figures[name], other.figures[name]
    worst = max if is_time(name) else min
    times = _times(name, statistics.median(ours), statistics.median(theirs))
    at_worst = _times(name, worst(ours), worst(theirs))
    text = "program start to ready" if name == START else name
    return (
        text,
        _shown(name, statistics.median(ours)), _shown(name, worst(ours)),
        _shown(name, statistics.median(theirs)), _shown(name, worst(theirs)),
        f"**{times:.1f}**", f"{at_worst:.1f}",
    )  # fmt: skip


def _times(name: str, ours: float, theirs: float) -> float:
    return theirs / ours if is_time(name) else ours / theirs


def _shown(name: str, value: float) -> str:
    if not is_time(name):
        return f"{value:,.0f}/s"
    return seconds(value) if name == START else milliseconds(value)


def _memory(count: str, mine: Record, other: Record) -> tuple[str, ...]:
    ours, theirs = sum(mine.memory[count]), sum(other.memory[count])
    parts = " + ".join(f"{value:,.0f}" for value in reversed(other.memory[count]))
    return (f"memory with {count} pods", f"{ours:,.0f} MiB", "", f"{parts} MiB", "",
            f"**{theirs / ours:.1f}**", "")  # fmt: skip


def about(mine: Record, other: Record, *, same_run: bool) -> str:
    """A sentence on what was compared, and what makes the writes of each durable."""
    when = "in the same run" if same_run else f"recorded on {other.machine['date']}"
    processors = f"{other.machine['processors']} processors, {other.machine['processor']}"
    return (
        f"Compared with {other.name} {other.version}, {when} ({processors}). Durability, read from "
        f"the running processes: `{mine.durability}`; `{other.durability}`."
    )
