"""Nobody hands out a permission that they do not have.

Source: kubernetes v1.34 pkg/registry/rbac/{clusterrole,rolebinding}/policybased/storage.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.authz import Attributes as Asked
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.escalation import EVERYTHING, described, quoted, uncovered
from muntin.apiserver.authz.rbac import SUPERUSERS, not_found
from muntin.apiserver.cache import Cache
from muntin.model.resources import CLUSTER_ROLES, ROLES

RBAC = "rbac.authorization.k8s.io"
Object = Mapping[str, Any]


class RbacEscalation(Silent):
    """Roles need their own rules or the verb ``escalate``; bindings the role's, or ``bind``."""

    resources = frozenset(
        f"{plural}.{RBAC}"
        for plural in ("roles", "clusterroles", "rolebindings", "clusterrolebindings")
    )

    def __init__(self, authorizer: Authorizer, cache: Cache) -> None:
        self._authorizer = authorizer
        self._cache = cache

    def validate(self, attributes: Attributes) -> None:
        resource = attributes.resource
        if resource.group != RBAC or attributes.operation == "DELETE":
            return
        if SUPERUSERS in attributes.user.groups:
            return
        obj, old = attributes.obj, attributes.old or {}
        if resource.plural in ("roles", "clusterroles"):
            self._role(attributes, obj, old)
        elif (obj.get("subjects"), obj.get("roleRef")) != (old.get("subjects"), old.get("roleRef")):
            self._binding(attributes, obj.get("roleRef") or {})

    def _role(self, attributes: Attributes, obj: Object, old: Object) -> None:
        plural = attributes.resource.plural
        same = obj.get("rules") == old.get("rules")
        aggregates = bool((obj.get("aggregationRule") or {}).get("clusterRoleSelectors"))
        if same and obj.get("aggregationRule") == old.get("aggregationRule"):
            return
        if self._may(attributes, "escalate", plural, attributes.name):
            return
        self._confirm(attributes, obj.get("rules") or ())
        if aggregates:  # it may gather any rule that there ever will be
            user, namespace = attributes.user, attributes.namespace
            if uncovered(self._authorizer.rules_for(user, namespace), EVERYTHING[:1]):
                why = "must have cluster-admin privileges to use the aggregationRule"
                raise status.forbidden(attributes.resource, attributes.name, why)

    def _binding(self, attributes: Attributes, ref: Object) -> None:
        plural = "roles" if ref.get("kind") == "Role" else "clusterroles"
        if self._may(attributes, "bind", plural, ref.get("name", "")):
            return
        resource, scope = (
            (ROLES, attributes.namespace) if plural == "roles" else (CLUSTER_ROLES, "")
        )
        item = self._cache.get(resource, scope, ref.get("name", ""))
        if item is None:
            about = {"name": ref.get("name", ""), "group": RBAC, "kind": resource.singular}
            raise status.ApiError(404, "NotFound", not_found(ref), details=about)
        self._confirm(attributes, item.object().get("rules") or ())

    def _may(self, attributes: Attributes, verb: str, plural: str, name: str) -> bool:
        user, namespace = attributes.user, attributes.namespace
        asked = Asked(user, verb, RBAC, plural, namespace=namespace, name=name)
        return self._authorizer.decide(asked).allowed

    def _confirm(self, attributes: Attributes, rules: Sequence[Any]) -> None:
        user = attributes.user
        owned = self._authorizer.rules_for(user, attributes.namespace)
        if missing := uncovered(owned, rules):
            why = (
                f'user "{user.name}" (groups={quoted(user.groups)}) is attempting to grant RBAC '
                f"permissions not currently held:\n{described(missing)}"
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
