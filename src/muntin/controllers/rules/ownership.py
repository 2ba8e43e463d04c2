"""Who belongs to whom: owner references, adopting strays, letting go of those that changed.

Source: kubernetes v1.34 pkg/controller/controller_ref_manager.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from muntin.controllers.rules.actions import Object, Patch
from muntin.model import pods
from muntin.model.resources import Resource
from muntin.model.selectors import Selector


def controller_reference(owner: Object) -> Object:
    """The reference that makes ``owner`` the one controller of an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Whether ``owner``, this very object and not one of its name, controls ``obj``."""
    reference = pods.controller_of(obj)
    return reference is not None and reference.get("uid") == owner["metadata"]["uid"]


@dataclass(frozen=True, slots=True)
class Claim:
    """``owned`` now, and the patches that adopt strays (not yet owned) and release the rest."""

    owned: list[Object]
    patches: list[Patch]


def claim(
    owner: Object,
    selector: Selector,
    objects: Iterable[Object],
    resource: Resource,
    *,
    finalizer: str = "",
) -> Claim:
    """Sort ``objects`` of the owner's namespace by whose they are, and whose they should be.

    An owner that is being deleted adopts nothing. What is adopted gets ``finalizer``, if there is
    one, and what is released loses it.
    """
    owned: list[Object] = []
    patches: list[Patch] = []
    deleting = pods.is_deleting(owner)
    for obj in objects:
        matches = selector.matches(obj["metadata"].get("labels"))
        if is_controlled_by(obj, owner):
            if matches:
                owned.append(obj)
            elif not deleting:
                patches.append(_release(owner, obj, resource, finalizer))
        elif matches and pods.controller_of(obj) is None and not deleting and not _is_deleting(obj):
            patches.append(_adopt(owner, obj, resource, finalizer))
    return Claim(owned, patches)


def _is_deleting(obj: Object) -> bool:
    return obj["metadata"].get("deletionTimestamp") is not None


def _adopt(owner: Object, obj: Object, resource: Resource, finalizer: str) -> Patch:
    more = {"finalizers": [finalizer]} if finalizer else {}
    return _patch(obj, resource, controller_reference(owner), more)


def _release(owner: Object, obj: Object, resource: Resource, finalizer: str) -> Patch:
    more = {"$deleteFromPrimitiveList/finalizers": [finalizer]} if finalizer else {}
    return _patch(obj, resource, {"$patch": "delete", "uid": owner["metadata"]["uid"]}, more)


def _patch(obj: Object, resource: Resource, reference: Object, more: Object) -> Patch:
    meta = obj["metadata"]
    return Patch(
        resource=resource,
        name=meta["name"],
        namespace=meta.get("namespace"),
        patch={"metadata": {"ownerReferences": [reference], "uid": meta["uid"], **more}},
        strategic=True,
    )
