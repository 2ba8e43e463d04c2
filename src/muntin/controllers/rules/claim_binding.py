"""PersistentVolumeClaims: a volume for each, or somebody who makes one.

One step a round, in upstream's order: the volume's reference, its phase, the claim's, its status.
Source: kubernetes v1.36 pkg/controller/volume/persistentvolume/pv_controller.go (syncClaim).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Note,
    Object,
    Update,
)
from muntin.model import pods, quantity
from muntin.model import volume_binding as binding
from muntin.model.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES

RESYNC_S = 15.0
"""How often what could not be bound is tried again, and told about."""
PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity"
MIGRATED = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
"""Provisioners that were part of Kubernetes, and the CSI drivers that do their work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``storage_class`` is the one that the claim names, ``default_class`` the cluster's.

    ``volumes`` are all; ``users`` the pods that use the claim.
    """

    claim: Object
    volumes: Sequence[Object]
    storage_class: Object | None = None
    default_class: str | None = None
    users: Sequence[Object] = ()


def reconcile(snapshot: Snapshot) -> list[Action]:
    """The next step towards a claim that is bound, or said to be lost."""
    claim = snapshot.claim
    named = claim["spec"].get("volumeName") or ""
    volume = next((row for row in snapshot.volumes if row["metadata"]["name"] == named), None)
    if binding.BIND_COMPLETED in binding.annotations_of(claim):
        return _bound_before(claim, volume)
    if not named:
        return _unbound(snapshot)
    if volume is None:
        return _pending(claim)
    return _wants(claim, volume)


def bind(claim: Object, volume: Object) -> list[Action]:
    """One step of binding both; none when all is said."""
    changed = binding.bound_volume(volume, claim)
    if changed is not None:
        return [Update(resource=PERSISTENT_VOLUMES, obj=changed)]
    if (volume.get("status") or {}).get("phase") != "Bound":
        return [volume_phase(volume, "Bound")]
    completed = _claim_of(claim, volume)
    if completed is not None:
        return [Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=completed)]
    return _status(claim, "Bound", volume)


def volume_phase(volume: Object, phase: str, message: str = "") -> Update:
    """The volume in another phase."""
    status = {**(volume.get("status") or {}), "phase": phase}
    status.pop("message", None)
    if message:
        status["message"] = message
    return Update(
        resource=PERSISTENT_VOLUMES, obj={**volume, "status": status}, subresource="status"
    )


def _claim_of(claim: Object, volume: Object) -> Object | None:
    """The claim as one that is bound to ``volume``; None if it is so."""
    annotations: dict[str, str | None] = {}
    name = volume["metadata"]["name"]
    have = binding.annotations_of(claim)
    if claim["spec"].get("volumeName") != name:
        annotations[binding.BOUND_BY_CONTROLLER] = have.get(binding.BOUND_BY_CONTROLLER, "yes")
    if binding.BIND_COMPLETED not in have:
        annotations[binding.BIND_COMPLETED] = "yes"
    if not annotations:
        return None
    changed = binding.with_annotations(claim, annotations)
    return {**changed, "spec": {**claim["spec"], "volumeName": name}}


def _status(claim: Object, phase: str, volume: Object | None = None) -> list[Action]:
    before = claim.get("status") or {}
    status = {**before, "phase": phase}
    if volume is None:
        for name in ("accessModes", "capacity", "currentVolumeAttributesClassName"):
            status.pop(name, None)
    else:
        status["accessModes"] = list(volume["spec"].get("accessModes") or ())
        if before.get("phase") != phase:
            status.update(_becoming_bound(before, volume))
    if status == before:
        return []
    changed = {**claim, "status": status}
    return [Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=changed, subresource="status")]


def _becoming_bound(before: Object, volume: Object) -> Object:
    """What a claim takes over from its volume when it is bound, and not again."""
    given: Object = {}
    resizing = binding.annotations_of(volume).get(PRE_RESIZE_CAPACITY)
    if resizing is not None:
        given["capacity"] = {**(before.get("capacity") or {}), "storage": resizing}
    elif (
        quantity.compare(
            binding.capacity(volume), str((before.get("capacity") or {}).get("storage", "0"))
        )
        != 0
    ):
        given["capacity"] = dict(volume["spec"].get("capacity") or {})
    attributes = volume["spec"].get("volumeAttributesClassName")
    if attributes is not None and before.get("phase") == "Pending":
        given["currentVolumeAttributesClassName"] = attributes
    return given


def _pending(claim: Object) -> list[Action]:
    return [*_status(claim, "Pending"), Again(RESYNC_S)]


def _lost(claim: Object, reason: str, message: str) -> list[Action]:
    if (claim.get("status") or {}).get("phase") == "Lost":
        return []
    note = Note(about=claim, type=WARNING, reason=reason, message=message)
    return [*_status(claim, "Lost"), note]


def _bound_before(claim: Object, volume: Object | None) -> list[Action]:
    if not claim["spec"].get("volumeName"):
        text = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
        return _lost(claim, "ClaimLost", text)
    if volume is None:
        text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
        return _lost(claim, "ClaimLost", text)
    reference = volume["spec"].get("claimRef")
    if reference is None or reference.get("uid") == claim["metadata"]["uid"]:
        return bind(claim, volume)
    text = "Two claims are bound to the same volume, this one is bound incorrectly"
    return _lost(claim, "ClaimMisbound", text)


def _wants(claim: Object, volume: Object) -> list[Action]:
    """The claim names the volume that it wants."""
    name = volume["metadata"]["name"]
    if volume["spec"].get("claimRef") is None:
        reason = binding.why_unfit(volume, claim)
        if not reason:
            return bind(claim, volume)
        text = f'Cannot bind to requested volume "{name}": {reason}'
        return [_warning(claim, "VolumeMismatch", text), *_pending(claim)]
    if binding.is_bound_to(volume, claim):
        return bind(claim, volume)
    text = f'volume "{name}" already bound to a different claim.'
    return [_warning(claim, "FailedBinding", text), *_pending(claim)]


def _unbound(snapshot: Snapshot) -> list[Action]:
    claim = snapshot.claim
    delayed = binding.waits_for_consumer(snapshot.storage_class)
    volume = binding.best_match(claim, snapshot.volumes, delayed=delayed)
    if volume is not None:
        return bind(claim, volume)
    if not binding.has_class(claim) and snapshot.default_class is not None:
        changed = {**claim, "spec": {**claim["spec"], "storageClassName": snapshot.default_class}}
        return [Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=changed)]
    if delayed and binding.SELECTED_NODE not in binding.annotations_of(claim):
        return [_waiting(claim, snapshot.users), *_pending(claim)]
    if binding.class_of(claim):
        return _provision(claim, snapshot.storage_class)
    text = "no persistent volumes available for this claim and no storage class is set"
    return [Note(about=claim, type=NORMAL, reason="FailedBinding", message=text), *_pending(claim)]


def _waiting(claim: Object, users: Sequence[Object]) -> Note:
    names = [
        pod["metadata"]["name"]
        for pod in users
        if not pods.is_terminal(pod) and not pods.node_name(pod)
    ]
    if not names:
        reason = "WaitForFirstConsumer"
        text = "waiting for first consumer to be created before binding"
    else:
        reason = "WaitForPodScheduled"
        noun = "pods" if len(names) > 1 else "pod"
        text = f"waiting for {noun} {','.join(sorted(names))} to be scheduled"
    return Note(about=claim, type=NORMAL, reason=reason, message=text)


def _provision(claim: Object, storage_class: Object | None) -> list[Action]:
    """Ask the class's provisioner, by annotations, for a volume."""
    if storage_class is None:
        text = f'storageclass.storage.k8s.io "{binding.class_of(claim)}" not found'
        return [_warning(claim, "ProvisioningFailed", text), Again(RESYNC_S)]
    asked = str(storage_class.get("provisioner") or "")
    provisioner = MIGRATED.get(asked, asked)
    if provisioner.startswith("kubernetes.io/"):
        text = f"no volume plugin matched name: {provisioner}"
        return [_warning(claim, "ProvisioningFailed", text), Again(RESYNC_S)]
    changes: dict[str, str | None] = {
        binding.STORAGE_PROVISIONER: provisioner,
        binding.BETA_STORAGE_PROVISIONER: provisioner,
    }
    actions: list[Action] = []
    if binding.annotations_of(claim).get(binding.STORAGE_PROVISIONER) != provisioner:
        changed = binding.with_annotations(claim, changes)
        actions.append(Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=changed))
    text = (
        f"Waiting for a volume to be created either by the external provisioner '{provisioner}' "
        "or manually by the system administrator. If volume creation is delayed, please verify "
        "that the provisioner is running and correctly registered."
    )
    note = Note(about=claim, type=NORMAL, reason="ExternalProvisioning", message=text)
    return [*actions, note, Again(RESYNC_S)]


def _warning(claim: Object, reason: str, message: str) -> Note:
    return Note(about=claim, type=WARNING, reason=reason, message=message)
