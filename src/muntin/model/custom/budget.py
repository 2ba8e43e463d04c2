"""What the rules of a schema may cost: each of them, and all together.

A rule is charged as often as an object may have its place. Source: apiextensions-apiserver
pkg/apis/apiextensions/validation/{validation,cel_validation}.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.model.cel import Shape
from muntin.model.custom.structural import Json
from muntin.model.validation.findings import Findings

MOST_OF_RULE, MOST_OF_SCHEMA = 10_000_000, 100_000_000
_LARGEST_BODY = 3 * 1024 * 1024
_LARGEST = 2**64 - 1
_NAMED = 4  # of the rules that cost most
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)


def capped(cost: int) -> int:
    """``cost``, or the largest that is counted."""
    return min(cost, _LARGEST)


def times_within(schema: Json, times: int | None) -> int | None:
    """How often there may be what is in a place that there is ``times``; None: no bound."""
    if times is None:
        return None
    limit = None
    if schema.get("type") == "array":
        limit = schema.get("maxItems")
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    else:
        return times
    return None if limit is None else capped(times * max(int(limit), 0))


def times_of(shape: Shape) -> int:
    """How often a body of the largest size can hold a value of ``shape``."""
    return _LARGEST_BODY // (shape.least_bytes + 1)


@dataclass(slots=True)
class Budget:
    """What the rules of one schema cost so far; ``found`` is what is wrong with them. Expressions
    that are ``known`` were accepted before."""

    found: Findings = field(default_factory=Findings)
    known: frozenset[str] = frozenset()
    total: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def charge(self, path: str, what: str, cost: int) -> None:
        """Count an expression; one that costs too much by itself is a finding."""
        if cost > MOST_OF_RULE:
            text = _exceeds(f"estimated {what} cost", cost, MOST_OF_RULE)
            self.found.forbidden(path, text)
        self.total = capped(self.total + cost)
        if cost >= MOST_OF_SCHEMA // 100:
            self.expensive.append((cost, path))
            self.expensive.sort(key=lambda row: -row[0])
            del self.expensive[_NAMED:]

    def judge(self, path: str, found: Findings) -> None:
        """Add that all rules of the schema at ``path`` together cost too much."""
        if self.total <= MOST_OF_SCHEMA:
            return
        for _, place in self.expensive:
            text = (
                "contributed to estimated rule cost total exceeding cost limit for entire "
                "OpenAPIv3 schema"
            )
            found.forbidden(place, text)
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        found.forbidden(path, _exceeds(what, self.total, MOST_OF_SCHEMA))


def _exceeds(what: str, cost: int, limit: int) -> str:
    times = cost / limit
    factor = f"{times:.1f}x"
    if times > 100:
        factor = "more than 100x"
    elif times < 1.5:
        factor = f"{times:f}x"
    return f"{what} exceeds budget by factor of {factor} {_ADVICE}"
