"""What of the language expressions may use."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit.cel.functions import Function


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """All of it, unless said otherwise.

    ``without`` are functions that are not known. ``optionals``: there are optional
    values and their syntax; ``pairs``: comprehensions with two variables; ``numbers``: those of
    different types are compared; ``literals``: patterns, times and durations that are spelt out
    are looked at beforehand.
    """

    without: frozenset[Function] = frozenset()
    optionals: bool = True
    pairs: bool = True
    numbers: bool = True
    literals: bool = True


NEWEST = Dialect()
