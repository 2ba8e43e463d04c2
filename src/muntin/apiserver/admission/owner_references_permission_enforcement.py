"""Owners are set by those who may delete the object, and block them by those who may finalize them.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/gc/gc_admission.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.authz import Attributes as Asked
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.rbac import SUPERUSERS
from muntin.model.resources import Resource

FindKind = Callable[[str, str, str], Resource | None]
"""From group, version and kind to the row that is served, if it is."""


class OwnerReferencesPermissionEnforcement(Silent):
    """Looks at creations and updates of everything that has owners."""

    def __init__(self, authorizer: Authorizer, find: FindKind) -> None:
        self._authorizer = authorizer
        self._find = find

    def validate(self, attributes: Attributes) -> None:
        if attributes.operation not in ("CREATE", "UPDATE") or "metadata" not in attributes.obj:
            return
        if attributes.is_for("pods", "UPDATE", subresource="status"):
            return
        new, old = _owners(attributes.obj), _owners(attributes.old or {})
        if new == old or SUPERUSERS in attributes.user.groups:
            return
        if not self._may_delete(attributes):
            why = "cannot set an ownerRef on a resource you can't delete: , <nil>"
            raise status.forbidden(attributes.resource, attributes.name, why)
        for owner in _newly_blocking(new, old):
            self._check_owner(attributes, owner)

    def _may_delete(self, attributes: Attributes) -> bool:
        resource = attributes.resource
        asked = Asked(attributes.user, "delete", resource.group, resource.plural,
                      namespace=attributes.namespace, name=attributes.name)  # fmt: skip
        return self._authorizer.decide(asked).allowed

    def _check_owner(self, attributes: Attributes, owner: Object) -> None:
        head = "cannot set blockOwnerDeletion"
        group, _, version = owner.get("apiVersion", "").rpartition("/")
        row = self._find(group, version, owner.get("kind", ""))
        if row is None:
            why = (
                f"{head} in this case because cannot find RESTMapping for APIVersion "
                f"{owner.get('apiVersion')} Kind {owner.get('kind')}"
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
        asked = Asked(
            attributes.user, "update", row.group, row.plural, "finalizers",
            attributes.namespace if row.namespaced else "", owner.get("name", ""),
        )  # fmt: skip
        if not self._authorizer.decide(asked).allowed:
            why = (
                f"{head} if an ownerReference refers to a resource you can't set finalizers on: "
                ", <nil>"
            )
            raise status.forbidden(attributes.resource, attributes.name, why)


def _owners(obj: Object) -> list[Object]:
    return (obj.get("metadata") or {}).get("ownerReferences") or []


def _newly_blocking(new: list[Object], old: list[Object]) -> Iterator[Object]:
    before = {row.get("uid") for row in old if row.get("blockOwnerDeletion")}
    for row in new:
        if row.get("blockOwnerDeletion") and row.get("uid") not in before:
            yield row
