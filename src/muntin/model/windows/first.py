"""Rows for which code was written first; each belongs with those of its area."""

from __future__ import annotations

from muntin.model.gates import Condition, Evidence, Gate, Kind, Never, Otherwise, Range
from muntin.model.windows.features import Feature


def _gate(
    summary: str,
    holds: Condition | tuple[Condition, ...] | Never,
    applies_to: tuple[str, ...] | str,
    otherwise: Otherwise,
    source: str,
    evidence: Evidence = Evidence.DOCUMENTED,
    kind: Kind = Kind.BEHAVIOUR,
) -> Gate:
    return Gate(
        summary=summary,
        kind=kind,
        holds=(holds,) if isinstance(holds, Condition) else holds,
        applies_to=(applies_to,) if isinstance(applies_to, str) else applies_to,
        otherwise=otherwise,
        evidence=evidence,
        source=source,
    )


def _hns(
    summary: str, *ranges: Range, applies_to: str, otherwise: Otherwise = Otherwise.REJECT
) -> Gate:
    holds = tuple(Condition(hns=wanted) for wanted in ranges)
    return _gate(summary, holds, applies_to, otherwise, "hcn", Evidence.READ_FROM_CODE)


def _from(*low: int) -> Range:
    return Range(low)


ROWS: dict[Feature, Gate] = {}
