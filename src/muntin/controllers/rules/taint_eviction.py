"""Taint eviction: pods leave a node whose NoExecute taints they do not tolerate (any longer).

Source: kubernetes v1.34 pkg/controller/tainteviction/taint_eviction.go.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import NORMAL, Action, Again, Delete, Note, Object, Update
from muntin.model import pods, taints, times
from muntin.model.resources import PODS


def reconcile(pod: Object, node: Object | None, now: float) -> list[Action]:
    """The pod's deletion when its time on the node is over, else when to look again."""
    if node is None or pods.is_deleting(pod) or pods.is_terminal(pod):
        return []
    on_node = [
        taint
        for taint in node["spec"].get("taints") or ()
        if taint.get("effect") == taints.NO_EXECUTE
    ]
    if not on_node:
        return []
    limit_s = taints.toleration_seconds(on_node, pod["spec"].get("tolerations"))
    if limit_s is None:
        return []
    added = [at for taint in on_node if (at := times.seconds_of(taint.get("timeAdded")))]
    due = (max(added) if added else now) + limit_s if limit_s else now
    if now < due:
        return [Again(due - now)]
    where = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return [
        Note(
            about=pod,
            type=NORMAL,
            reason="TaintManagerEviction",
            message=f"Marking for deletion Pod {where}",
        ),
        _disrupted(pod, now),
        Delete(resource=PODS, obj=pod),
    ]


def _disrupted(pod: Object, now: float) -> Action:
    row = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
    }
    conditions = [dict(have) for have in (pod.get("status") or {}).get("conditions") or ()]
    pods.set_condition(conditions, row, times.text_of(now))
    obj = {**pod, "status": {**(pod.get("status") or {}), "conditions": conditions}}
    return Update(resource=PODS, obj=obj, subresource="status")
