"""Whether what was called, answered and watched can be explained by one sequence of writes.

A store gives every write a revision, so the sequence is known: it is the history that the store
itself tells at the end. Left to check is that every answer fits it, in the order of real time
(linearizability), and that watches have told just it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from muntin.seams.store import Change

WRITES = ("create", "update", "delete")


@dataclass
class Call:
    number: str
    begun: float
    verb: str
    key: str
    value: str | None
    expected: int
    ended: float = inf
    outcome: str = "unknown"  # nobody lived to hear of it
    result: dict = field(default_factory=dict)


@dataclass
class History:
    """``certain``: a write that was refused for want of a database has not happened."""

    certain: bool
    calls: dict[str, Call] = field(default_factory=dict)
    seen: dict[str, list[tuple[int, list]]] = field(default_factory=dict)

    def read(self, line: str) -> None:
        """Take one line of a worker; a last one that is cut off tells nothing."""
        if not line.endswith("\n"):
            return
        kind, *row = json.loads(line)
        if kind == "call":
            number, begun, verb, key, value, expected = row
            self.calls[number] = Call(number, begun, verb, key, value, expected)
        elif kind == "end":
            call = self.calls[row[0]]
            call.ended, call.outcome, call.result = row[1:]
        elif kind == "seen":
            self.seen.setdefault(row[0], []).append((row[1], row[2]))

    def reported(self, prefix: str, start: int) -> int:
        """How far the watch of ``prefix`` has come."""
        return self.seen[prefix][-1][0] if prefix in self.seen else start

    def check(self, log: list[Change], start: int) -> None:
        """Raise AssertionError unless ``log``, all changes after ``start``, explains everything."""
        truth = Truth(log, start)
        truth.is_sound()
        self._writes_are_told(truth)
        self._real_time(truth)
        for prefix, batches in self.seen.items():
            _watch_is_exact(prefix, batches, truth)

    def _may_have_happened(self, call: Call) -> bool:
        if call.outcome == "unavailable":
            return not self.certain
        return call.outcome in ("ok", "unknown")

    def _writes_are_told(self, truth: Truth) -> None:
        by_value = {call.value: call for call in self.calls.values() if call.value}
        deletes: dict[tuple[str, int], list[Call]] = {}
        for call in self.calls.values():
            if call.verb == "delete" and self._may_have_happened(call):
                deletes.setdefault((call.key, call.expected), []).append(call)
            if call.verb in WRITES and call.outcome == "ok":
                assert call.result["revision"] in truth.at, f"acknowledged, and lost: {call}"
                told = truth.at[call.result["revision"]]
                assert (told.key, _text(told)) == (call.key, call.value), (call, told)
        for change in truth.log:
            before = truth.version(change.key, change.revision - 1)
            was = before.revision if before else 0
            if change.value is None:
                calls = deletes[change.key, was]
                acknowledged = [call for call in calls if call.outcome == "ok"]
                assert len(acknowledged) <= 1
                truth.writers[change.revision] = (acknowledged or calls)[0]
                continue
            call = by_value.pop(_text(change), None)
            assert call is not None, f"written twice, or by nobody: {change}"
            assert self._may_have_happened(call), f"refused, and written: {call}"
            assert was == call.expected, (call, before)
            truth.writers[change.revision] = call

    def _real_time(self, truth: Truth) -> None:
        """Nothing happens after its answer or before its call."""
        soonest = inf
        for revision in sorted(truth.writers, reverse=True):
            call = truth.writers[revision]
            assert call.begun <= soonest, f"a write that came later has an earlier revision: {call}"
            soonest = min(soonest, call.ended)
        starts = sorted((call.begun, revision) for revision, call in truth.writers.items())
        least_from = _running_minimum(starts)
        floor: list[tuple[float, int]] = [(-inf, truth.start)]  # by end, the revision reached
        ended = sorted(self.calls.values(), key=lambda call: call.ended)
        for call in ended:
            if call.outcome in ("unknown", "unavailable"):
                continue
            low = floor[bisect_right(floor, call.begun, key=lambda row: row[0]) - 1][1]
            high = least_from(call.ended) - 1
            if call.verb in WRITES and call.outcome == "ok":
                reached = call.result["revision"]
            else:
                reached = truth.explains(call, low, high)
            floor.append((call.ended, max(floor[-1][1], reached)))


class Truth:
    """The sequence of writes, and the states between them."""

    def __init__(self, log: list[Change], start: int) -> None:
        self.log, self.start = log, start
        self.at = {change.revision: change for change in log}
        self.writers: dict[int, Call] = {}
        self._versions: dict[str, list[Change]] = {}
        for change in log:
            self._versions.setdefault(change.key, []).append(change)

    def is_sound(self) -> None:
        revisions = [change.revision for change in self.log]
        assert revisions == sorted(set(revisions))
        for versions in self._versions.values():
            before: Change | None = None
            for change in versions:
                live = before is not None and before.value is not None
                assert live or change.value is not None, f"deleted what was not there: {change}"
                if change.value is not None:
                    wanted = before.create_revision if live and before else change.revision
                    assert change.create_revision == wanted
                before = change

    def version(self, key: str, revision: int) -> Change | None:
        """The record of ``key`` after ``revision``."""
        versions = self._versions.get(key, [])
        index = bisect_right(versions, revision, key=lambda change: change.revision) - 1
        if index < 0 or versions[index].value is None:
            return None
        return versions[index]

    def explains(self, call: Call, low: int, high: float) -> int:
        """The first revision from ``low`` to ``high`` after which this is the answer."""
        if call.verb == "list":
            at = call.result["revision"]
            assert low <= at <= high, f"a list of another time: {low} {high} {call}"
            keys = sorted(self._versions)
            found = [(key, self.version(key, at)) for key in keys]
            rows = [[key, _text(change), change.revision] for key, change in found if change]
            assert rows == call.result["rows"], (rows, call)
            return at
        moments = [low] + [
            change.revision
            for change in self._versions.get(call.key, [])
            if low < change.revision <= high
        ]
        for at in moments:
            if _fits(call, self.version(call.key, at)):
                return at
        raise AssertionError(f"no state from {low} to {high} explains {call}")


def _fits(call: Call, found: Change | None) -> bool:
    match call.outcome:
        case "missing":
            return found is None
        case "exists":
            return found is not None
        case "conflict":
            return found is not None and found.revision != call.expected
    wanted = (call.result["value"], call.result["revision"])
    return found is not None and (_text(found), found.revision) == wanted


def _watch_is_exact(prefix: str, batches: Iterable[tuple[int, list]], truth: Truth) -> None:
    wanted = [
        [change.key, _text(change), change.create_revision, change.revision]
        for change in truth.log
        if change.key.startswith(prefix)
    ]
    told: list = []
    reached = 0
    for revision, rows in batches:
        assert revision >= reached, f"{prefix}: progress ran back from {reached} to {revision}"
        reached = revision
        told += [_plain(row) for row in rows]
        due = bisect_right(wanted, revision, key=lambda row: row[3])
        assert told == [_plain(row) for row in wanted[:due]], f"{prefix} at {revision}"


def _plain(row: list) -> list:
    """A deletion has no creation that is told by all stores."""
    return row if row[1] is not None else [row[0], None, 0, row[3]]


def _text(change: Change) -> str | None:
    return None if change.value is None else change.value.decode().rstrip("-")


def _running_minimum(starts: list[tuple[float, int]]):
    """A function from a time to the least revision of writes that were called after it."""
    least: list[float] = [inf]
    for _, revision in reversed(starts):
        least.append(min(least[-1], revision))
    least.reverse()
    return lambda when: least[bisect_right(starts, when, key=lambda row: row[0])]
