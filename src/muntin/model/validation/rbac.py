"""Validation of roles and their bindings.

Source: kubernetes v1.34 pkg/apis/rbac/validation/validation.go.
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_selector

GROUP = "rbac.authorization.k8s.io"


def role(obj: Object, found: Findings) -> None:
    """A role: rules for resources only."""
    for index, rule in enumerate(obj.get("rules") or ()):
        _rule(rule, f"rules[{index}]", True, found)


def cluster_role(obj: Object, found: Findings) -> None:
    """A cluster role: rules for resources and for paths."""
    for index, rule in enumerate(obj.get("rules") or ()):
        _rule(rule, f"rules[{index}]", False, found)
    aggregation = obj.get("aggregationRule")
    if aggregation is not None:
        rows = aggregation.get("clusterRoleSelectors") or ()
        path = "aggregationRule.clusterRoleSelectors"
        if not rows:
            found.required(path, "at least one clusterRoleSelector required if aggregationRule is "
                           "non-nil")  # fmt: skip
        for index, row in enumerate(rows):
            before = len(found.causes)
            label_selector(row, f"{path}[{index}]", found)
            if len(found.causes) > before:
                found.invalid(f"{path}[{index}]", None, "invalid label selector.")


def _rule(rule: Object, path: str, namespaced: bool, found: Findings) -> None:
    if not rule.get("verbs"):
        found.required(f"{path}.verbs", "verbs must contain at least one value")
    if rule.get("nonResourceURLs"):
        if namespaced:
            found.invalid(
                f"{path}.nonResourceURLs",
                rule["nonResourceURLs"],
                "namespaced rules cannot apply to non-resource URLs",
            )
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            found.invalid(
                f"{path}.nonResourceURLs",
                rule["nonResourceURLs"],
                "rules cannot apply to both regular resources and non-resource URLs",
            )
        return
    if not rule.get("apiGroups"):
        found.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        found.required(f"{path}.resources", "resource rules must supply at least one resource")


def role_binding(obj: Object, found: Findings) -> None:
    """A binding within a namespace."""
    _binding(obj, ("Role", "ClusterRole"), found, namespaced=True)


def cluster_role_binding(obj: Object, found: Findings) -> None:
    """A binding for the whole cluster."""
    _binding(obj, ("ClusterRole",), found, namespaced=False)


def _binding(obj: Object, kinds: tuple[str, ...], found: Findings, *, namespaced: bool) -> None:
    role_ref = obj.get("roleRef") or {}
    if role_ref.get("apiGroup") != GROUP:
        found.not_supported("roleRef.apiGroup", role_ref.get("apiGroup", ""), (GROUP,))
    if role_ref.get("kind") not in kinds:
        found.not_supported("roleRef.kind", role_ref.get("kind", ""), kinds)
    name = role_ref.get("name")
    if not name:
        found.required("roleRef.name")
    else:
        found.each_invalid("roleRef.name", name, names.path_segment(name))
    for index, subject in enumerate(obj.get("subjects") or ()):
        _subject(subject, f"subjects[{index}]", namespaced, found)


def _subject(subject: Object, path: str, namespaced: bool, found: Findings) -> None:
    kind, name, group = subject.get("kind"), subject.get("name"), subject.get("apiGroup") or ""
    if not name:
        found.required(f"{path}.name")
    if kind == "ServiceAccount":
        if name:
            found.each_invalid(f"{path}.name", name, names.dns1123_subdomain(name))
        if group:
            found.not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            found.required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != GROUP:
            found.not_supported(f"{path}.apiGroup", group, (GROUP,))
    else:
        found.not_supported(f"{path}.kind", kind or "", ("ServiceAccount", "User", "Group"))


def _update(new: Object, old: Object, found: Findings) -> None:
    if new.get("roleRef") != old.get("roleRef"):
        ref = new.get("roleRef") or {}
        ordered = {
            "APIGroup": ref.get("apiGroup", ""),
            "Kind": ref.get("kind", ""),
            "Name": ref.get("name", ""),
        }
        found.invalid("roleRef", ordered, "cannot change roleRef")


def role_binding_update(new: Object, old: Object, found: Findings) -> None:
    """A changed binding keeps its role."""
    role_binding(new, found)
    _update(new, old, found)


def cluster_role_binding_update(new: Object, old: Object, found: Findings) -> None:
    """A changed binding keeps its role."""
    cluster_role_binding(new, found)
    _update(new, old, found)
