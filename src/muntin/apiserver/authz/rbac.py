"""RBAC: roles and bindings to decisions.

The bindings are indexed by subject once per generation of RBAC objects, and decisions are cached
until the next one. Source: kubernetes v1.34 plugin/pkg/auth/authorizer/rbac/rbac.go,
pkg/apis/rbac/v1/evaluation_helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from muntin.apiserver.authz.attributes import NO_OPINION, Attributes, Decision
from muntin.apiserver.request import User

Object = Mapping[str, Any]
Rule = Mapping[str, Any]

SUPERUSERS = "system:masters"
CACHE_ENTRIES = 20_000


class RbacObjects(Protocol):
    """The RBAC objects that there are; ``generation`` changes with each write to any of them."""

    @property
    def generation(self) -> int:
        """A number that never comes back to an earlier value."""

    def of_kind(self, plural: str) -> Iterable[Object]:
        """All objects of roles, clusterroles, rolebindings or clusterrolebindings."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rules that one binding gives one of its subjects.

    ``namespace`` is None for a ClusterRoleBinding. ``missing`` says which role is not there; there
    are no rules then. ``place`` is where the binding stands among all, and the subject in it.
    """

    namespace: str | None
    rules: Sequence[Rule]
    reason: str
    missing: str
    place: tuple[int, int]


class Rbac:
    """Decides by the current objects."""

    def __init__(self, objects: RbacObjects) -> None:
        self._objects = objects
        self._generation = -1
        self._grants: dict[str, list[Grant]] = {}
        self._of_users: dict[tuple[str, tuple[str, ...]], list[Grant]] = {}
        self._decisions: dict[tuple[Any, ...], Decision] = {}

    def decide(self, asked: Attributes) -> Decision:
        """Whether ``asked`` is allowed."""
        if SUPERUSERS in asked.user.groups:
            return Decision(True)
        self._refresh()
        user = asked.user
        key = (user.name, user.groups, asked.verb, asked.group, asked.combined,
               asked.namespace, asked.name, asked.path)  # fmt: skip
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= CACHE_ENTRIES:
                self._decisions.clear()
            found = self._decisions[key] = self._decide(asked)
        return found

    def _decide(self, asked: Attributes) -> Decision:
        missing: dict[str, None] = {}
        for grant in self.grants(asked.user, asked.namespace):
            if any(covers(rule, asked) for rule in grant.rules):
                return Decision(True, grant.reason)
            if grant.missing:
                missing[grant.missing] = None
        if not missing:
            return NO_OPINION
        text = ", ".join(missing)
        return Decision(False, f"RBAC: {text}" if len(missing) == 1 else f"RBAC: [{text}]")

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """All that is bound to ``user`` and holds in ``namespace`` (empty: cluster-wide only)."""
        self._refresh()
        for grant in self._of_user(user):
            if grant.namespace is None or (namespace and grant.namespace == namespace):
                yield grant

    def _of_user(self, user: User) -> list[Grant]:
        """What is bound to ``user``: each binding once, by the first of its subjects they are."""
        key = user.name, user.groups
        known = self._of_users.get(key)
        if known is None:
            if len(self._of_users) >= CACHE_ENTRIES:
                self._of_users.clear()
            found = [
                grant for subject in _subjects(user) for grant in self._grants.get(subject, ())
            ]
            first: dict[int, Grant] = {}
            for grant in sorted(found, key=lambda grant: grant.place):
                first.setdefault(grant.place[0], grant)
            known = self._of_users[key] = list(first.values())
        return known

    def _refresh(self) -> None:
        if self._generation == self._objects.generation:
            return
        self._generation = self._objects.generation
        self._decisions.clear()
        self._of_users.clear()
        self._grants = _index(self._objects)


def _index(objects: RbacObjects) -> dict[str, list[Grant]]:
    roles = {("", role["metadata"]["name"]): role for role in objects.of_kind("clusterroles")}
    for role in objects.of_kind("roles"):
        roles[role["metadata"]["namespace"], role["metadata"]["name"]] = role
    grants: dict[str, list[Grant]] = {}
    place = 0
    for plural in ("clusterrolebindings", "rolebindings"):
        for binding in objects.of_kind(plural):
            meta, ref = binding["metadata"], binding.get("roleRef") or {}
            namespace = meta.get("namespace") if plural == "rolebindings" else None
            scope = namespace or "" if ref.get("kind") == "Role" else ""
            found = roles.get((scope, ref.get("name", "")))
            rules = () if found is None else found.get("rules") or ()
            missing = not_found(ref) if found is None else ""
            reason = _reason(plural, meta, ref)
            place += 1
            for at, subject in enumerate(binding.get("subjects") or ()):
                if key := _subject_key(subject, namespace):
                    why = f"{reason} to {_described(subject, namespace)}"
                    grant = Grant(namespace, rules, why, missing, (place, at))
                    grants.setdefault(key, []).append(grant)
    return grants


def not_found(ref: Object) -> str:
    """Upstream's words for a role that a binding names and that is not there."""
    kind = str(ref.get("kind", "")).lower()
    return f'{kind}.rbac.authorization.k8s.io "{ref.get("name", "")}" not found'


def _reason(plural: str, meta: Object, ref: Object) -> str:
    kind = "RoleBinding" if plural == "rolebindings" else "ClusterRoleBinding"
    name = meta["name"] if kind == "ClusterRoleBinding" else f"{meta['name']}/{meta['namespace']}"
    return f'RBAC: allowed by {kind} "{name}" of {ref.get("kind")} "{ref.get("name")}"'


def _described(subject: Object, namespace: str | None) -> str:
    kind, name = subject.get("kind"), subject.get("name", "")
    if kind == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f'{kind} "{name}"'


def _subject_key(subject: Object, namespace: str | None) -> str:
    name = subject.get("name", "")
    match subject.get("kind"):
        case "User":
            return f"u:{name}"
        case "Group":
            return f"g:{name}"
        case "ServiceAccount":
            return f"u:system:serviceaccount:{subject.get('namespace') or namespace}:{name}"
    return ""


def _subjects(user: User) -> Iterator[str]:
    yield f"u:{user.name}"
    for group in user.groups:
        yield f"g:{group}"


def covers(rule: Rule, asked: Attributes) -> bool:
    """Whether one rule allows ``asked``."""
    verbs = rule.get("verbs") or ()
    if asked.verb not in verbs and "*" not in verbs:
        return False
    if not asked.resource:
        return any(path_matches(path, asked.path) for path in rule.get("nonResourceURLs") or ())
    groups, names = rule.get("apiGroups") or (), rule.get("resourceNames") or ()
    if asked.group not in groups and "*" not in groups:
        return False
    if names and asked.name not in names:
        return False
    return _resource_matches(rule.get("resources") or (), asked)


def _resource_matches(resources: Sequence[str], asked: Attributes) -> bool:
    if "*" in resources or asked.combined in resources:
        return True
    return bool(asked.subresource) and f"*/{asked.subresource}" in resources


def path_matches(pattern: str, path: str) -> bool:
    """Whether a rule's path, maybe with ``*`` at its end, is ``path`` or above it."""
    if pattern in ("*", path):
        return True
    return pattern.endswith("*") and path.startswith(pattern.rstrip("*"))
