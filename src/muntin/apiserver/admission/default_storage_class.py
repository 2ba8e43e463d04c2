"""A claim that names no storage class gets the default one, if there is one.

Source: kubernetes v1.34 plugin/pkg/admission/storage/storageclass/setdefault/admission.go,
pkg/volume/util/storageclass.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.admission.defaults import newest_default
from muntin.apiserver.cache import Cache
from muntin.model.resources import STORAGE_CLASSES

DEFAULT = "storageclass.kubernetes.io/is-default-class"
BETA = "storageclass.beta.kubernetes.io/is-default-class"
NAMED_BEFORE = "volume.beta.kubernetes.io/storage-class"


class DefaultStorageClass(Silent):
    """An empty name is a choice too: of no class."""

    resources = frozenset({"persistentvolumeclaims"})

    def __init__(self, cache: Cache) -> None:
        self._classes = cache.of(STORAGE_CLASSES)

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("persistentvolumeclaims", "CREATE"):
            return
        claim = attributes.obj
        spec = claim.setdefault("spec", {})
        annotations = claim["metadata"].get("annotations") or {}
        if spec.get("storageClassName") is not None or NAMED_BEFORE in annotations:
            return
        found = newest_default(self._classes, DEFAULT, BETA)
        if found is not None:
            spec["storageClassName"] = found
