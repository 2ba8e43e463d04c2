"""Namespace: everything in a namespace that is being deleted goes, then its finalizer.

Source: kubernetes v1.34 pkg/controller/namespace/deletion/namespaced_resources_deleter.go,
status_condition_utils.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from muntin.controllers.rules.actions import Action, Again, Delete, Object, Update
from muntin.model import pods, times
from muntin.model.resources import NAMESPACES, Resource

FINALIZER = "kubernetes"
LOOK_AGAIN_S = 1.0
BATCH = 500
"""Objects deleted in one round; the rest follows in the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``contents``: what the server still has in the namespace, by resource.

    ``failures``: resources that could not be listed, and why.
    """

    namespace: Object
    contents: Mapping[Resource, Sequence[Object]]
    failures: Mapping[Resource, str] = field(default_factory=dict)


def is_due(namespace: Object) -> bool:
    """Whether its contents are to be deleted."""
    return pods.is_deleting(namespace) and FINALIZER in (namespace["spec"].get("finalizers") or ())


def has_more(snapshot: Snapshot) -> bool:
    """Whether something of ``snapshot`` is left, or may be."""
    return any(snapshot.contents.values()) or bool(snapshot.failures)


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Deletions, what is left as conditions, and the finalizer's removal when nothing is."""
    namespace = snapshot.namespace
    if not is_due(namespace):
        return []
    left = {resource: rows for resource, rows in snapshot.contents.items() if rows}
    if not has_more(snapshot):
        kept = [name for name in namespace["spec"]["finalizers"] if name != FINALIZER]
        obj = {**namespace, "spec": {**namespace["spec"], "finalizers": kept}}
        return [Update(resource=NAMESPACES, obj=obj, subresource="finalize")]
    deletes = [
        Delete(resource=resource, obj=obj, propagation_policy="Background")
        for resource, rows in left.items()
        for obj in rows
        if not pods.is_deleting(obj)
    ]
    actions: list[Action] = [*deletes[:BATCH]]
    conditions = [dict(row) for row in (namespace.get("status") or {}).get("conditions") or ()]
    before = [dict(row) for row in conditions]
    for row in _conditions(left, snapshot.failures):
        pods.set_condition(conditions, row, times.text_of(now))
    if conditions != before:
        status = {**(namespace.get("status") or {}), "conditions": conditions}
        obj = {**namespace, "status": status}
        actions.append(Update(resource=NAMESPACES, obj=obj, subresource="status"))
    return [*actions, Again(LOOK_AGAIN_S)]


def _conditions(
    left: Mapping[Resource, Sequence[Object]], failures: Mapping[Resource, str]
) -> list[Object]:
    remaining = ", ".join(
        f"{resource.group_resource} has {len(rows)} resource instances"
        for resource, rows in sorted(left.items(), key=lambda item: item[0].group_resource)
    )
    finalizers = Counter(
        name
        for rows in left.values()
        for obj in rows
        for name in obj["metadata"].get("finalizers") or ()
    )
    holding = ", ".join(
        f"{name} in {count} resource instances" for name, count in sorted(finalizers.items())
    )
    failed = "; ".join(f"{row.group_resource}: {why}" for row, why in failures.items())
    return [
        # The resources of the server are known once there is a snapshot.
        _condition(
            "NamespaceDeletionDiscoveryFailure",
            "",
            "DiscoveryFailed",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        _condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            "",
            "GroupVersionParsingFailed",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        _condition(
            "NamespaceDeletionContentFailure",
            f"Failed to delete all resource types, {len(failures)} remaining: {failed}"
            if failed
            else "",
            "ContentDeletionFailed",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        _condition(
            "NamespaceContentRemaining",
            f"Some resources are remaining: {remaining}" if remaining else "",
            "SomeResourcesRemain",
            "ContentRemoved",
            "All content successfully removed",
        ),
        _condition(
            "NamespaceFinalizersRemaining",
            f"Some content in the namespace has finalizers remaining: {holding}" if holding else "",
            "SomeFinalizersRemain",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ]


def _condition(kind: str, problem: str, bad: str, good: str, well: str) -> Object:
    return {
        "type": kind,
        "status": "True" if problem else "False",
        "reason": bad if problem else good,
        "message": problem or well,
    }
