"""Which operations a rule of a webhook or a policy is for.

Source: apiserver v1.34 pkg/admission/plugin/webhook/predicates/rules/rules.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muntin.model.resources import Resource

GROUP = "admissionregistration.k8s.io"
EXEMPT = frozenset(
    {
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    }
)
"""Resources of `GROUP` that no webhook or policy is asked about: else one could lock all out."""


@dataclass(frozen=True, slots=True)
class Target:
    """One operation. ``namespace`` is empty for what is cluster-scoped."""

    operation: str
    group: str
    version: str
    plural: str
    subresource: str
    namespace: str
    name: str

    def seen_as(self, row: Resource) -> Target:
        """The same operation in another group version."""
        return replace(self, group=row.group, version=row.version, plural=row.plural)

    @property
    def is_exempt(self) -> bool:
        """Whether it is about the configuration of admission itself."""
        return self.group == GROUP and self.plural in EXEMPT

    @property
    def is_namespace(self) -> bool:
        """Whether it is about a Namespace or one of its subresources."""
        return self.plural == "namespaces" and not self.group


def any_matches(rules: Iterable[Mapping[str, Any]], target: Target) -> bool:
    """Whether one of ``rules`` is for ``target``."""
    return any(matches(rule, target) for rule in rules)


def matches(rule: Mapping[str, Any], target: Target) -> bool:
    """Whether ``rule`` (RuleWithOperations, NamedRuleWithOperations) is for ``target``."""
    names: Sequence[str] = rule.get("resourceNames") or ()
    return (
        _has(rule.get("operations"), target.operation)
        and _has(rule.get("apiGroups"), target.group)
        and _has(rule.get("apiVersions"), target.version)
        and any(_is_resource(text, target) for text in rule.get("resources") or ())
        and _in_scope(rule.get("scope") or "*", target)
        and (not names or target.name in names)
    )


def _has(values: Sequence[str] | None, wanted: str) -> bool:
    return any(value in ("*", wanted) for value in values or ())


def _is_resource(text: str, target: Target) -> bool:
    plural, _, subresource = text.partition("/")
    return plural in ("*", target.plural) and subresource in ("*", target.subresource)


def _in_scope(scope: str, target: Target) -> bool:
    if scope == "Namespaced":
        return bool(target.namespace) and not target.is_namespace
    if scope == "Cluster":
        return not target.namespace or target.is_namespace
    return True
