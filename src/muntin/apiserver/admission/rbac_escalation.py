"""Nobody hands out a permission that they do not have.

Source: kubernetes v1.34 pkg/registry/rbac/{clusterrole,rolebinding}/policybased/storage.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.authz import Attributes as Asked
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.rbac import SUPERUSERS, uncovered
from muntin.apiserver.cache import Cache
from muntin.model.resources import CLUSTER_ROLES, ROLES

RBAC = "rbac.authorization.k8s.io"


class RbacEscalation(Silent):
    """Roles need their own rules or the verb ``escalate``; bindings the role's, or ``bind``."""

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
            if obj.get("rules") == old.get("rules"):
                return
            self._check(attributes, "escalate", resource.plural, attributes.name,
                        obj.get("rules") or ())  # fmt: skip
        elif (obj.get("subjects"), obj.get("roleRef")) != (old.get("subjects"), old.get("roleRef")):
            ref = obj.get("roleRef") or {}
            plural = "roles" if ref.get("kind") == "Role" else "clusterroles"
            self._check(
                attributes,
                "bind",
                plural,
                ref.get("name", ""),
                self._rules_of(plural, attributes.namespace, ref.get("name", "")),
            )

    def _rules_of(self, plural: str, namespace: str, name: str) -> Sequence[Any]:
        resource, scope = (ROLES, namespace) if plural == "roles" else (CLUSTER_ROLES, "")
        item = self._cache.get(resource, scope, name)
        return () if item is None else item.object().get("rules") or ()

    def _check(
        self, attributes: Attributes, verb: str, plural: str, name: str, rules: Sequence[Any]
    ) -> None:
        user, namespace = attributes.user, attributes.namespace
        asked = Asked(user, verb, RBAC, plural, namespace=namespace, name=name)
        if self._authorizer.decide(asked).allowed:
            return
        missing = uncovered(self._authorizer.rules_for(user, namespace), rules)
        if missing:
            shown = "\n".join(str(dict(rule)) for rule in missing)
            why = (
                f'user "{user.name}" (groups={list(user.groups)}) is attempting to grant RBAC '
                f"permissions not currently held:\n{shown}"
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
