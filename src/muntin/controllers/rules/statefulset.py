"""StatefulSet: pods with names that stay, started and ended in order, updated from the last down.

Source: kubernetes v1.36 and v1.20 pkg/controller/statefulset/{stateful_set_control,
stateful_pod_control}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from muntin.controllers.rules import stateful_history as history
from muntin.controllers.rules import stateful_pods as steps
from muntin.controllers.rules.actions import Action, InBatches, InOrder, Object
from muntin.controllers.rules.availability import look_again
from muntin.controllers.rules.ownership import Claim, claim, is_controlled_by
from muntin.controllers.rules.stateful_identity import (
    is_member,
    new_pod,
    ordinal_of,
    ordinals_in_reach,
    revision_of,
    wanted_ordinals,
)
from muntin.controllers.rules.stateful_status import status_action
from muntin.controllers.rules.stateful_update import pods_to_update
from muntin.model import pods
from muntin.model.features import ApiFeature
from muntin.model.resources import CONTROLLER_REVISIONS, PODS
from muntin.model.selectors import Selector, labels_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods`` and ``revisions`` of the namespace that match, or are owned by, the StatefulSet.

    ``claims`` are those of its pods, by name.
    """

    stateful_set: Object
    pods: Sequence[Object]
    revisions: Sequence[Object] = ()
    claims: Mapping[str, Object] = field(default_factory=dict)
    features: Set[ApiFeature] = frozenset(ApiFeature)


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """One step: revisions, then the status as it is, then what may be done to pods and claims."""
    stateful_set = snapshot.stateful_set
    selector = labels_of(stateful_set["spec"].get("selector"))
    matching = [
        row for row in snapshot.revisions if selector.matches(row["metadata"].get("labels") or {})
    ]
    adoptions = claim(stateful_set, selector, matching, CONTROLLER_REVISIONS).patches
    if adoptions:
        return list(adoptions)
    claimed = _claim_pods(stateful_set, selector, snapshot.pods)
    if claimed.patches:
        return list(claimed.patches)
    revisions = history.in_order(row for row in matching if is_controlled_by(row, stateful_set))
    update = history.newest(
        stateful_set, revisions, with_null=ApiFeature.ZERO_TIMES_OMITTED not in snapshot.features
    )
    if not isinstance(update, dict):
        return [] if pods.is_deleting(stateful_set) else [update]
    known = (stateful_set.get("status") or {}).get("currentRevision")
    current = next((row for row in revisions if row["metadata"]["name"] == known), update)
    work = _work(snapshot, claimed.owned, current, update, now)
    doing, updated = ([], 0) if pods.is_deleting(stateful_set) else _steps(work)
    in_use = {work.current, work.update, *map(revision_of, claimed.owned)}
    return [
        *status_action(work, claimed.owned, updated),
        *doing,
        *history.surplus(stateful_set, revisions, in_use),
        *look_again(stateful_set, claimed.owned, now),
    ]


def _claim_pods(stateful_set: Object, selector: Selector, found: Sequence[Object]) -> Claim:
    """Pods of another name are let go, whatever their labels say."""
    members = [pod for pod in found if is_member(stateful_set, pod)]
    others = [pod for pod in found if not is_member(stateful_set, pod)]
    claimed = claim(stateful_set, selector, members, PODS)
    released = claim(stateful_set, Selector(nothing=True), others, PODS)
    return Claim(claimed.owned, [*claimed.patches, *released.patches])


def _work(
    snapshot: Snapshot, owned: Sequence[Object], current: Object, update: Object, now: float
) -> steps.Work:
    """The pods by their place: those that are to be, and those beyond, the last one first."""
    stateful_set = snapshot.stateful_set
    wanted = wanted_ordinals(stateful_set)
    by_ordinal = {ordinal_of(pod): pod for pod in owned}
    reach = ordinals_in_reach(stateful_set, by_ordinal)
    work = steps.Work(
        stateful_set=stateful_set,
        replicas=[by_ordinal.get(ordinal) for ordinal in reach],
        missing={},
        condemned=[
            by_ordinal[ordinal]
            for ordinal in sorted(by_ordinal, reverse=True)
            if ordinal >= 0 and ordinal not in wanted
        ],
        claims=snapshot.claims,
        current=current["metadata"]["name"],
        update=update["metadata"]["name"],
        features=snapshot.features,
        now=now,
    )
    indexed = ApiFeature.STATEFUL_INDEX_LABELS in snapshot.features
    for index, ordinal in enumerate(reach):
        if work.replicas[index] is None:
            of = current if _stays_behind(stateful_set, ordinal) else update
            work.missing[index] = new_pod(
                stateful_set,
                history.template_of(of),
                of["metadata"]["name"],
                ordinal,
                indexed=indexed,
            )
    return work


def _stays_behind(stateful_set: Object, ordinal: int) -> bool:
    """Whether a pod of ``ordinal`` is made of the revision before the update."""
    strategy = stateful_set["spec"].get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        behind = int(rolling.get("partition") or 0)
    elif strategy.get("type") == "RollingUpdate":
        behind = int((stateful_set.get("status") or {}).get("currentReplicas") or 0)
    else:
        return False
    return ordinal < wanted_ordinals(stateful_set).start + behind


def _steps(work: steps.Work) -> tuple[list[Action], int]:
    """What to do in this round, and how many of it are pods deleted for an update."""
    if not work.in_order:
        return _burst(work)
    actions: list[Action] = []
    for index in range(len(work.replicas)):
        step = steps.of_replica(work, index)
        actions += step.actions
        if step.waits:
            return actions, 0
    for pod in work.condemned:
        actions += steps.claim_owners(work, pod)
    for pod in work.condemned:
        step = steps.of_condemned(work, pod)
        actions += step.actions
        if step.waits:
            return actions, 0
    doomed = pods_to_update(work)
    return [*actions, *(steps.deletion(work, pod) for pod in doomed)], len(doomed)


def _burst(work: steps.Work) -> tuple[list[Action], int]:
    """As `_steps`, where no pod waits for another: each kind of step for all pods at once."""
    indexes = range(len(work.replicas))
    batches = [
        [steps.of_replica(work, index).actions for index in indexes],
        [steps.claim_owners(work, pod) for pod in work.condemned],
        [steps.of_condemned(work, pod).actions for pod in work.condemned],
    ]
    rows = [tuple(InOrder(tuple(step)) for step in batch if step) for batch in batches]
    doomed = pods_to_update(work)
    return [
        *(InBatches(batch, fatal=True) for batch in rows if batch),
        *(steps.deletion(work, pod) for pod in doomed),
    ], len(doomed)
