"""Pod garbage collection: pods that nobody else will ever delete.

Source: kubernetes v1.34 pkg/controller/podgc/gc_controller.go.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from muntin.controllers.rules.actions import Action, Delete, Object, Patch
from muntin.model import pods, times
from muntin.model.resources import PODS

TERMINATED_THRESHOLD = 12500
QUARANTINE_S = 40.0
"""How long a node must be gone before its pods are: it may just be registering anew."""


def reconcile(
    everyone: Sequence[Object],
    nodes: Collection[str],
    gone_since: dict[str, float],
    now: float,
    *,
    threshold: int = TERMINATED_THRESHOLD,
) -> list[Action]:
    """Deletions: of pods of nodes gone for long, never bound and terminating, or long ended.

    ``gone_since``: when each node that pods name was first found missing.
    """
    actions: list[Action] = []
    doomed: set[str] = set()
    for pod in everyone:
        node = pods.node_name(pod)
        if node and node not in nodes:
            if now - gone_since.get(node, now) >= QUARANTINE_S:
                doomed.add(pod["metadata"]["uid"])
                actions += _orphan(pod, now)
        elif not node and pods.is_deleting(pod):
            doomed.add(pod["metadata"]["uid"])
            actions.append(Delete(resource=PODS, obj=pod, grace_period_s=0))
    ended = [
        pod for pod in everyone if pods.is_terminal(pod) and pod["metadata"]["uid"] not in doomed
    ]
    ended.sort(key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""))
    surplus = ended[: max(len(ended) - threshold, 0)]
    actions += [Delete(resource=PODS, obj=pod, grace_period_s=0) for pod in surplus]
    return actions


def _orphan(pod: Object, now: float) -> list[Action]:
    actions: list[Action] = []
    if not pods.is_terminal(pod):
        row = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
            "lastTransitionTime": times.text_of(now),
        }
        meta = pod["metadata"]
        actions.append(
            Patch(
                resource=PODS,
                name=meta["name"],
                namespace=meta["namespace"],
                patch={"status": {"phase": "Failed", "conditions": [row]}},
                subresource="status",
                strategic=True,
            )
        )
    actions.append(Delete(resource=PODS, obj=pod, grace_period_s=0))
    return actions
