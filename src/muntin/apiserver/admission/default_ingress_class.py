"""An Ingress that names no class gets the default one, if there is one.

Source: kubernetes v1.34 plugin/pkg/admission/network/defaultingressclass/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.admission.defaults import newest_default
from muntin.apiserver.cache import Cache
from muntin.model.resources import known

INGRESS_CLASSES = known("networking.k8s.io/v1", "IngressClass")
DEFAULT = "ingressclass.kubernetes.io/is-default-class"
NAMED_BEFORE = "kubernetes.io/ingress.class"


class DefaultIngressClass(Silent):
    """Of new Ingresses only."""

    resources = frozenset({"ingresses.networking.k8s.io"})

    def __init__(self, cache: Cache) -> None:
        self._classes = cache.of(INGRESS_CLASSES)

    def mutate(self, attributes: Attributes) -> None:
        resource = attributes.resource
        if attributes.operation != "CREATE" or attributes.subresource:
            return
        if resource.plural != "ingresses" or resource.group != INGRESS_CLASSES.group:
            return
        ingress = attributes.obj
        spec = ingress.setdefault("spec", {})
        annotations = ingress["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or NAMED_BEFORE in annotations:
            return
        found = newest_default(self._classes, DEFAULT)
        if found is not None:
            spec["ingressClassName"] = found
