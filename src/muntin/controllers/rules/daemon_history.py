"""The ControllerRevisions of a DaemonSet: one per template, for ``kubectl rollout history``.

Source: kubernetes v1.34 pkg/controller/daemon/update.go (constructHistory, snapshot).
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.controllers.rules.actions import Action, Delete, Object, Update
from muntin.controllers.rules.controller_revision import DEFAULT_HISTORY, patch_of, revision_of
from muntin.controllers.rules.ownership import is_controlled_by
from muntin.controllers.rules.templates import template_hash
from muntin.model import pods
from muntin.model.resources import CONTROLLER_REVISIONS, DAEMON_SETS

HASH_LABEL = "controller-revision-hash"


def revision_hash(revision: Object) -> str:
    """The value of the hash label of a revision's pods."""
    return str((revision["metadata"].get("labels") or {}).get(HASH_LABEL, ""))


def current_revision(daemon_set: Object, revisions: Sequence[Object]) -> Object | None:
    """The revision of the template that the DaemonSet has now."""
    wanted = patch_of(daemon_set)
    equal = [row for row in _owned(daemon_set, revisions) if row.get("data") == wanted]
    return max(equal, key=lambda row: int(row.get("revision", 0)), default=None)


def _owned(daemon_set: Object, revisions: Sequence[Object]) -> list[Object]:
    return [row for row in revisions if is_controlled_by(row, daemon_set)]


def history_actions(
    daemon_set: Object, revisions: Sequence[Object], owned_pods: Sequence[Object]
) -> list[Action]:
    """The revision to create, or to make the newest again, and old ones beyond the limit."""
    owned = _owned(daemon_set, revisions)
    current = current_revision(daemon_set, revisions)
    newest = max((int(row.get("revision", 0)) for row in owned), default=0)
    if current is None:
        return [_create(daemon_set, revisions, newest + 1)]
    if int(current.get("revision", 0)) < newest:
        return [Update(resource=CONTROLLER_REVISIONS, obj={**current, "revision": newest + 1})]
    limit = daemon_set["spec"].get("revisionHistoryLimit")
    in_use = {(pod["metadata"].get("labels") or {}).get(HASH_LABEL) for pod in owned_pods}
    old = sorted(
        (row for row in owned if row is not current and not pods.is_deleting(row)),
        key=lambda row: int(row.get("revision", 0)),
    )
    idle = [row for row in old if revision_hash(row) not in in_use]
    surplus = max(len(old) - (DEFAULT_HISTORY if limit is None else int(limit)), 0)
    return [Delete(resource=CONTROLLER_REVISIONS, obj=row) for row in idle[:surplus]]


def _create(daemon_set: Object, revisions: Sequence[Object], number: int) -> Action:
    collisions = int((daemon_set.get("status") or {}).get("collisionCount") or 0)
    digest = template_hash(daemon_set["spec"]["template"], collisions)
    name = f"{daemon_set['metadata']['name']}-{digest}"
    if any(row["metadata"]["name"] == name for row in revisions):
        status = {**(daemon_set.get("status") or {}), "collisionCount": collisions + 1}
        taken = {**daemon_set, "status": status}
        return Update(resource=DAEMON_SETS, obj=taken, subresource="status")
    return revision_of(daemon_set, name, {HASH_LABEL: digest}, number)
