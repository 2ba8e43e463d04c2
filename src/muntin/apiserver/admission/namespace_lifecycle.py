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
    """Also keeps the namespaces that the cluster itself lives in."""

    def __init__(self, cache: Cache) -> None:
        self._namespaces = cache.of(NAMESPACES)

    def mutate(self, attributes: Attributes) -> None:
        if attributes.operation == "DELETE":
            if attributes.resource is NAMESPACES or attributes.resource.plural == "namespaces":
                self._keep(attributes)
            return
        if attributes.operation != "CREATE" or not attributes.namespace:
            return
        if not attributes.resource.namespaced:
            return
        item = self._namespaces.get("", attributes.namespace)
        if item is None:
            raise status.not_found(NAMESPACES, attributes.namespace)
        if item.fields["status.phase"] == "Terminating" and not attributes.subresource:
            why = (
                f"unable to create new content in namespace {attributes.namespace} because it is "
                "being terminated"
            )
            error = status.forbidden(attributes.resource, attributes.name, why)
            cause = Cause(
                "NamespaceTerminating",
                "metadata.namespace",
                f"namespace {attributes.namespace} is being terminated",
            )
            error.causes = (cause,)
            raise error

    def _keep(self, attributes: Attributes) -> None:
        if attributes.name in IMMORTAL:
            raise status.forbidden(NAMESPACES, attributes.name, "this namespace may not be deleted")
