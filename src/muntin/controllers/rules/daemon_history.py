"""The ControllerRevisions of a DaemonSet: one per template, for ``kubectl rollout history``.

Source: kubernetes v1.36 pkg/controller/daemon/update.go (constructHistory, dedupCurHistories,
snapshot).
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.controllers.rules.actions import Action, Delete, Object, Patch, Update
from muntin.controllers.rules.controller_revision import DEFAULT_HISTORY, is_of, revision_of
from muntin.controllers.rules.ownership import is_controlled_by
from muntin.controllers.rules.templates import template_hash
from muntin.model import pods
from muntin.model.resources import CONTROLLER_REVISIONS, DAEMON_SETS, PODS

HASH_LABEL = "controller-revision-hash"


def revision_hash(revision: Object) -> str:
    """The value of the hash label of a revision's pods."""
    return str((revision["metadata"].get("labels") or {}).get(HASH_LABEL, ""))


def current_revision(daemon_set: Object, revisions: Sequence[Object]) -> Object | None:
    """The revision of the template that the DaemonSet has now; of several the newest."""
    return max(_equal(daemon_set, revisions), key=_number, default=None)


def _equal(daemon_set: Object, revisions: Sequence[Object]) -> list[Object]:
    return [row for row in _owned(daemon_set, revisions) if is_of(row, daemon_set)]


def _number(revision: Object) -> int:
    return int(revision.get("revision", 0))


def _owned(daemon_set: Object, revisions: Sequence[Object]) -> list[Object]:
    return [row for row in revisions if is_controlled_by(row, daemon_set)]


def history_actions(
    daemon_set: Object, revisions: Sequence[Object], owned_pods: Sequence[Object], *,
    with_null: bool,
) -> list[Action]:  # fmt: skip
    """The revision to create, or to make the newest again, and those that are too many.

    ``with_null``: see `patch_of`.
    """
    owned = _owned(daemon_set, revisions)
    nameless = [row for row in owned if not revision_hash(row)]
    if nameless:
        return [Update(resource=CONTROLLER_REVISIONS, obj=_named(row)) for row in nameless]
    current = current_revision(daemon_set, revisions)
    equal = _equal(daemon_set, revisions)
    number = max((_number(row) for row in owned if row not in equal), default=0) + 1
    if current is None:
        return [_create(daemon_set, revisions, number, with_null=with_null)]
    if len(equal) > 1:
        return _merge(current, equal, owned_pods)
    if _number(current) < number:
        return [Update(resource=CONTROLLER_REVISIONS, obj={**current, "revision": number})]
    limit = daemon_set["spec"].get("revisionHistoryLimit")
    in_use = {(pod["metadata"].get("labels") or {}).get(HASH_LABEL) for pod in owned_pods}
    old = sorted(
        (row for row in owned if row is not current and not pods.is_deleting(row)),
        key=_number,
    )
    idle = [row for row in old if revision_hash(row) not in in_use]
    surplus = max(len(old) - (DEFAULT_HISTORY if limit is None else int(limit)), 0)
    return [Delete(resource=CONTROLLER_REVISIONS, obj=row) for row in idle[:surplus]]


def _named(revision: Object) -> Object:
    """With the label that its pods have, which nobody else has."""
    meta = revision["metadata"]
    labels = {**(meta.get("labels") or {}), HASH_LABEL: meta["name"]}
    return {**revision, "metadata": {**meta, "labels": labels}}


def _merge(kept: Object, equal: Sequence[Object], owned_pods: Sequence[Object]) -> list[Action]:
    """One of several revisions of the same template: all pods are of it, the others go."""
    label = {HASH_LABEL: revision_hash(kept)}
    relabelled: list[Action] = [
        Patch(
            resource=PODS,
            name=pod["metadata"]["name"],
            namespace=pod["metadata"]["namespace"],
            patch={"metadata": {"labels": label}},
        )
        for pod in owned_pods
        if (pod["metadata"].get("labels") or {}).get(HASH_LABEL) != label[HASH_LABEL]
    ]
    others = [row for row in equal if row is not kept and not pods.is_deleting(row)]
    return [*relabelled, *(Delete(resource=CONTROLLER_REVISIONS, obj=row) for row in others)]


def _create(
    daemon_set: Object, revisions: Sequence[Object], number: int, *, with_null: bool
) -> Action:
    collisions = int((daemon_set.get("status") or {}).get("collisionCount") or 0)
    digest = template_hash(daemon_set["spec"]["template"], collisions)
    name = f"{daemon_set['metadata']['name']}-{digest}"
    if any(row["metadata"]["name"] == name for row in revisions):
        status = {**(daemon_set.get("status") or {}), "collisionCount": collisions + 1}
        taken = {**daemon_set, "status": status}
        return Update(resource=DAEMON_SETS, obj=taken, subresource="status")
    return revision_of(daemon_set, name, {HASH_LABEL: digest}, number, with_null=with_null)
