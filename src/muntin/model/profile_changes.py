"""What changes for a Windows node between two profiles, row by row. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from muntin.model.gates import Gate, Profile, State
from muntin.model.windows import GATES, Feature


class Change(StrEnum):
    """What became of a row. The last two: it began or ceased to say anything of such nodes."""

    WORKS_NOW = "works now"
    NO_LONGER = "works no longer"
    BEGINS = "holds from now on"
    ENDS = "is of no concern any more"


@dataclass(frozen=True, slots=True)
class Changed:
    """One row that says something else of the second profile."""

    feature: Feature
    change: Change
    before: State
    after: State

    @property
    def row(self) -> Gate:
        """The row itself."""
        return GATES[self.feature]


def changes(before: Profile, after: Profile) -> list[Changed]:
    """All rows that differ, in the order of `Change` and then of the table."""
    found = []
    for feature, row in GATES.items():
        states = row.state(before), row.state(after)
        if states[0] != states[1]:
            found.append(Changed(feature, _change(*states), *states))
    order = list(Change)
    return sorted(found, key=lambda item: order.index(item.change))


def _change(before: State, after: State) -> Change:
    if State.SILENT not in (before, after):
        return Change.WORKS_NOW if after is State.OPEN else Change.NO_LONGER
    return Change.BEGINS if before is State.SILENT else Change.ENDS
