"""The form of the gates table: profiles, version ranges, conditions, rows. The rows: windows.py.

A :class:`Profile` is one node's versions. A :class:`Gate` says under which conditions a feature of
Windows nodes works, and what the platform does where it does not. All ranges are inclusive and
compare tuples, so that holes (a feature gone in one release, back in a later one) can be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

Version = tuple[int, ...]


class Kind(StrEnum):
    """What a row is for: acted on by the system, said to users, or a check or page."""

    BEHAVIOUR = "behaviour"
    SUPPORT = "support"
    PROCEDURE = "procedure"


class Otherwise(StrEnum):
    """What the platform does where the feature does not work."""

    REJECT = "reject"
    IGNORE = "ignore"
    DEGRADE = "degrade"
    DIFFER = "differ"


class Evidence(StrEnum):
    """How the row is known. None of them was compared with a real Windows machine here."""

    DOCUMENTED = "documented"
    READ_FROM_CODE = "read from code"
    REPORTED = "reported by users"


class Never(Enum):
    """Stands for the alternatives of a feature that works nowhere yet."""

    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high``, both included; None is open. (9, 3) to (9,) means 9.3 to 9.x."""

    low: Version | None = None
    high: Version | None = None

    def holds(self, version: Version) -> bool:
        """Whether ``version`` lies in the range; ``high`` includes whatever begins with it."""
        if self.low is not None and version < self.low:
            return False
        return self.high is None or version[: len(self.high)] <= self.high

    def text(self, name: str) -> str:
        """For pages and messages: ``HNS 9.3 to 9.x``."""
        low = _dots(self.low) if self.low else ""
        if self.high is None:
            return f"{name} {low} and newer"
        high = _dots(self.high) + (".x" if self.low and len(self.high) < len(self.low) else "")
        return f"{name} {low} to {high}" if low else f"{name} up to {high}"


@dataclass(frozen=True, slots=True)
class Condition:
    """All named axes must hold; an axis that is None is free."""

    kubernetes: Range | None = None
    build: Range | None = None
    hns: Range | None = None
    runtime: frozenset[str] | None = None
    network_plugin: frozenset[str] | None = None
    feature_gate: str = ""

    def holds(self, profile: Profile) -> bool:
        """Whether ``profile`` meets every axis that is named."""
        ranges = (
            (self.kubernetes, profile.kubernetes),
            (self.build, (profile.build, profile.revision)),
            (self.hns, profile.hns),
        )
        if any(wanted is not None and not wanted.holds(has) for wanted, has in ranges):
            return False
        if self.runtime is not None and profile.runtime not in self.runtime:
            return False
        if self.network_plugin is not None and profile.network_plugin not in self.network_plugin:
            return False
        return not self.feature_gate or profile.feature_gates.get(self.feature_gate, False)

    def text(self) -> str:
        """The condition in words, axes joined by commas."""
        names = (("Kubernetes", self.kubernetes), ("build", self.build), ("HNS", self.hns))
        parts = [wanted.text(name) for name, wanted in names if wanted is not None]
        for name, values in (("runtime", self.runtime), ("plugin", self.network_plugin)):
            if values is not None:
                parts.append(f"{name} {' or '.join(sorted(values))}")
        if self.feature_gate:
            parts.append(f"feature gate {self.feature_gate}")
        return ", ".join(parts) or "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One Windows node's versions, obtained once and passed in.

    ``kubernetes`` is the kubelet's and kube-proxy's (major, minor); ``revision`` is the UBR.
    """

    build: int
    revision: int
    kubernetes: Version
    hns: Version
    runtime: str = "containerd"
    network_plugin: str = "win-bridge"
    feature_gates: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One row; ``summary`` is printed to users as it stands. ``value`` carries a bound if any."""

    summary: str
    kind: Kind
    holds: tuple[Condition, ...] | Never
    applies_to: tuple[str, ...]
    otherwise: Otherwise
    evidence: Evidence
    source: str
    overrides: str = ""

    def is_open(self, profile: Profile) -> bool:
        """Whether the feature works on ``profile``."""
        if self.holds is Never.NEVER:
            return False
        return any(condition.holds(profile) for condition in self.holds)

    def where(self) -> str:
        """The alternatives in words."""
        if self.holds is Never.NEVER:
            return "nowhere"
        return "; or ".join(condition.text() for condition in self.holds)


def _dots(version: Version) -> str:
    return ".".join(map(str, version))
