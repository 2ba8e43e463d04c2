"""Which pods of a StatefulSet go to be made of the new revision: the last ones first.

Source: kubernetes v1.36 pkg/controller/statefulset/stateful_set_control.go;
kubernetes/kubernetes#137666 for pods that start side by side.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.stateful_identity import revision_of, wanted_ordinals
from muntin.controllers.rules.stateful_pods import Work, has_ended
from muntin.model import intstr, pods


def pods_to_update(work: Work) -> list[Object]:
    """The pods to delete for the update in this round.

    Where the API has ``maxUnavailable`` it is set, so that many may be away at once; where it has
    not, pods go one by one, and one that is not available holds up all before it.
    """
    strategy = work.stateful_set["spec"].get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return []
    rolling = strategy.get("rollingUpdate") or {}
    partition = int(rolling.get("partition") or 0)
    if rolling.get("maxUnavailable") is None:
        return _one_by_one(work, partition)
    wanted = len(wanted_ordinals(work.stateful_set))
    most = max(intstr.resolve(rolling["maxUnavailable"], wanted, round_up=False), 1)
    return _several(work, partition, most)


def _one_by_one(work: Work, partition: int) -> list[Object]:
    for index in reversed(range(partition, len(work.replicas))):
        pod = work.replicas[index]
        if pod is not None and _is_outdated(work, pod):
            return [pod]
        if work.is_unavailable(pod):
            return []
    return []


def _several(work: Work, partition: int, most: int) -> list[Object]:
    """Side by side, a pod that is to be replaced anyway holds nobody up by being away."""
    outdated = [pod for pod in work.replicas if pod is not None and _is_outdated(work, pod)]
    counted = [pod for pod in work.replicas if work.in_order or pod not in outdated]
    spare = most - sum(map(work.is_unavailable, counted))
    doomed = [pod for pod in reversed(work.replicas[partition:]) if pod in outdated]
    return doomed[: max(spare, 0)]


def _is_outdated(work: Work, pod: Object) -> bool:
    going = pods.is_deleting(pod) or has_ended(work, pod)
    return revision_of(pod) != work.update and not going
