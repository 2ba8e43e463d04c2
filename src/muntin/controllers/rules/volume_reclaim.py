"""PersistentVolumes: their phase, and what becomes of them when their claim is gone.

Source: kubernetes v1.36 pkg/controller/volume/persistentvolume/pv_controller.go (syncVolume,
reclaimVolume), pkg/volume/hostpath/host_path.go (Delete).
"""

from __future__ import annotations

from muntin.controllers.rules.actions import (
    WARNING,
    Action,
    Again,
    Delete,
    Note,
    Object,
    Update,
)
from muntin.controllers.rules.claim_binding import RESYNC_S, volume_phase
from muntin.model import volume_binding as binding
from muntin.model.resources import PERSISTENT_VOLUMES

_WITH_RECYCLER = ("hostPath", "nfs")
_KNOWN_SOURCES = ("hostPath", "nfs")
NO_RECYCLER_PODS = (
    "Recycle failed: this cluster starts no recycler pods; remove the files and the volume's "
    "spec.claimRef yourself, or use the reclaim policy Delete or Retain"
)


def reconcile(volume: Object, claim: Object | None) -> list[Action]:
    """The next step for ``volume``; ``claim`` has the name that its reference says."""
    reference = volume["spec"].get("claimRef")
    if reference is None or not reference.get("uid"):
        return _phase(volume, "Available")
    if claim is None or claim["metadata"]["uid"] != reference["uid"]:
        return _released(volume)
    named = claim["spec"].get("volumeName") or ""
    if not named:
        return [] if binding.same_mode(claim, volume) else _mismatch(volume, claim)
    if named == volume["metadata"]["name"]:
        return _phase(volume, "Bound")
    policy = volume["spec"].get("persistentVolumeReclaimPolicy")
    if binding.PROVISIONED_BY in binding.annotations_of(volume) and policy == "Delete":
        return _released(volume)
    return [Update(resource=PERSISTENT_VOLUMES, obj=unbound(volume))]


def unbound(volume: Object) -> Object:
    """The volume free again: of a claim that the binder chose, or held for the one it names."""
    spec = dict(volume["spec"])
    if binding.BOUND_BY_CONTROLLER in binding.annotations_of(volume):
        spec.pop("claimRef", None)
        volume = binding.with_annotations(volume, {binding.BOUND_BY_CONTROLLER: None})
    else:
        spec["claimRef"] = {key: row for key, row in spec["claimRef"].items() if key != "uid"}
    return {**volume, "spec": spec}


def _phase(volume: Object, phase: str) -> list[Action]:
    if (volume.get("status") or {}).get("phase") == phase:
        return []
    return [volume_phase(volume, phase)]


def _mismatch(volume: Object, claim: Object) -> list[Action]:
    about_volume = (
        "Cannot bind PersistentVolume to requested PersistentVolumeClaim "
        f'"{claim["metadata"]["name"]}" due to incompatible volumeMode.'
    )
    about_claim = (
        f'Cannot bind PersistentVolume "{volume["metadata"]["name"]}" to requested '
        "PersistentVolumeClaim due to incompatible volumeMode."
    )
    return [
        Note(about=volume, type=WARNING, reason="VolumeMismatch", message=about_volume),
        Note(about=claim, type=WARNING, reason="VolumeMismatch", message=about_claim),
        Again(RESYNC_S),
    ]


def _released(volume: Object) -> list[Action]:
    if (volume.get("status") or {}).get("phase") not in ("Released", "Failed"):
        return [volume_phase(volume, "Released")]  # the next look reclaims it
    if binding.MIGRATED_TO in binding.annotations_of(volume):
        return []
    policy = volume["spec"].get("persistentVolumeReclaimPolicy") or "Retain"
    if policy == "Retain":
        return []
    if policy == "Delete":
        return _delete(volume)
    if policy == "Recycle":
        if any(kind in volume["spec"] for kind in _WITH_RECYCLER):
            return _failed(volume, "VolumeFailedRecycle", NO_RECYCLER_PODS)
        text = "No recycler plugin found for the volume!"
        return _failed(volume, "VolumeFailedRecycle", text)
    text = "Volume has unrecognized PersistentVolumeReclaimPolicy"
    return _failed(volume, "VolumeUnknownReclaimPolicy", text)


def _delete(volume: Object) -> list[Action]:
    """Delete what no external provisioner takes care of."""
    made_by = binding.annotations_of(volume).get(binding.PROVISIONED_BY, "")
    if made_by:
        if not made_by.startswith("kubernetes.io/"):
            return []
        text = f"no volume plugin matched name: {made_by}"
        return _failed(volume, "VolumeFailedDelete", text)
    spec = volume["spec"]
    if "csi" in spec:
        return []
    if "hostPath" in spec:
        path = spec["hostPath"].get("path", "")
        if "/tmp/" in path and not path.endswith("/tmp/"):
            return [Delete(resource=PERSISTENT_VOLUMES, obj=volume)]
        text = f"host_path deleter only supports /tmp/.+ but received provided {path}"
        return _failed(volume, "VolumeFailedDelete", text)
    known = any(kind in spec for kind in _KNOWN_SOURCES)
    why = "no deletable volume plugin matched" if known else "no volume plugin matched"
    name = volume["metadata"]["name"]
    text = f'error getting deleter volume plugin for volume "{name}": {why}'
    return _failed(volume, "VolumeFailedDelete", text)


def _failed(volume: Object, reason: str, message: str) -> list[Action]:
    if (volume.get("status") or {}).get("phase") == "Failed":
        return []
    note = Note(about=volume, type=WARNING, reason=reason, message=message)
    return [volume_phase(volume, "Failed", message), note]
