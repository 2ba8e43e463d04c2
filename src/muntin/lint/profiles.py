"""The profiles that manifests are linted for, with what findings call them."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.model.gates import Profile
from muntin.model.profiles import profile_named
from muntin.model.windows_releases import (
    DEFAULT_BUILD,
    DEFAULT_KUBERNETES,
    build_named,
    profile_of,
)


@dataclass(frozen=True, slots=True)
class Named:
    """A profile and what it is called in findings."""

    name: str
    profile: Profile


def default() -> Named:
    """What `muntin up` gives."""
    row = build_named(str(DEFAULT_BUILD))
    version = ".".join(map(str, DEFAULT_KUBERNETES))
    return Named(f"{version}/{row.names[0]}", profile_of(row))


def named(name: str) -> Named:
    """A preset (``v1.20``), or KUBERNETES/WINDOWS[/RUNTIME[/PLUGIN]].

    Raises:
        Invalid: no such profile.
    """
    return Named(name, profile_named(name))
