"""A ControllerRevision: how a StatefulSet or DaemonSet was at one time.

Source: kubernetes v1.36 pkg/controller/history/controller_history.go.
"""

from __future__ import annotations

from typing import Any

from muntin.controllers.rules.actions import Create, Object
from muntin.controllers.rules.ownership import controller_reference
from muntin.model.resources import CONTROLLER_REVISIONS

DEFAULT_HISTORY = 10


def patch_of(owner: Object, *, with_null: bool = False) -> Object:
    """What a revision keeps: a strategic patch that puts the template back.

    In the order of its keys: kube-apiserver compares its bytes, and sorts them when it patches.
    ``with_null``: the template says that it has no creationTimestamp, as Go wrote every zero time.
    Clients make these bytes of their own and compare them.
    """
    template = {**owner["spec"]["template"], "$patch": "replace"}
    if with_null:
        template["metadata"] = {"creationTimestamp": None, **(template.get("metadata") or {})}
    return {"spec": {"template": _in_order(template)}}


def is_of(revision: Object, owner: Object) -> bool:
    """Whether a revision keeps the template as it is; that of an older API may have the null."""
    data = revision.get("data")
    return data in (patch_of(owner), patch_of(owner, with_null=True))


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def revision_of(
    owner: Object, name: str, mark: dict[str, str], number: int, *, with_null: bool
) -> Create:
    """The revision ``number`` of ``owner`` as it is; ``mark``: the label that holds its hash."""
    labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    meta: Object = {
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "labels": {**labels, **mark},
        "ownerReferences": [controller_reference(owner)],
    }
    annotations = owner["metadata"].get("annotations")
    if annotations:
        meta["annotations"] = annotations
    return Create(
        resource=CONTROLLER_REVISIONS,
        obj={
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": meta,
            "data": patch_of(owner, with_null=with_null),
            "revision": number,
        },
    )
