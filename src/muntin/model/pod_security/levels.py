"""Which policy the labels of a namespace ask for: a level and a version for each of three modes.

Source: pod-security-admission v1.34 api/helpers.go, api/constants.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from muntin.kit import numbers
from muntin.kit.errors import Cause, Invalid

PRIVILEGED, BASELINE, RESTRICTED = "privileged", "baseline", "restricted"
LEVELS = (PRIVILEGED, BASELINE, RESTRICTED)
MODES = ("enforce", "audit", "warn")
PREFIX = "pod-security.kubernetes.io/"

_minor = re.compile(r"v1\.(0|[1-9][0-9]*)").fullmatch


@dataclass(frozen=True, slots=True)
class LevelVersion:
    """A level as of the minor release ``minor`` of Kubernetes 1; None stands for the latest."""

    level: str = PRIVILEGED
    minor: int | None = None

    def __str__(self) -> str:
        """``restricted:latest``, ``baseline:v1.2``."""
        return f"{self.level}:{'latest' if self.minor is None else f'v1.{self.minor}'}"

    @property
    def rank(self) -> int:
        """How strict the level is; more is stricter."""
        return LEVELS.index(self.level)


@dataclass(frozen=True, slots=True)
class Policy:
    """What is refused, what is noted in the audit log and what users are warned of."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()

    @property
    def allows_everything(self) -> bool:
        """Whether no mode looks at anything."""
        return not (self.enforce.rank or self.audit.rank or self.warn.rank)


def parse_level(text: str) -> str:
    """The level of that name.

    Raises:
        Invalid: it is none of the three.
    """
    if text not in LEVELS:
        raise Invalid(f"must be one of {', '.join(LEVELS)}")
    return text


def parse_version(text: str) -> int | None:
    """The minor release that a version label means, None for ``latest``.

    Raises:
        Invalid: neither ``latest`` nor ``v1.x``.
    """
    if text == "latest":
        return None
    match = _minor(text)
    if match is None:
        raise Invalid('must be "latest" or "v1.x"')
    minor = numbers.int_or_none(match[1])
    if minor is None:
        raise Invalid('must be "latest" or "v1.x"')
    return minor


def policy_of(
    labels: Mapping[str, str] | None, defaults: Policy = Policy()
) -> tuple[Policy, list[Cause]]:
    """The policy that ``labels`` ask for, and what is wrong with them.

    A wrong enforce label means ``restricted``; wrong audit and warn levels mean ``privileged``.
    """
    causes: list[Cause] = []
    modes: dict[str, LevelVersion] = {}
    given = labels or {}
    for mode in MODES:
        modes[mode] = _mode(given, mode, getattr(defaults, mode), causes)
    enforce, warn = modes["enforce"], modes["warn"]
    level_is_given = given.get(f"{PREFIX}enforce") in LEVELS
    if f"{PREFIX}warn" not in given and level_is_given and enforce.rank > warn.rank:
        version_is_given = f"{PREFIX}warn-version" in given
        minor = warn.minor if version_is_given else enforce.minor
        modes["warn"] = LevelVersion(enforce.level, minor)
    return Policy(**modes), causes


def _mode(
    labels: Mapping[str, str], mode: str, found: LevelVersion, causes: list[Cause]
) -> LevelVersion:
    label = PREFIX + mode
    if label in labels:
        try:
            found = replace(found, level=parse_level(labels[label]))
        except Invalid as err:
            causes.append(_cause(label, labels[label], err))
            found = replace(found, level=RESTRICTED if mode == "enforce" else PRIVILEGED)
    label += "-version"
    if label in labels:
        try:
            found = replace(found, minor=parse_version(labels[label]))
        except Invalid as err:
            causes.append(_cause(label, labels[label], err))
            found = replace(found, minor=None)
    return found


def _cause(label: str, value: str, err: Invalid) -> Cause:
    text = f"Invalid value: {json.dumps(value)}: {err.message}"
    return Cause("FieldValueInvalid", f"metadata.labels[{label}]", text)
