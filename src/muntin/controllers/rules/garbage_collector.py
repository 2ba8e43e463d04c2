"""Garbage collector: objects go with their owners, in the way the owner's deletion asked for.

Background: the owner goes, then its dependents. Foreground: the dependents that block it first.
Orphan: dependents lose the reference and stay.
Source: kubernetes v1.34 pkg/controller/garbagecollector/garbagecollector.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from muntin.controllers.rules.actions import Action, Delete, Object, Patch
from muntin.model import pods
from muntin.model.resources import Resource

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"


@dataclass(frozen=True, slots=True)
class Node:
    """An object (its metadata is enough) and the resource it is one of."""

    resource: Resource
    obj: Object

    @property
    def uid(self) -> str:
        """Its uid."""
        return str(self.obj["metadata"]["uid"])

    @property
    def finalizers(self) -> Sequence[str]:
        """Its finalizers."""
        return self.obj["metadata"].get("finalizers") or ()

    def is_waiting_for_dependents(self) -> bool:
        """Whether it is being deleted in the foreground."""
        return pods.is_deleting(self.obj) and FOREGROUND in self.finalizers

    def is_orphaning(self) -> bool:
        """Whether it is being deleted and its dependents are to stay."""
        return pods.is_deleting(self.obj) and ORPHAN in self.finalizers


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``owners`` by uid: those that are there. One that is not in it is certain to be gone.

    ``dependents``: objects that name this one as an owner.
    """

    node: Node
    owners: Mapping[str, Node] = field(default_factory=dict)
    dependents: Sequence[Node] = ()


def reconcile(snapshot: Snapshot) -> list[Action]:
    """What to do about one object because of its owners or its dependents."""
    node = snapshot.node
    if node.is_orphaning():
        return _orphan(snapshot)
    if node.is_waiting_for_dependents():
        return _foreground(snapshot)
    if pods.is_deleting(node.obj):
        return []
    return _by_owners(snapshot)


def _by_owners(snapshot: Snapshot) -> list[Action]:
    node = snapshot.node
    references = node.obj["metadata"].get("ownerReferences") or ()
    if not references:
        return []
    solid: list[Object] = []
    waiting: list[Object] = []
    dangling: list[Object] = []
    for reference in references:
        owner = snapshot.owners.get(reference["uid"])
        if owner is None:
            dangling.append(reference)
        elif owner.is_waiting_for_dependents():
            waiting.append(reference)
        else:
            solid.append(reference)
    if solid:
        gone = {reference["uid"] for reference in (*dangling, *waiting)}
        return [_without_owners(node, gone)] if gone else []
    if waiting and snapshot.dependents:
        return [*_unblocked(snapshot), _delete(node, "Foreground")]
    if ORPHAN in node.finalizers:
        return [_delete(node, "Orphan")]
    return [_delete(node, "Foreground" if FOREGROUND in node.finalizers else "Background")]


def _unblocked(snapshot: Snapshot) -> list[Action]:
    """Stop blocking the owners if a dependent waits, too: they may form a circle.

    As upstream, a false positive is possible: the dependent need not lead back to this object.
    """
    references = snapshot.node.obj["metadata"].get("ownerReferences") or ()
    if not any(dependent.is_waiting_for_dependents() for dependent in snapshot.dependents):
        return []
    if not any(reference.get("blockOwnerDeletion") for reference in references):
        return []
    free = [{**reference, "blockOwnerDeletion": False} for reference in references]
    return [_patch(snapshot.node, {"ownerReferences": free})]


def _foreground(snapshot: Snapshot) -> list[Action]:
    node = snapshot.node
    blocking = [
        dependent
        for dependent in snapshot.dependents
        if any(
            reference.get("uid") == node.uid and reference.get("blockOwnerDeletion")
            for reference in dependent.obj["metadata"].get("ownerReferences") or ()
        )
    ]
    return [] if blocking else [_without_finalizer(node, FOREGROUND)]


def _orphan(snapshot: Snapshot) -> list[Action]:
    node = snapshot.node
    actions: list[Action] = [
        _without_owners(dependent, {node.uid}) for dependent in snapshot.dependents
    ]
    return [*actions, _without_finalizer(node, ORPHAN)]


def _delete(node: Node, policy: str) -> Action:
    return Delete(resource=node.resource, obj=node.obj, propagation_policy=policy)


def _without_owners(node: Node, uids: set[str]) -> Action:
    references = [
        reference
        for reference in node.obj["metadata"].get("ownerReferences") or ()
        if reference["uid"] not in uids
    ]
    return _patch(node, {"ownerReferences": references or None})


def _without_finalizer(node: Node, finalizer: str) -> Action:
    kept = [name for name in node.finalizers if name != finalizer]
    return _patch(node, {"finalizers": kept or None})


def _patch(node: Node, meta: Object) -> Action:
    """A merge patch of whole lists, safe by the resourceVersion that it names."""
    have = node.obj["metadata"]
    precondition = {"resourceVersion": have["resourceVersion"], "uid": have["uid"]}
    return Patch(
        resource=node.resource,
        name=have["name"],
        namespace=have.get("namespace"),
        patch={"metadata": {**meta, **precondition}},
    )
