"""Where a rule finds something, and what would mend it: values that checks yield."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.model.gates import Profile

Path = tuple[str | int, ...]
"""Keys and indexes from the root of the document."""


@dataclass(frozen=True, slots=True)
class Remove:
    """Take the field (or the item of a list) away; what says nothing when empty goes with it."""

    path: Path


@dataclass(frozen=True, slots=True)
class Put:
    """Give the field this value; it and the maps around it are made where they are missing."""

    path: Path
    value: Any


Edit = Remove | Put


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together.

    ``safe``: they take away nothing that would be admitted and work, and change no quantity.
    """

    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """One place that a row speaks of.

    ``path`` may name a field that is missing: the finding then stands at the map that lacks it.
    ``values`` fill what stands in braces in the row's message (``{field}`` is always there).
    ``profiles``: of those the check was given, the ones it is true of; None for all of them.
    ``span``: start and end in the text, for documents that are no YAML (scripts).
    """

    path: Path
    fix: Fix | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    profiles: tuple[Profile, ...] | None = None
    span: tuple[int, int] | None = None


def path_text(path: Path) -> str:
    """``spec.containers[0].image``, ``metadata.labels[app.kubernetes.io/name]``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and all(letter.isalnum() or letter in "-_$" for letter in step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text
