"""The audit policy: which requests are written down, and how much of them. Pure.

The first rule that matches says the level; a request that none matches is not written down.
Source: Kubernetes documentation, "Auditing"; apiserver v1.34 pkg/audit/policy/checker.go,
pkg/apis/audit/validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from muntin.apiserver.request import User
from muntin.kit.errors import Invalid

Object = Mapping[str, Any]

API_VERSIONS = ("audit.k8s.io/v1",)
RECEIVED, STARTED, COMPLETE, PANIC = (
    "RequestReceived",
    "ResponseStarted",
    "ResponseComplete",
    "Panic",
)
STAGES = (RECEIVED, STARTED, COMPLETE, PANIC)


class Level(IntEnum):
    """How much of a request is written down; each holds what those before it hold."""

    NONE = 0
    METADATA = 1
    REQUEST = 2
    REQUEST_RESPONSE = 3


LEVELS = {
    "None": Level.NONE,
    "Metadata": Level.METADATA,
    "Request": Level.REQUEST,
    "RequestResponse": Level.REQUEST_RESPONSE,
}
NAMES = {level: name for name, level in LEVELS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a rule looks at; ``resource`` is empty for a path that is no resource's."""

    user: User
    verb: str
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be written about a request."""

    level: Level
    omitted: frozenset[str] = frozenset()
    without_managed_fields: bool = False


@dataclass(frozen=True, slots=True)
class _Rule:
    spec: Object
    wanted: Wanted

    def matches(self, asked: Asked) -> bool:
        spec = self.spec
        users, groups = spec.get("users"), spec.get("userGroups")
        if users and asked.user.name not in users:
            return False
        if groups and not set(groups) & set(asked.user.groups):
            return False
        if spec.get("verbs") and asked.verb not in spec["verbs"]:
            return False
        if spec.get("namespaces") or spec.get("resources"):
            return self._resource(asked)
        if paths := spec.get("nonResourceURLs"):
            return not asked.resource and any(_path(path, asked.path) for path in paths)
        return True

    def _resource(self, asked: Asked) -> bool:
        if not asked.resource:
            return False
        namespaces = self.spec.get("namespaces")
        if namespaces and asked.namespace not in namespaces:
            return False
        rows = self.spec.get("resources")
        return not rows or any(_group_resources(row, asked) for row in rows)


def _group_resources(row: Object, asked: Asked) -> bool:
    if (row.get("group") or "") != asked.group:
        return False
    resources, names = row.get("resources"), row.get("resourceNames")
    if not resources:
        return True
    if names and asked.name not in names:
        return False
    combined = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    whole = f"*/{asked.subresource}" if asked.subresource else ""
    return any(
        name in ("*", combined) or name == whole or name == f"{asked.resource}/*"
        for name in resources
    )


def _path(pattern: str, path: str) -> bool:
    if pattern.endswith("*"):
        return path.startswith(pattern[:-1])
    return pattern == path


class Policy:
    """A policy that has been read; ``wanted`` asks it."""

    def __init__(self, rules: Sequence[_Rule]) -> None:
        self._rules = rules

    def wanted(self, asked: Asked) -> Wanted:
        """What is to be written about ``asked``."""
        for rule in self._rules:
            if rule.matches(asked):
                return rule.wanted
        return Wanted(Level.NONE)


def parse(document: Object) -> Policy:
    """The Policy that ``document`` is.

    Raises:
        Invalid: it is none; the message names the field.
    """
    version, kind = document.get("apiVersion"), document.get("kind")
    if kind != "Policy" or version not in API_VERSIONS:
        raise Invalid(f"audit policy: {version} {kind} must be {API_VERSIONS[0]} Policy")
    rules = document.get("rules")
    if not isinstance(rules, list) or not rules:
        raise Invalid("audit policy: rules: there must be at least one")
    omitted = _stages(document, "")
    without = bool(document.get("omitManagedFields"))
    return Policy([_rule(row, f"rules[{at}]", omitted, without) for at, row in enumerate(rules)])


_FIELDS = frozenset(
    {"level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs",
     "omitStages", "omitManagedFields"}
)  # fmt: skip


def _rule(row: Any, where: str, omitted: frozenset[str], without: bool) -> _Rule:
    if not isinstance(row, dict):
        raise Invalid(f"audit policy: {where}: must be a rule")
    if unknown := sorted(row.keys() - _FIELDS):
        raise Invalid(f"audit policy: {where}.{unknown[0]}: there is no such field")
    level = row.get("level")
    if level not in LEVELS:
        raise Invalid(f"audit policy: {where}.level: {level!r} must be one of {', '.join(LEVELS)}")
    if row.get("nonResourceURLs") and (row.get("resources") or row.get("namespaces")):
        raise Invalid(
            f"audit policy: {where}.nonResourceURLs: rules cannot apply to both regular "
            "resources and non-resource URLs"
        )
    for path in row.get("nonResourceURLs") or ():
        if path != "*" and (not path.startswith("/") or "*" in path[:-1]):
            raise Invalid(
                f"audit policy: {where}.nonResourceURLs: {path!r} must begin with '/' and may "
                "have '*' at its end alone"
            )
    own = row.get("omitManagedFields")
    hidden = omitted | _stages(row, f"{where}.")
    return _Rule(row, Wanted(LEVELS[level], hidden, without if own is None else bool(own)))


def _stages(row: Object, where: str) -> frozenset[str]:
    found = row.get("omitStages") or ()
    for stage in found:
        if stage not in STAGES:
            raise Invalid(
                f"audit policy: {where}omitStages: {stage!r} must be one of {', '.join(STAGES)}"
            )
    return frozenset(found)
