"""Compares rows with what was typed by hand of them: profiles where a row is open, shut, silent."""

from __future__ import annotations

from windows_profiles import at

from muntin.model.gates import State
from muntin.model.windows import GATES, Feature

Expected = tuple[str, str, str]
"""Profiles, joined by `` | ``, where the row is open, where it is shut, and where it is silent."""


def wrong(feature: Feature, expected: Expected) -> list[str]:
    """The profiles of which the row says something else."""
    found = []
    for state, profiles in zip((State.OPEN, State.SHUT, State.SILENT), expected, strict=True):
        for text in filter(None, (part.strip() for part in profiles.split("|"))):
            said = GATES[feature].state(at(text))
            if said is not state:
                found.append(f"{text}: {said}, not {state}")
    return found
