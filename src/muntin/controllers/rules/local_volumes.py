"""Volumes that are directories of a node: made for a claim, enlarged, deleted.

What is to be done with directories comes before the actions: a volume is written once its directory
is there, and goes once it is not. Sources: the sig-storage-lib-external-provisioner's and the
external-resizer's README and events; rancher/local-path-provisioner's README.
"""

from __future__ import annotations

import ntpath
import posixpath
from dataclasses import dataclass

from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Create,
    Delete,
    Note,
    Object,
    Told,
    Update,
)
from muntin.model import pods, quantity
from muntin.model import volume_binding as binding
from muntin.model.nodes import os_of
from muntin.model.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from muntin.model.simulated import is_simulated
from muntin.model.times import text_of

PROVISIONER = "muntin.dev/local-path"
LINUX_BASE = "/var/local-path-provisioner"
WINDOWS_BASE = "C:\\var\\local-path-provisioner"
RETRY_S = 15.0
_HOSTNAME = "kubernetes.io/hostname"
_MODES = ("ReadWriteOnce", "ReadWriteOncePod")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """``make`` or ``remove`` is a directory of ``node`` to begin with; then the actions."""

    actions: tuple[Action, ...] = ()
    node: str = ""
    make: str = ""
    remove: str = ""


NOTHING = Step()


def is_ours(volume: Object) -> bool:
    """Whether this provisioner made the volume."""
    return binding.annotations_of(volume).get(binding.PROVISIONED_BY) == PROVISIONER


def waits_for_us(claim: Object) -> bool:
    """Whether the binder asks this provisioner for a volume."""
    asked = binding.annotations_of(claim).get(binding.STORAGE_PROVISIONER)
    return (
        asked == PROVISIONER and not claim["spec"].get("volumeName") and not pods.is_deleting(claim)
    )


def provision(claim: Object, storage_class: Object | None, node: Object | None) -> Step:
    """The volume of ``claim`` on ``node``, which the scheduler chose for its pod."""
    selected = binding.annotations_of(claim).get(binding.SELECTED_NODE, "")
    if storage_class is None or storage_class.get("provisioner") != PROVISIONER:
        return NOTHING
    reason = _why_not(claim, storage_class, selected)
    if reason:
        return Step(actions=(_provisioning_failed(claim, storage_class, reason), Again(RETRY_S)))
    if node is None:
        return give_up(claim, storage_class, f'node "{selected}" not found')
    path = directory(node, claim)
    volume = _volume(claim, storage_class, node, path)
    told = Told(
        about=claim,
        reason="ProvisioningSucceeded",
        message="Successfully provisioned volume {name}",
        failure_reason="ProvisioningFailed",
        failure_message=f"Error creating provisioned PV object for claim {_key(claim)}: {{error}}",
    )
    text = f'External provisioner is provisioning volume for claim "{_key(claim)}"'
    note = Note(about=claim, type=NORMAL, reason="Provisioning", message=text)
    create = Create(resource=PERSISTENT_VOLUMES, obj=volume, told=told)
    simulated = is_simulated(node)  # there is no disk, and no container to look for one
    return Step(node=selected, make="" if simulated else path, actions=(note, create))


def give_up(claim: Object, storage_class: Object, reason: str) -> Step:
    """Say why the volume cannot be on the node, and let the scheduler choose another one."""
    changed = binding.with_annotations(claim, {binding.SELECTED_NODE: None})
    note = _provisioning_failed(claim, storage_class, reason)
    return Step(actions=(note, Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=changed)))


def directory(node: Object, claim: Object) -> str:
    """Where the claim's files are on ``node``, as that node names it."""
    meta = claim["metadata"]
    folder = f"{_name(claim)}_{meta['namespace']}_{meta['name']}"
    if _is_windows(node):
        return ntpath.join(WINDOWS_BASE, folder)
    return posixpath.join(LINUX_BASE, folder)


def release(volume: Object) -> Step:
    """What becomes of a volume whose claim is gone, or whose deletion was asked for."""
    if not is_ours(volume):
        return NOTHING
    deleting = pods.is_deleting(volume)
    held = binding.PROVISIONER_FINALIZER in (volume["metadata"].get("finalizers") or ())
    phase = (volume.get("status") or {}).get("phase")
    if deleting and phase == "Bound":
        return NOTHING
    if volume["spec"].get("persistentVolumeReclaimPolicy") != "Delete":
        return Step(actions=(_let_go(volume),)) if deleting and held else NOTHING
    if not held if deleting else phase != "Released":
        return NOTHING
    path = (volume["spec"].get("hostPath") or {}).get("path", "")
    node = _node_of(volume)
    if not node or not _is_below_base(path, volume["metadata"]["name"]):
        text = f"{path!r} is no directory that {PROVISIONER} has made"
        return Step(actions=(failed_delete(volume, text), Again(RETRY_S)))
    actions: tuple[Action, ...] = (_let_go(volume),) if held else ()
    if not deleting:
        actions = (Delete(resource=PERSISTENT_VOLUMES, obj=volume), *actions)
        actions = actions[:1]  # its finalizer goes when its deletion shows
    return Step(node=node, remove=path, actions=actions)


def failed_delete(volume: Object, reason: str) -> Note:
    """The event about a directory that is still there."""
    return Note(about=volume, type=WARNING, reason="VolumeFailedDelete", message=reason)


def expand(claim: Object, volume: Object | None, now: float, *, recovers: bool) -> Step:
    """A larger claim: its volume's capacity first, then its own.

    ``recovers``: the API has ``status.allocatedResources`` for what is under way.
    """
    status = claim.get("status") or {}
    if volume is None or not is_ours(volume) or status.get("phase") != "Bound":
        return NOTHING
    if (volume["spec"].get("claimRef") or {}).get("uid") != claim["metadata"]["uid"]:
        return NOTHING
    wanted = binding.requested(claim)
    has = str((status.get("capacity") or {}).get("storage", "0"))
    if quantity.compare(wanted, has) <= 0:
        return NOTHING
    name = volume["metadata"]["name"]
    rows = [row for row in status.get("conditions") or () if row.get("type") != "Resizing"]
    if len(rows) == len(status.get("conditions") or ()):
        text = f"External resizer is resizing volume {name}"
        note = Note(about=claim, type=NORMAL, reason="Resizing", message=text)
        return Step(actions=(note, _resizing(claim, rows, wanted, now, recovers)))
    if quantity.compare(binding.capacity(volume), wanted) < 0:
        spec = {**volume["spec"], "capacity": {**volume["spec"]["capacity"], "storage": wanted}}
        return Step(actions=(Update(resource=PERSISTENT_VOLUMES, obj={**volume, "spec": spec}),))
    after = {**status, "capacity": {**status.get("capacity", {}), "storage": wanted}}
    for field in ("conditions", "allocatedResourceStatuses"):
        after.pop(field, None)
    if rows:
        after["conditions"] = rows
    update = _claim_status(claim, after)
    text = "Resize volume succeeded"
    note = Note(about=claim, type=NORMAL, reason="VolumeResizeSuccessful", message=text)
    return Step(actions=(update, note))


def _resizing(
    claim: Object, others: list[Object], wanted: str, now: float, recovers: bool
) -> Update:
    row = {
        "type": "Resizing",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": text_of(now),
    }
    status = {**claim["status"], "conditions": [*others, row]}
    if recovers:
        status["allocatedResources"] = {"storage": wanted}
        status["allocatedResourceStatuses"] = {"storage": "ControllerResizeInProgress"}
    return _claim_status(claim, status)


def _claim_status(claim: Object, status: Object) -> Update:
    changed = {**claim, "status": status}
    return Update(resource=PERSISTENT_VOLUME_CLAIMS, obj=changed, subresource="status")


def _why_not(claim: Object, storage_class: Object, selected: str) -> str:
    spec = claim["spec"]
    if spec.get("selector") is not None:
        return "a selector of volumes is not supported"
    for mode in spec.get("accessModes") or ():
        if mode not in _MODES:
            return f"access mode {mode} is not supported: use {' or '.join(_MODES)}"
    if (spec.get("volumeMode") or "Filesystem") != "Filesystem":
        return f"volumeMode {spec['volumeMode']} is not supported: use Filesystem"
    if storage_class.get("mountOptions"):
        return "mount options are not supported"
    if spec.get("dataSource") or spec.get("dataSourceRef"):
        return "data sources are not supported"
    if not selected:
        return (
            "no node is selected: volumes are directories of a node, so use a storage class with "
            "volumeBindingMode WaitForFirstConsumer"
        )
    return ""


def _provisioning_failed(claim: Object, storage_class: Object, reason: str) -> Note:
    name = storage_class["metadata"]["name"]
    text = f'failed to provision volume with StorageClass "{name}": {reason}'
    return Note(about=claim, type=WARNING, reason="ProvisioningFailed", message=text)


def _volume(claim: Object, storage_class: Object, node: Object, path: str) -> Object:
    labels = node["metadata"].get("labels") or {}
    policy = storage_class.get("reclaimPolicy") or "Delete"
    host = {
        "key": _HOSTNAME,
        "operator": "In",
        "values": [labels.get(_HOSTNAME, node["metadata"]["name"])],
    }
    meta: Object = {"name": _name(claim), "annotations": {binding.PROVISIONED_BY: PROVISIONER}}
    meta["annotations"][f"{PROVISIONER}-node"] = node["metadata"]["name"]
    if policy == "Delete":
        meta["finalizers"] = [binding.PROVISIONER_FINALIZER]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta,
        "spec": {
            "accessModes": list(claim["spec"].get("accessModes") or ()),
            "capacity": {"storage": binding.requested(claim)},
            "claimRef": binding.claim_reference(claim),
            "hostPath": {"path": path, "type": "DirectoryOrCreate"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [host]}]}},
            "persistentVolumeReclaimPolicy": policy,
            "storageClassName": binding.class_of(claim),
            "volumeMode": "Filesystem",
        },
    }


def _name(claim: Object) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def _key(claim: Object) -> str:
    return f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"


def _node_of(volume: Object) -> str:
    return binding.annotations_of(volume).get(f"{PROVISIONER}-node", "")


def _is_windows(node: Object) -> bool:
    return os_of(node) == "windows"


def _is_below_base(path: str, name: str) -> bool:
    for base, flavour in ((LINUX_BASE, posixpath), (WINDOWS_BASE, ntpath)):
        if flavour.dirname(path) == base and flavour.basename(path).startswith(f"{name}_"):
            return True
    return False


def _let_go(volume: Object) -> Update:
    have = volume["metadata"].get("finalizers") or ()
    kept = [name for name in have if name != binding.PROVISIONER_FINALIZER]
    changed = {**volume, "metadata": {**volume["metadata"], "finalizers": kept}}
    return Update(resource=PERSISTENT_VOLUMES, obj=changed)
