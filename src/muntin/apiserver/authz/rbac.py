"""RBAC: roles and bindings to decisions.

The bindings are indexed by subject once per generation of RBAC objects, and decisions are cached
until the next one. Source: kubernetes v1.34 plugin/pkg/auth/authorizer/rbac/rbac.go,
pkg/apis/rbac/v1/evaluation_helpers.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from muntin.apiserver.authz.attributes import Attributes, Decision
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
    """The rules that one binding gives; ``namespace`` is None for a ClusterRoleBinding."""

    namespace: str | None
    rules: Sequence[Rule]
    reason: str


class Rbac:
    """Decides by the current objects."""

    def __init__(self, objects: RbacObjects) -> None:
        self._objects = objects
        self._generation = -1
        self._grants: dict[str, list[Grant]] = {}
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
        for grant in self.grants(asked.user, asked.namespace):
            if any(covers(rule, asked) for rule in grant.rules):
                return Decision(True, grant.reason)
        return Decision(False)

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """All that is bound to ``user`` and holds in ``namespace`` (empty: cluster-wide only)."""
        self._refresh()
        for subject in _subjects(user):
            for grant in self._grants.get(subject, ()):
                if grant.namespace is None or (namespace and grant.namespace == namespace):
                    yield grant

    def _refresh(self) -> None:
        if self._generation == self._objects.generation:
            return
        self._generation = self._objects.generation
        self._decisions.clear()
        self._grants = _index(self._objects)


def _index(objects: RbacObjects) -> dict[str, list[Grant]]:
    cluster_roles = {role["metadata"]["name"]: role for role in objects.of_kind("clusterroles")}
    roles = {
        (role["metadata"]["namespace"], role["metadata"]["name"]): role
        for role in objects.of_kind("roles")
    }
    grants: dict[str, list[Grant]] = {}
    for plural in ("clusterrolebindings", "rolebindings"):
        for binding in objects.of_kind(plural):
            meta, ref = binding["metadata"], binding.get("roleRef") or {}
            namespace = meta.get("namespace") if plural == "rolebindings" else None
            if ref.get("kind") == "Role":
                role = roles.get((namespace or "", ref.get("name", "")))
            else:
                role = cluster_roles.get(ref.get("name", ""))
            if role is None:
                continue
            grant = Grant(namespace, role.get("rules") or (), _reason(plural, meta, ref))
            for subject in binding.get("subjects") or ():
                if key := _subject_key(subject, namespace):
                    grants.setdefault(key, []).append(grant)
    return grants


def _reason(plural: str, meta: Object, ref: Object) -> str:
    kind = "RoleBinding" if plural == "rolebindings" else "ClusterRoleBinding"
    name = meta["name"] if kind == "ClusterRoleBinding" else f"{meta['name']}/{meta['namespace']}"
    return f'RBAC: allowed by {kind} "{name}" of {ref.get("kind")} "{ref.get("name")}"'


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
        return any(_path_matches(path, asked.path) for path in rule.get("nonResourceURLs") or ())
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


def _path_matches(pattern: str, path: str) -> bool:
    if pattern in ("*", path):
        return True
    return pattern.endswith("*") and path.startswith(pattern.rstrip("*"))


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The parts of ``wanted`` that ``owned`` does not give: what may not be granted to others.

    Each part is a rule of one verb and one resource, name or path.
    """
    return [part for rule in wanted for part in _parts(rule) if not _owned(owned, part)]


def _parts(rule: Rule) -> Iterator[Rule]:
    for verb in rule.get("verbs") or ():
        for path in rule.get("nonResourceURLs") or ():
            yield {"verbs": [verb], "nonResourceURLs": [path]}
        for group in rule.get("apiGroups") or ():
            for resource in rule.get("resources") or ():
                part = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
                for name in rule.get("resourceNames") or ("",):
                    yield {**part, "resourceNames": [name]} if name else part


def _owned(owned: Sequence[Rule], part: Rule) -> bool:
    verb = part["verbs"][0]
    for rule in owned:
        verbs = rule.get("verbs") or ()
        if verb not in verbs and "*" not in verbs:
            continue
        if paths := part.get("nonResourceURLs"):
            if any(_path_matches(path, paths[0]) for path in rule.get("nonResourceURLs") or ()):
                return True
            continue
        resource, _, subresource = part["resources"][0].partition("/")
        names = part.get("resourceNames") or [""]
        asked = Attributes(
            User(""), verb, part["apiGroups"][0], resource, subresource, name=names[0]
        )
        if covers({**rule, "verbs": [verb]}, asked):
            return True
    return False
