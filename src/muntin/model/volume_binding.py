"""Which volume fits which claim, and how both say that they are bound.

The binder and the scheduler decide by the same rules.
Source: kubernetes v1.36 component-helpers/storage/volume/pv_helpers.go,
pkg/controller/volume/persistentvolume/index.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from muntin.model import affinity, quantity
from muntin.model.pods import is_deleting
from muntin.model.selectors import labels_of

Object = dict[str, Any]

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner"
BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner"
PROVISIONER_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_WAIT = "WaitForFirstConsumer"


def annotations_of(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """The object's annotations, none where there are none."""
    return obj["metadata"].get("annotations") or {}


def class_of(obj: Mapping[str, Any]) -> str:
    """The storage class that a claim or a volume names; empty: none."""
    named = annotations_of(obj).get(_BETA_CLASS)
    return str(named or obj["spec"].get("storageClassName") or "")


def has_class(claim: Mapping[str, Any]) -> bool:
    """Whether the claim says what it wants of classes, be it none."""
    return _BETA_CLASS in annotations_of(claim) or claim["spec"].get("storageClassName") is not None


def waits_for_consumer(storage_class: Mapping[str, Any] | None) -> bool:
    """Whether claims of the class are bound when a pod of theirs has a node."""
    return storage_class is not None and storage_class.get("volumeBindingMode") == _WAIT


def requested(claim: Mapping[str, Any]) -> str:
    """How much storage the claim asks for."""
    resources = claim["spec"].get("resources") or {}
    return str((resources.get("requests") or {}).get("storage", "0"))


def capacity(volume: Mapping[str, Any]) -> str:
    """How much storage the volume has."""
    return str((volume["spec"].get("capacity") or {}).get("storage", "0"))


def is_bound_to(volume: Mapping[str, Any], claim: Mapping[str, Any]) -> bool:
    """Whether the volume names this claim, before its binding or after."""
    reference = volume["spec"].get("claimRef")
    meta = claim["metadata"]
    return (
        reference is not None
        and (reference.get("name"), reference.get("namespace"))
        == (
            meta["name"],
            meta["namespace"],
        )
        and reference.get("uid", "") in ("", meta["uid"])
    )


def is_fully_bound(claim: Mapping[str, Any]) -> bool:
    """Whether the binder is done with the claim."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(claim)


def same_mode(claim: Mapping[str, Any], volume: Mapping[str, Any]) -> bool:
    """Whether both are file systems, or both are blocks."""
    modes = [obj["spec"].get("volumeMode") or "Filesystem" for obj in (claim, volume)]
    return bool(modes[0] == modes[1])


def offers_access(volume: Mapping[str, Any], claim: Mapping[str, Any]) -> bool:
    """Whether the volume has all access modes that the claim asks for."""
    return set(claim["spec"].get("accessModes") or ()) <= set(
        volume["spec"].get("accessModes") or ()
    )


def same_attributes(claim: Mapping[str, Any], volume: Mapping[str, Any]) -> bool:
    """Whether both name the same VolumeAttributesClass, or none."""
    names = [obj["spec"].get("volumeAttributesClassName") or "" for obj in (claim, volume)]
    return bool(names[0] == names[1])


def reaches(volume: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether the volume can be used on ``node``, as its node affinity says of labels alone."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    labels = {"metadata": {"labels": node["metadata"].get("labels") or {}}}
    return required is None or affinity.node_selector_matches(required, labels)


def why_unfit(volume: Mapping[str, Any], claim: Mapping[str, Any]) -> str:
    """Why a claim that names ``volume`` cannot have it; empty: it can."""
    if is_deleting(volume):
        return f'the volume is marked for deletion "{volume["metadata"]["name"]}"'
    if quantity.compare(capacity(volume), requested(claim)) < 0:
        return "requested PV is too small"
    if class_of(volume) != class_of(claim):
        return "storageClassName does not match"
    if not same_attributes(claim, volume):
        return "volumeAttributesClassName does not match"
    if not same_mode(claim, volume):
        return "incompatible volumeMode"
    if not offers_access(volume, claim):
        return "incompatible accessMode"
    return ""


def find_match(
    claim: Mapping[str, Any],
    volumes: Iterable[Object],
    *,
    node: Mapping[str, Any] | None = None,
    excluded: Collection[str] = (),
    delayed: bool = False,
) -> Object | None:
    """The volume that is bound to the claim already, or the smallest that fits.

    The scheduler gives ``node`` and the names ``excluded``; the binder says with ``delayed`` that
    only a volume which names the claim will do.
    """
    smallest: Object | None = None
    for volume in volumes:
        if volume["metadata"]["name"] in excluded or not _is_open(volume, claim):
            continue
        reachable = node is None or reaches(volume, node)
        if is_bound_to(volume, claim):
            return volume if reachable else None
        if not reachable or (delayed and node is None) or not _is_offered(volume, claim):
            continue
        if node is not None and not offers_access(volume, claim):
            continue
        if smallest is None or quantity.compare(capacity(volume), capacity(smallest)) < 0:
            smallest = volume
    return smallest


def best_match(claim: Object, volumes: Iterable[Object], *, delayed: bool) -> Object | None:
    """The binder's choice: among those with the fewest access modes first."""
    groups: dict[tuple[str, ...], list[Object]] = {}
    for volume in volumes:
        if offers_access(volume, claim):
            modes = tuple(sorted(set(volume["spec"].get("accessModes") or ())))
            groups.setdefault(modes, []).append(volume)
    for modes in sorted(groups, key=lambda row: (len(row), row)):
        found = find_match(claim, groups[modes], delayed=delayed)
        if found is not None:
            return found
    return None


def _is_open(volume: Object, claim: Mapping[str, Any]) -> bool:
    if volume["spec"].get("claimRef") is not None and not is_bound_to(volume, claim):
        return False
    return (
        quantity.compare(capacity(volume), requested(claim)) >= 0
        and same_mode(claim, volume)
        and same_attributes(claim, volume)
        and not is_deleting(volume)
    )


def _is_offered(volume: Object, claim: Mapping[str, Any]) -> bool:
    if (volume.get("status") or {}).get("phase") != "Available":
        return False
    selector = claim["spec"].get("selector")
    if selector is not None and not labels_of(selector).matches(volume["metadata"].get("labels")):
        return False
    return class_of(volume) == class_of(claim)


def claim_reference(claim: Mapping[str, Any]) -> Object:
    """What a volume's ``claimRef`` says of a claim."""
    meta = claim["metadata"]
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": meta["name"],
        "namespace": meta["namespace"],
        "uid": meta["uid"],
    }
    if "resourceVersion" in meta:
        reference["resourceVersion"] = meta["resourceVersion"]
    return reference


def with_annotations(obj: Object, changes: Mapping[str, str | None]) -> Object:
    """``obj`` with other annotations; None takes one away."""
    values = {**annotations_of(obj), **changes}
    kept = {name: value for name, value in values.items() if value is not None}
    meta = {name: value for name, value in obj["metadata"].items() if name != "annotations"}
    if kept:
        meta["annotations"] = kept
    return {**obj, "metadata": meta}


def bound_volume(volume: Object, claim: Object) -> Object | None:
    """The volume bound to ``claim``; None if it is so already."""
    mine = is_bound_to(volume, claim)
    reference = volume["spec"].get("claimRef") or {}
    if mine and reference.get("uid") == claim["metadata"]["uid"]:
        return None
    changed = {**volume, "spec": {**volume["spec"], "claimRef": claim_reference(claim)}}
    if mine or BOUND_BY_CONTROLLER in annotations_of(volume):
        return changed
    return with_annotations(changed, {BOUND_BY_CONTROLLER: "yes"})
