"""Nothing is created in a namespace that is not there or is being deleted.

Source: apiserver v1.34 pkg/admission/plugin/namespace/lifecycle/admission.go.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.cache import Cache
from muntin.kit.errors import Cause
from muntin.model.resources import NAMESPACES

IMMORTAL = frozenset({"default", "kube-system", "kube-public"})


class NamespaceLifecycle(Silent):
    """Also keeps the namespaces that the cluster itself lives in.

    Upstream asks its store about namespaces that were just deleted; here a deletion is answered
    when the cache has it. Of another server's deletion the cache may be late by one event.
    """

    def __init__(self, cache: Cache) -> None:
        self._namespaces = cache.of(NAMESPACES)

    def mutate(self, attributes: Attributes) -> None:
        resource = attributes.resource
        is_namespace = resource.plural == "namespaces" and not resource.group
        if attributes.operation == "DELETE":
            if is_namespace and attributes.name in IMMORTAL:
                why = "this namespace may not be deleted"
                raise status.forbidden(NAMESPACES, attributes.name, why)
            return
        if is_namespace or not attributes.namespace or not resource.namespaced:
            return
        if attributes.operation == "CREATE" and not resource.group.startswith("authorization."):
            self._require(attributes)

    def _require(self, attributes: Attributes) -> None:
        item = self._namespaces.get("", attributes.namespace)
        if item is None:
            raise status.not_found(NAMESPACES, attributes.namespace)
        if item.fields["status.phase"] != "Terminating":
            return
        why = (
            f"unable to create new content in namespace {attributes.namespace} because it is "
            "being terminated"
        )
        error = status.forbidden(attributes.resource, attributes.name, why)
        text = f"namespace {attributes.namespace} is being terminated"
        error.causes = (Cause("NamespaceTerminating", "metadata.namespace", text),)
        raise error
