"""Volumes and claims keep a finalizer until nobody uses them any longer.

Source: kubernetes v1.34 plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.model.volumes_in_use import CLAIM_FINALIZER, VOLUME_FINALIZER

_FINALIZERS = {
    "persistentvolumes": VOLUME_FINALIZER,
    "persistentvolumeclaims": CLAIM_FINALIZER,
}


class StorageObjectInUseProtection(Silent):
    """Controllers take the finalizers away again."""

    def mutate(self, attributes: Attributes) -> None:
        finalizer = _FINALIZERS.get(attributes.resource.plural)
        if finalizer is None or not attributes.is_for(attributes.resource.plural, "CREATE"):
            return
        metadata = attributes.obj["metadata"]
        have = metadata.get("finalizers") or []
        if finalizer not in have:
            metadata["finalizers"] = [*have, finalizer]
