"""The ControllerRevisions of a StatefulSet: which one is updated to, and how many are kept.

Source: kubernetes v1.36 pkg/controller/statefulset/stateful_set_control.go
(getStatefulSetRevisions, truncateHistory), pkg/controller/history/controller_history.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.rules.actions import Action, Delete, Object, Update
from muntin.controllers.rules.controller_revision import DEFAULT_HISTORY, is_of, revision_of
from muntin.controllers.rules.templates import template_hash
from muntin.model import pods
from muntin.model.resources import CONTROLLER_REVISIONS, STATEFUL_SETS

HASH_LABEL = "controller.kubernetes.io/hash"
LONGEST_PREFIX = 223


def in_order(revisions: Iterable[Object]) -> list[Object]:
    """Oldest first: by number, by age, by name."""
    return sorted(
        revisions,
        key=lambda row: (
            int(row.get("revision", 0)),
            str(row["metadata"].get("creationTimestamp") or ""),
            row["metadata"]["name"],
        ),
    )


def template_of(revision: Object) -> Object:
    """The pod template that a revision keeps."""
    template = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


def newest(
    stateful_set: Object, revisions: Sequence[Object], *, with_null: bool
) -> Object | Action:
    """The revision of the template as it is now; or the action that makes it the newest.

    ``revisions`` are the set's own, in order. ``with_null``: see `patch_of`.
    """
    number = int(revisions[-1].get("revision", 0)) + 1 if revisions else 1
    equal = [row for row in revisions if is_of(row, stateful_set)]
    if not equal:
        return _create(stateful_set, revisions, number, with_null=with_null)
    if equal[-1] is revisions[-1]:
        return revisions[-1]
    return Update(resource=CONTROLLER_REVISIONS, obj={**equal[-1], "revision": number})


def _create(
    stateful_set: Object, revisions: Sequence[Object], number: int, *, with_null: bool
) -> Action:
    status = stateful_set.get("status") or {}
    collisions = int(status.get("collisionCount") or 0)
    digest = template_hash(stateful_set["spec"]["template"], collisions)
    name = f"{stateful_set['metadata']['name'][:LONGEST_PREFIX]}-{digest}"
    if any(row["metadata"]["name"] == name for row in revisions):
        taken = {"replicas": 0, **status, "collisionCount": collisions + 1}
        obj = {**stateful_set, "status": taken}
        return Update(resource=STATEFUL_SETS, obj=obj, subresource="status")
    return revision_of(stateful_set, name, {HASH_LABEL: digest}, number, with_null=with_null)


def surplus(
    stateful_set: Object, revisions: Sequence[Object], in_use: Iterable[str]
) -> list[Action]:
    """The oldest revisions beyond the limit that nobody uses."""
    limit = stateful_set["spec"].get("revisionHistoryLimit")
    keep = DEFAULT_HISTORY if limit is None else int(limit)
    used = set(in_use)
    idle = [
        row
        for row in revisions
        if row["metadata"]["name"] not in used and not pods.is_deleting(row)
    ]
    if keep < 0 or len(idle) <= keep:
        return []
    return [Delete(resource=CONTROLLER_REVISIONS, obj=row) for row in idle[: len(idle) - keep]]
