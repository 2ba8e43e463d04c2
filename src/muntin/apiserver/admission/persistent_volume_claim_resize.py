"""Only bound claims of classes that allow it may become larger.

Source: kubernetes v1.34 plugin/pkg/admission/storage/persistentvolume/resize/admission.go.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.cache import Cache
from muntin.model import quantity
from muntin.model.quota.claims import storage_class
from muntin.model.resources import STORAGE_CLASSES


class PersistentVolumeClaimResize(Silent):
    """Looks at updates that ask for more storage."""

    resources = frozenset({"persistentvolumeclaims"})

    def __init__(self, cache: Cache) -> None:
        self._classes = cache.of(STORAGE_CLASSES)

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("persistentvolumeclaims", "UPDATE"):
            return
        new, old = attributes.obj, attributes.old or {}
        if quantity.compare(_storage(new), _storage(old)) <= 0:
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            self._refuse(attributes, "Only bound persistent volume claims can be expanded")
        name = storage_class(new)
        item = self._classes.get("", name) if name == storage_class(old) else None
        if item is None or not item.object().get("allowVolumeExpansion"):
            self._refuse(
                attributes,
                "only dynamically provisioned pvc can be resized and the storageclass that "
                "provisions the pvc must support resize",
            )

    def _refuse(self, attributes: Attributes, why: str) -> None:
        raise status.forbidden(attributes.resource, attributes.name, why)


def _storage(claim: Object) -> str:
    resources = (claim.get("spec") or {}).get("resources") or {}
    return str((resources.get("requests") or {}).get("storage", "0"))
