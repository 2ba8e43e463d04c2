"""Which requests a FlowSchema is about. Pure.

Source: apiserver v1.34 pkg/util/flowcontrol/rule.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]

_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Digest:
    """What of a request is looked at; ``resource`` is ``pods`` or ``pods/log``, or empty with
    ``path`` set."""

    user: str
    groups: tuple[str, ...]
    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    path: str = ""


def matches(spec: Object, digest: Digest) -> bool:
    """Whether one of the rules of a FlowSchema's ``spec`` is about the request."""
    return any(_rule(rule, digest) for rule in spec.get("rules") or ())


def _rule(rule: Object, digest: Digest) -> bool:
    if not any(_subject(subject, digest) for subject in rule.get("subjects") or ()):
        return False
    if digest.resource:
        return any(_resource(row, digest) for row in rule.get("resourceRules") or ())
    return any(_path(row, digest) for row in rule.get("nonResourceRules") or ())


def _subject(subject: Object, digest: Digest) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return (subject.get("user") or {}).get("name") in ("*", digest.user)
    if kind == "Group":
        name = (subject.get("group") or {}).get("name")
        return name == "*" or name in digest.groups
    if kind == "ServiceAccount":
        account = subject.get("serviceAccount") or {}
        prefix = f"{_ACCOUNT}{account.get('namespace', '')}:"
        if account.get("name") == "*":
            return digest.user.startswith(prefix)
        return digest.user == prefix + str(account.get("name"))
    return False


def _has(found: Sequence[str] | None, value: str) -> bool:
    return found is not None and (list(found) == ["*"] or value in found)


def _resource(rule: Object, digest: Digest) -> bool:
    if not _has(rule.get("verbs"), digest.verb) or not _has(rule.get("apiGroups"), digest.group):
        return False
    if not _has(rule.get("resources"), digest.resource):
        return False
    if not digest.namespace:
        return bool(rule.get("clusterScope"))
    return _has(rule.get("namespaces"), digest.namespace)


def _path(rule: Object, digest: Digest) -> bool:
    return _has(rule.get("verbs"), digest.verb) and any(
        pattern in ("*", digest.path) or digest.path.startswith(_prefix(pattern))
        for pattern in rule.get("nonResourceURLs") or ()
    )


def _prefix(pattern: str) -> str:
    plain = pattern.removesuffix("*")
    return plain if plain.endswith("/") else f"{plain}/"
