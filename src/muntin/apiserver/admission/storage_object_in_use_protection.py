"""Volumes and claims keep a finalizer until nobody uses them any longer.

Source: kubernetes v1.36 plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.model.volumes_in_use import ATTRIBUTES_FINALIZER, CLAIM_FINALIZER, VOLUME_FINALIZER

_FINALIZERS = {
    ("", "persistentvolumes"): VOLUME_FINALIZER,
    ("", "persistentvolumeclaims"): CLAIM_FINALIZER,
    ("storage.k8s.io", "volumeattributesclasses"): ATTRIBUTES_FINALIZER,
}


class StorageObjectInUseProtection(Silent):
    """Controllers take the finalizers away again."""

    resources = frozenset(f"{plural}.{group}" if group else plural for group, plural in _FINALIZERS)

    def mutate(self, attributes: Attributes) -> None:
        row = attributes.resource
        finalizer = _FINALIZERS.get((row.group, row.plural))
        if finalizer is None or attributes.operation != "CREATE" or attributes.subresource:
            return
        metadata = attributes.obj["metadata"]
        have = metadata.get("finalizers") or []
        if finalizer not in have:
            metadata["finalizers"] = [*have, finalizer]
