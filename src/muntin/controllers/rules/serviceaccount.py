"""ServiceAccount: a ``default`` one in every namespace.

Source: kubernetes v1.34 pkg/controller/serviceaccount/serviceaccounts_controller.go.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import Action, Create, Object
from muntin.model import pods
from muntin.model.resources import SERVICE_ACCOUNTS

NAME = "default"


def reconcile(namespace: Object, existing: Object | None) -> list[Action]:
    """The account to create, if the namespace lives and ``existing`` is none."""
    if existing is not None or not is_active(namespace):
        return []
    meta = {"name": NAME, "namespace": namespace["metadata"]["name"]}
    obj = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}
    return [Create(resource=SERVICE_ACCOUNTS, obj=obj)]


def is_active(namespace: Object) -> bool:
    """Whether objects may be created in the namespace."""
    terminating = (namespace.get("status") or {}).get("phase") == "Terminating"
    return not terminating and not pods.is_deleting(namespace)
