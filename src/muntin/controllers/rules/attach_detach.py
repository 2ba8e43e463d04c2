"""Volumes of CSI drivers that have to be attached: VolumeAttachments of one node.

Source: kubernetes v1.36 pkg/controller/volume/attachdetach (reconciler, statusupdater),
pkg/volume/csi/csi_attacher.go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Create,
    Delete,
    Note,
    Object,
    Patch,
)
from muntin.model import pods
from muntin.model import volume_binding as binding
from muntin.model.resources import NODES, VOLUME_ATTACHMENTS

MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
FORCED_AFTER_S = 360.0
"""How long a node that is not Ready may say that it uses a volume which no pod wants there."""
_SHARED = ("ReadOnlyMany", "ReadWriteMany")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``wanted``: the pods of the node by the name of the volume that they use.

    ``volumes`` are those with attachable CSI sources, by name; ``elsewhere`` the pods of other
    nodes that use a volume; ``told`` the volumes whose users know that others have them;
    ``unwanted_s`` how long an attachment (by uid) has been unwanted.
    """

    name: str
    node: Object | None
    wanted: Mapping[str, Sequence[Object]]
    volumes: Mapping[str, Object]
    attachments: Sequence[Object]
    elsewhere: Mapping[str, Sequence[Object]] = field(default_factory=dict)
    told: Collection[str] = ()
    unwanted_s: Mapping[str, float] = field(default_factory=dict)


def needs_attaching(volume: Object, drivers: Mapping[str, Object]) -> bool:
    """Whether the volume is of a CSI driver that does not say otherwise."""
    csi = volume["spec"].get("csi")
    if not csi:
        return False
    driver = drivers.get(csi.get("driver", ""))
    return driver is None or driver["spec"].get("attachRequired") is not False


def uses_volumes(pod: Object) -> bool:
    """Whether the pod has its volumes on its node: not if it ended, or is told to and has."""
    if not pods.node_name(pod) or pods.is_terminal(pod):
        return False
    if not pods.is_deleting(pod):
        return True
    rows = (pod.get("status") or {}).get("containerStatuses") or ()
    ended = [(row.get("state") or {}) for row in rows]
    return not all("terminated" in row or "waiting" in row for row in ended)


def attachment_name(volume: Object, node: str) -> str:
    """The name of the VolumeAttachment of a volume on a node."""
    csi = volume["spec"]["csi"]
    text = f"{csi['volumeHandle']}{csi['driver']}{node}"
    return f"csi-{hashlib.sha256(text.encode()).hexdigest()}"


def volume_of(attachment: Object) -> str:
    """The PersistentVolume that is attached; empty for a volume of another kind."""
    return str(attachment["spec"].get("source", {}).get("persistentVolumeName") or "")


def reconcile(snapshot: Snapshot) -> list[Action]:
    """Attach what pods want, detach what none does, and say on the node what is attached."""
    mine = {
        volume_of(row): row
        for row in snapshot.attachments
        if row["spec"].get("nodeName") == snapshot.name and volume_of(row) in snapshot.volumes
    }
    actions: list[Action] = []
    attached: dict[str, str] = {}
    if _is_managed(snapshot.node):
        for name, users in sorted(snapshot.wanted.items()):
            if name in snapshot.volumes:
                actions += _attach(snapshot, name, users, mine.get(name), attached)
    leaving = [row for name, row in sorted(mine.items()) if name not in snapshot.wanted]
    detached: list[Action] = []
    for row in leaving:
        detached += _detach(snapshot, row, attached)
    return [*actions, *_report(snapshot, attached), *detached]


def taken(snapshot: Snapshot) -> set[str]:
    """The wanted volumes that are attached to another node, and go to one at a time."""
    others = {
        volume_of(row)
        for row in snapshot.attachments
        if row["spec"].get("nodeName") != snapshot.name
    }
    return {
        name
        for name in others & snapshot.wanted.keys() & snapshot.volumes.keys()
        if not _is_shared(snapshot.volumes[name])
    }


def _is_managed(node: Object | None) -> bool:
    return node is not None and binding.annotations_of(node).get(MANAGED) == "true"


def _attach(
    snapshot: Snapshot,
    name: str,
    users: Sequence[Object],
    attachment: Object | None,
    attached: dict[str, str],
) -> list[Action]:
    volume = snapshot.volumes[name]
    if attachment is None:
        if name not in taken(snapshot):
            return [_create(volume, snapshot.name)]
        if name in snapshot.told:
            return []
        return _multi_attach(name, users, snapshot.elsewhere.get(name, ()))
    status = attachment.get("status") or {}
    if pods.is_deleting(attachment):
        return []  # anew, when it is gone
    if status.get("attached"):
        attached[_unique_name(volume)] = name
        if _unique_name(volume) in _reported(snapshot.node):
            return []
        text = f'AttachVolume.Attach succeeded for volume "{name}" '
        return [_note(pod, NORMAL, "SuccessfulAttachVolume", text) for pod in users]
    error = (status.get("attachError") or {}).get("message")
    if not error:
        return []
    text = f'AttachVolume.Attach failed for volume "{name}" : {error}'
    return [_note(pod, WARNING, "FailedAttachVolume", text) for pod in users]


def _is_shared(volume: Object) -> bool:
    modes = volume["spec"].get("accessModes") or ()
    return not modes or any(mode in _SHARED for mode in modes)


def _multi_attach(name: str, users: Sequence[Object], others: Sequence[Object]) -> list[Action]:
    actions: list[Action] = []
    for pod in users:
        namespace = pod["metadata"]["namespace"]
        near = [row for row in others if row["metadata"]["namespace"] == namespace]
        far = len(others) - len(near)
        if not others:
            text = "Volume is already exclusively attached to one node and can't be attached to "
            text += "another"
        elif near:
            names = ", ".join(row["metadata"]["name"] for row in near)
            text = f"Volume is already used by pod(s) {names}"
            text += f" and {far} pod(s) in different namespaces" if far else ""
        else:
            text = f"Volume is already used by {far} pod(s) in different namespaces"
        message = f'Multi-Attach error for volume "{name}" {text}'
        actions.append(_note(pod, WARNING, "FailedAttachVolume", message))
    return actions


def _create(volume: Object, node: str) -> Create:
    attachment = {
        "apiVersion": VOLUME_ATTACHMENTS.api_version,
        "kind": "VolumeAttachment",
        "metadata": {"name": attachment_name(volume, node)},
        "spec": {
            "attacher": volume["spec"]["csi"]["driver"],
            "nodeName": node,
            "source": {"persistentVolumeName": volume["metadata"]["name"]},
        },
    }
    return Create(resource=VOLUME_ATTACHMENTS, obj=attachment)


def _detach(snapshot: Snapshot, attachment: Object, attached: dict[str, str]) -> list[Action]:
    if pods.is_deleting(attachment):
        return []
    node, volume = snapshot.node, snapshot.volumes[volume_of(attachment)]
    name = _unique_name(volume)
    if node is not None and name in ((node.get("status") or {}).get("volumesInUse") or ()):
        taints = node["spec"].get("taints") or ()
        given_up = any(row.get("key") == OUT_OF_SERVICE for row in taints)
        waited = snapshot.unwanted_s.get(attachment["metadata"]["uid"], 0.0)
        ready = (pods.condition(node, "Ready") or {}).get("status") == "True"
        if not given_up and (ready or waited < FORCED_AFTER_S):
            if name in _reported(node):
                attached[name] = volume_of(attachment)
            return [Again(max(FORCED_AFTER_S - waited, 15.0))]
    return [Delete(resource=VOLUME_ATTACHMENTS, obj=attachment)]


def _report(snapshot: Snapshot, attached: Mapping[str, str]) -> list[Action]:
    """The node's ``status.volumesAttached``, written before anything is detached."""
    if snapshot.node is None or _reported(snapshot.node) == set(attached):
        return []
    rows = [{"name": name, "devicePath": ""} for name in sorted(attached)]
    return [
        Patch(
            resource=NODES,
            name=snapshot.name,
            patch={"status": {"volumesAttached": rows or None}},
            subresource="status",
        )
    ]


def _reported(node: Object | None) -> set[str]:
    rows = ((node or {}).get("status") or {}).get("volumesAttached") or ()
    return {row["name"] for row in rows}


def _unique_name(volume: Object) -> str:
    csi = volume["spec"]["csi"]
    return f"kubernetes.io/csi/{csi['driver']}^{csi['volumeHandle']}"


def _note(pod: Object, type_: str, reason: str, message: str) -> Note:
    return Note(about=pod, type=type_, reason=reason, message=message)
