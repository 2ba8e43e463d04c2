"""Disruption: how many pods of a budget may be evicted now; and evictions that never came.

Source: kubernetes v1.34 pkg/controller/disruption/disruption.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muntin.controllers.rules.actions import NORMAL, WARNING, Action, Again, Note, Object, Update
from muntin.kit.errors import Invalid
from muntin.model import budgets, go_values, intstr, pods, times
from muntin.model.resources import POD_DISRUPTION_BUDGETS, PODS

DELETION_TIMEOUT_S = 120.0
"""How long an eviction that was let through may take to show as a deletion."""
STALE_TARGET_S = 120.0
TARGET = "DisruptionTarget"
_UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a "
    "result, the status of the PDB cannot be calculated correctly, which may result in undefined "
    'behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an '
    "integer value."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A budget and the pods it selects.

    ``scales``: by the uid of a pod's controller, the uid of what counts (the Deployment of a
    ReplicaSet) and its replicas; a controller that cannot be scaled is not there.
    """

    budget: Object
    pods: Sequence[Object]
    scales: Mapping[str, tuple[str, int]]


def needs_scales(budget: Object) -> bool:
    """Whether the controllers' replicas count, and not only the pods that are there."""
    spec = budget["spec"]
    return spec.get("maxUnavailable") is not None or isinstance(spec.get("minAvailable"), str)


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """The status to write, if it changed, and when to look again."""
    budget = snapshot.budget
    actions: list[Action] = []
    try:
        expected, desired, unmanaged = _expected(snapshot)
    except Invalid as err:
        note = f"Failed to calculate the number of expected pods: {err.message}"
        actions.append(_note(budget, WARNING, "CalculateExpectedPodCountFailed", note))
        return [*actions, *_failed(budget, err.message, now)]
    disrupted, again_s = _disrupted(snapshot, now, actions)
    healthy = _healthy(snapshot.pods, disrupted)
    allowed = healthy - desired if expected > 0 and healthy > desired else 0
    status = {
        **(budget.get("status") or {}),
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "disruptionsAllowed": allowed,
        "observedGeneration": budget["metadata"].get("generation", 0),
    }
    status.pop("disruptedPods", None)
    if disrupted:
        status["disruptedPods"] = disrupted
    budgets.set_allowed_condition(status, times.text_of(now))
    if status != budget.get("status"):
        actions += _notes(snapshot, unmanaged)
        actions.append(_update(budget, status))
    if again_s is not None:
        actions.append(Again(again_s))
    return actions


def _notes(snapshot: Snapshot, unmanaged: Sequence[str]) -> list[Action]:
    budget = snapshot.budget
    notes: list[Action] = []
    if not snapshot.pods:
        notes.append(_note(budget, NORMAL, "NoPods", "No matching pods found"))
    if unmanaged:
        text = _UNMANAGED.format(go_values.label_selector(budget["spec"].get("selector")))
        notes.append(_note(budget, WARNING, "UnmanagedPods", text))
    return notes


def contested(pod: Object, names: Sequence[str]) -> list[Action]:
    """Tell of a pod that several budgets have; ``names`` are theirs."""
    if len(names) < 2:
        return []
    meta = pod["metadata"]
    whole = f'"{meta["namespace"]}"/"{meta["name"]}"'
    text = f'Pod {whole} matches multiple PodDisruptionBudgets.  Chose "{names[0]}" arbitrarily.'
    return [_note(pod, WARNING, "MultiplePodDisruptionBudgets", text)]


def _note(about: Object, kind: str, reason: str, message: str) -> Note:
    return Note(about=about, type=kind, reason=reason, message=message)


def _update(budget: Object, status: Object) -> Action:
    return Update(
        resource=POD_DISRUPTION_BUDGETS, obj={**budget, "status": status}, subresource="status"
    )


def _failed(budget: Object, why: str, now: float) -> list[Action]:
    """Let nothing be evicted while it is not known how many pods there should be."""
    status = {**(budget.get("status") or {}), "disruptionsAllowed": 0}
    for field in ("currentHealthy", "desiredHealthy", "expectedPods"):
        status.setdefault(field, 0)
    row = {
        "type": budgets.ALLOWED,
        "status": "False",
        "reason": budgets.SYNC_FAILED,
        "message": why,
        "observedGeneration": status.get("observedGeneration", 0),
    }
    conditions = [dict(found) for found in status.get("conditions") or ()]
    pods.set_condition(conditions, row, times.text_of(now))
    status["conditions"] = conditions
    return [_update(budget, status)] if status != budget.get("status") else []


def _expected(snapshot: Snapshot) -> tuple[int, int, list[str]]:
    """Pods that there should be, those that must be healthy, and the names of unmanaged ones.

    Raises:
        Invalid: a pod's controller has no scale, or a field is no number and no percentage.
    """
    spec = snapshot.budget["spec"]
    at_most, at_least = spec.get("maxUnavailable"), spec.get("minAvailable")
    if at_most is not None:
        expected, unmanaged = _scale(snapshot)
        lost = intstr.resolve(at_most, expected, round_up=True)
        return expected, max(expected - lost, 0), unmanaged
    if isinstance(at_least, int):
        return len(snapshot.pods), at_least, []
    if at_least is None:
        return 0, 0, []
    expected, unmanaged = _scale(snapshot)
    return expected, intstr.resolve(at_least, expected, round_up=True), unmanaged


def _scale(snapshot: Snapshot) -> tuple[int, list[str]]:
    """The replicas of all that control the pods, each once."""
    counted: dict[str, int] = {}
    unmanaged = []
    for pod in snapshot.pods:
        name = pod["metadata"]["name"]
        owner = pods.controller_of(pod)
        if owner is None:
            unmanaged.append(name)
            continue
        found = snapshot.scales.get(owner["uid"])
        if found is None:
            raise Invalid(f'found no controllers for pod "{name}"')
        uid, replicas = found
        counted[uid] = replicas
    return sum(counted.values()), unmanaged


def _disrupted(
    snapshot: Snapshot, now: float, actions: list[Action]
) -> tuple[dict[str, str], float | None]:
    """The evictions that have not shown yet, and in how many seconds the first is overdue."""
    budget = snapshot.budget
    known = (budget.get("status") or {}).get("disruptedPods") or {}
    kept: dict[str, str] = {}
    again_s: float | None = None
    for pod in snapshot.pods:
        name = pod["metadata"]["name"]
        since = times.seconds_of(known.get(name))
        if since is None or pods.is_deleting(pod):
            continue
        left_s = since + DELETION_TIMEOUT_S - now
        if left_s < 0:
            meta = budget["metadata"]
            where = f"{meta['namespace']}/{meta['name']}"
            text = f"Pod was expected by PDB {where} to be deleted but it wasn't"
            actions.append(_note(pod, WARNING, "NotDeleted", text))
            continue
        kept[name] = known[name]
        again_s = left_s if again_s is None else min(again_s, left_s)
    return kept, None if again_s is None else again_s + 1


def _healthy(rows: Sequence[Object], disrupted: Mapping[str, str]) -> int:
    return sum(
        not pods.is_deleting(pod)
        and pod["metadata"]["name"] not in disrupted
        and pods.is_ready(pod)
        for pod in rows
    )


def clear_stale_target(pod: Object, now: float) -> list[Action]:
    """Take back the mark of a disruption that did not come."""
    row = pods.condition(pod, TARGET)
    if row is None or row.get("status") != "True" or row.get("reason") == "TerminationByKubelet":
        return []
    if pods.is_deleting(pod) or pods.is_terminal(pod):
        return []
    since = times.seconds_of(row.get("lastTransitionTime"))
    left_s = (now if since is None else since) + STALE_TARGET_S - now
    if left_s > 0:
        return [Again(left_s)]
    conditions = [dict(found) for found in pod["status"].get("conditions") or ()]
    cleared = {"type": TARGET, "status": "False", "reason": "", "message": ""}
    pods.set_condition(conditions, cleared, times.text_of(now))
    obj = {**pod, "status": {**pod["status"], "conditions": conditions}}
    return [Update(resource=PODS, obj=obj, subresource="status")]
