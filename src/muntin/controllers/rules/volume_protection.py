"""The finalizers of volumes and claims: put on what lacks one, taken off what nobody uses.

Source: kubernetes v1.36 pkg/controller/volume/{pvcprotection,pvprotection,vacprotection}.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.controllers.rules.actions import Action, Object, Update
from muntin.model import pods
from muntin.model.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    VOLUME_ATTRIBUTES_CLASSES,
    Resource,
)
from muntin.model.volumes_in_use import (
    ATTRIBUTES_FINALIZER,
    CLAIM_FINALIZER,
    VOLUME_FINALIZER,
    uses,
)


def reconcile_claim(claim: Object, namespace_pods: Iterable[Object]) -> list[Action]:
    """A claim is held while a pod on some node uses it."""
    name = claim["metadata"]["name"]
    in_use = pods.is_deleting(claim) and any(uses(pod, name) for pod in namespace_pods)
    return _reconcile(PERSISTENT_VOLUME_CLAIMS, claim, CLAIM_FINALIZER, in_use)


def reconcile_volume(volume: Object) -> list[Action]:
    """A volume is held while it is bound to a claim."""
    in_use = (volume.get("status") or {}).get("phase") == "Bound"
    return _reconcile(PERSISTENT_VOLUMES, volume, VOLUME_FINALIZER, in_use)


def reconcile_attributes_class(found: Object, *, in_use: bool) -> list[Action]:
    """A VolumeAttributesClass is held while a volume or a claim names it."""
    return _reconcile(VOLUME_ATTRIBUTES_CLASSES, found, ATTRIBUTES_FINALIZER, in_use)


def attributes_classes_of(obj: Object) -> set[str]:
    """The VolumeAttributesClasses that a volume or a claim names: wanted, given, or on the way."""
    status = obj.get("status") or {}
    names = {
        obj["spec"].get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in names if name}


def _reconcile(resource: Resource, obj: Object, finalizer: str, in_use: bool) -> list[Action]:
    have = obj["metadata"].get("finalizers") or []
    if pods.is_deleting(obj):
        if finalizer not in have or in_use:
            return []
        wanted = [name for name in have if name != finalizer]
    elif finalizer in have:
        return []
    else:
        wanted = [*have, finalizer]
    changed = {**obj, "metadata": {**obj["metadata"], "finalizers": wanted}}
    return [Update(resource=resource, obj=changed)]
