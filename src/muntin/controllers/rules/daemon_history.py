"""The ControllerRevisions of a DaemonSet: one per template, for ``kubectl rollout history``.

Source: kubernetes v1.34 pkg/controller/daemon/update.go (constructHistory, snapshot).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muntin.controllers.rules.actions import Action, Create, Delete, Object, Update
from muntin.controllers.rules.ownership import controller_reference, is_controlled_by
from muntin.controllers.rules.templates import template_hash
from muntin.model import pods
from muntin.model.resources import CONTROLLER_REVISIONS, DAEMON_SETS

HASH_LABEL = "controller-revision-hash"
DEFAULT_HISTORY = 10


def patch_of(daemon_set: Object) -> Object:
    """What a revision keeps: a strategic patch that puts the template back.

    In the order of its keys: kube-apiserver compares its bytes, and sorts them when it patches.
    """
    template = {**daemon_set["spec"]["template"], "$patch": "replace"}
    return {"spec": {"template": _in_order(template)}}


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


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
    labels = daemon_set["spec"]["template"].get("metadata", {}).get("labels") or {}
    meta: dict[str, Any] = {
        "name": name,
        "namespace": daemon_set["metadata"]["namespace"],
        "labels": {**labels, HASH_LABEL: digest},
        "ownerReferences": [controller_reference(daemon_set)],
    }
    annotations = daemon_set["metadata"].get("annotations")
    if annotations:
        meta["annotations"] = annotations
    return Create(
        resource=CONTROLLER_REVISIONS,
        obj={
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": meta,
            "data": patch_of(daemon_set),
            "revision": number,
        },
    )
