"""Sets of completion indexes as spans: how a Job's status writes them, ``0-3,5,7``.

Source: kubernetes v1.36 api/batch/v1 JobStatus.completedIndexes; pkg/controller/job.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.kit import numbers

Spans = tuple[tuple[int, int], ...]
"""First and last index of each span, in order; spans neither overlap nor touch."""


def parse(text: str, completions: int) -> Spans:
    """The spans that ``text`` names below ``completions``; what cannot be read is left out."""
    spans = []
    for part in text.split(",") if text else ():
        first, dash, last = part.partition("-")
        low, high = numbers.int_or_none(first), numbers.int_or_none(last if dash else first)
        if low is None or high is None:
            continue
        span = (low, min(high, completions - 1))
        if span[0] <= span[1]:
            spans.append(span)
    return union(tuple(spans), ())


def text_of(spans: Spans) -> str:
    """Neighbours with a hyphen from three on: ``1,2``, but ``1-3``."""

    def part(first: int, last: int) -> str:
        if first == last:
            return str(first)
        return f"{first}{',' if last == first + 1 else '-'}{last}"

    return ",".join(part(*span) for span in spans)


def union(left: Spans, right: Spans) -> Spans:
    """All indexes of both."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((*left, *right)):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple(found)


def adding(spans: Spans, indexes: Iterable[int]) -> Spans:
    """``spans`` and each of ``indexes``."""
    return union(spans, tuple((index, index) for index in indexes))


def total(spans: Spans) -> int:
    """How many indexes there are."""
    return sum(last - first + 1 for first, last in spans)


def contains(spans: Spans, index: int) -> bool:
    """Whether ``index`` is one of them."""
    return any(first <= index <= last for first, last in spans)


def overlap(left: Spans, right: Spans) -> int:
    """How many indexes are in both."""
    return total(left) + total(right) - total(union(left, right))


def missing(taken: Spans, count: int, completions: int) -> list[int]:
    """The first ``count`` indexes below ``completions`` that are not in ``taken``."""
    found: list[int] = []
    candidate = 0
    for first, last in (*taken, (completions, completions)):
        free = range(candidate, min(first, completions))
        found += free[: count - len(found)]
        candidate = last + 1
        if len(found) >= count:
            break
    return found
