"""Nobody lets an admission policy read parameters that they may not read themselves.

Source: kubernetes v1.34 pkg/registry/admissionregistration/{validatingadmissionpolicy,
validatingadmissionpolicybinding}/authz.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.admission.owner_references_permission_enforcement import FindKind
from muntin.apiserver.authz import Attributes as Asked
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.rbac import SUPERUSERS
from muntin.apiserver.cache import Cache
from muntin.model.admission.rules import GROUP
from muntin.model.resources import Resource
from muntin.model.validation.findings import Findings

Object = dict[str, Any]

_POLICIES = {
    "validatingadmissionpolicybindings": "validatingadmissionpolicies",
    "mutatingadmissionpolicybindings": "mutatingadmissionpolicies",
}


class AdmissionConfiguration(Silent):
    """Judges new and changed policies and bindings."""

    def __init__(self, cache: Cache, authorizer: Authorizer, find_kind: FindKind) -> None:
        self._cache = cache
        self._authorizer = authorizer
        self._find_kind = find_kind

    def validate(self, attributes: Attributes) -> None:
        resource = attributes.resource
        if resource.group != GROUP or attributes.subresource:
            return
        if attributes.operation not in ("CREATE", "UPDATE"):
            return
        found = Findings()
        if SUPERUSERS not in attributes.user.groups:
            self._parameters(attributes, found)
        if found.causes:
            raise status.invalid(resource, attributes.name, found.causes)

    def _parameters(self, attributes: Attributes, found: Findings) -> None:
        spec: Mapping[str, Any] = attributes.obj.get("spec") or {}
        policies = _POLICIES.get(attributes.resource.plural)
        if policies is None:
            kind, path, name, namespace = spec.get("paramKind"), "spec.paramKind", "*", "*"
        else:
            kind = self._kind_of(policies, spec.get("policyName", ""))
            ref = spec.get("paramRef") or {}
            path, name = "spec.paramRef", ref.get("name") or "*"
            namespace = ref.get("namespace") or "*"
            if not ref:
                return
        if not kind:
            return
        row = self._row(kind)
        if row is None:  # nothing that could be read, yet
            return
        space = namespace if row.namespaced else ""
        user = attributes.user
        asked = Asked(user, "get", row.group, row.plural, namespace=space, name=name)
        if not self._authorizer.decide(asked).allowed:
            what = (
                "all objects of the referenced paramKind"
                if policies is None
                else ("the object referenced by paramRef")
            )
            found.forbidden(
                path,
                f'user {user.name} must have "get" permission on {what} '
                f"(kind={kind.get('kind')}, apiVersion={kind.get('apiVersion')})",
            )

    def _kind_of(self, plural: str, name: str) -> Object | None:
        policies = self._cache.by_storage.get(f"{GROUP}/{plural}")
        item = policies.get("", name) if policies is not None else None
        return (item.object().get("spec") or {}).get("paramKind") if item is not None else None

    def _row(self, kind: Object) -> Resource | None:
        group, _, version = str(kind.get("apiVersion") or "").rpartition("/")
        return self._find_kind(group, version, str(kind.get("kind") or ""))
