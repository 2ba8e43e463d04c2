"""The form of the gates table: profiles, version ranges, conditions, rows. The rows: windows/.

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


class Severity(StrEnum):
    """How much a row matters to whoever writes a manifest.

    ERROR: will not be admitted or not run; WARNING: has no effect or works otherwise than asked;
    INFO: good to know.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class State(StrEnum):
    """What a row says of one profile: it works, it does not, or the row does not speak of it."""

    OPEN = "open"
    SHUT = "shut"
    SILENT = "silent"


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
    """All named axes must hold; an axis that is None is free.

    ``components`` are versions of programs (docker, containerd, flannel, calico); one whose version
    a profile does not say is taken to be new enough. ``kb`` names the update that brought the
    revision in ``build``, for readers.
    """

    kubernetes: Range | None = None
    build: Range | None = None
    hns: Range | None = None
    runtime: frozenset[str] | None = None
    network_plugin: frozenset[str] | None = None
    feature_gate: str = ""
    components: tuple[tuple[str, Range], ...] = ()
    kb: str = ""

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
        for name, wanted_version in self.components:
            version = profile.versions.get(name)
            if version is not None and not wanted_version.holds(version):
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
        parts += [wanted.text(name) for name, wanted in self.components]
        if self.kb:
            parts.append(self.kb)
        return ", ".join(parts) or "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One Windows node's versions, obtained once and passed in.

    ``kubernetes`` is the kubelet's and kube-proxy's (major, minor); ``revision`` is the UBR;
    ``versions`` are those of other programs that rows speak of (docker, containerd, flannel,
    calico), as far as they are known.
    """

    build: int
    revision: int
    kubernetes: Version
    hns: Version
    runtime: str = "containerd"
    network_plugin: str = "win-bridge"
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    versions: Mapping[str, Version] = field(default_factory=dict)


_SEVERITIES = {
    Otherwise.REJECT: Severity.ERROR,
    Otherwise.IGNORE: Severity.WARNING,
    Otherwise.DEGRADE: Severity.WARNING,
    Otherwise.DIFFER: Severity.INFO,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One row; its texts are printed to users as they stand.

    ``summary``: the fact, one sentence. ``scope``: alternatives of where the row says anything at
    all, empty for everywhere; ``holds``: alternatives of where, within it, the feature works;
    ``otherwise``: what the platform does elsewhere in the scope, with ``message`` where it refuses
    or tells so (its own words, as far as known; ``{field}`` and the like stand for what varies).
    ``applies_to``: what it touches in the user's world: paths of API fields
    (``spec.containers[*].image``, seen from the Pod), flags (``kubelet --hairpin-mode``), HNS
    policies, commands. ``advice``: what to do instead. ``overrides``: the row this one wins over
    where sources contradict one another. ``restates``: other statements of the catalogue that say
    the same. ``not_yet``: why nothing in Muntin acts on a behaviour yet; ``page``: the check or the
    page of a procedure. ``severity``: how the linter calls it, where ``otherwise`` does not say.
    """

    summary: str
    kind: Kind
    holds: tuple[Condition, ...] | Never
    applies_to: tuple[str, ...]
    otherwise: Otherwise
    evidence: Evidence
    source: str
    scope: tuple[Condition, ...] = ()
    message: str = ""
    advice: str = ""
    overrides: str = ""
    restates: tuple[str, ...] = ()
    not_yet: str = ""
    page: str = ""
    severity: Severity | None = None

    def state(self, profile: Profile) -> State:
        """What the row says of ``profile``."""
        if self.scope and not any(condition.holds(profile) for condition in self.scope):
            return State.SILENT
        return State.OPEN if self.is_open(profile) else State.SHUT

    def calls_it(self) -> Severity:
        """How much it matters where the row is shut."""
        return self.severity or _SEVERITIES[self.otherwise]

    def is_open(self, profile: Profile) -> bool:
        """Whether the feature works on ``profile``."""
        if self.holds is Never.NEVER:
            return False
        return any(condition.holds(profile) for condition in self.holds)

    def where(self) -> str:
        """The alternatives in words."""
        if self.holds is Never.NEVER:
            return "nowhere"
        return _alternatives(self.holds)

    def scope_text(self) -> str:
        """Where the row speaks at all, in words."""
        return _alternatives(self.scope) if self.scope else "everywhere"


# Rows are written with these: what they name first is what readers look for first.
def row(
    summary: str,
    *,
    applies_to: tuple[str, ...] | str,
    otherwise: Otherwise,
    source: str,
    holds: tuple[Condition, ...] | Condition | Never = Never.NEVER,
    scope: tuple[Condition, ...] | Condition = (),
    kind: Kind = Kind.BEHAVIOUR,
    evidence: Evidence = Evidence.DOCUMENTED,
    message: str = "",
    advice: str = "",
    overrides: str = "",
    restates: tuple[str, ...] | str = (),
    not_yet: str = "",
    page: str = "",
    severity: Severity | None = None,
) -> Gate:
    """A :class:`Gate`; single values stand for tuples of one, and it works nowhere unless said."""
    return Gate(
        summary=summary,
        kind=kind,
        holds=(holds,) if isinstance(holds, Condition) else holds,
        applies_to=(applies_to,) if isinstance(applies_to, str) else applies_to,
        otherwise=otherwise,
        evidence=evidence,
        source=source,
        scope=(scope,) if isinstance(scope, Condition) else scope,
        message=message,
        advice=advice,
        overrides=overrides,
        restates=(restates,) if isinstance(restates, str) else restates,
        not_yet=not_yet,
        page=page,
        severity=severity,
    )


def since(*low: int) -> Range:
    """That version and all newer ones: ``since(1, 14)``."""
    return Range(low)


def until(*high: int) -> Range:
    """All versions up to and with that one: ``until(1, 13)`` is 1.13 and older."""
    return Range(None, high)


def only(*version: int) -> Range:
    """That version and its minors: ``only(17763)`` is the build with all its revisions."""
    return Range(version, version)


def _alternatives(conditions: tuple[Condition, ...]) -> str:
    return "; or ".join(condition.text() for condition in conditions)


def _dots(version: Version) -> str:
    return ".".join(map(str, version))
