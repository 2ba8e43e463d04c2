"""Job: pods that run to their end, as often as asked for, and what became of them.

Each round either changes pods or says in the status what the pods tell; the next one goes on from
there. Source: kubernetes v1.36 pkg/controller/job/job_controller.go; v1.20 for an API of that age.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Failure,
    InBatches,
    Note,
    Object,
    Patch,
    Update,
)
from muntin.controllers.rules.job_backoff import Backoff
from muntin.controllers.rules.job_end import (
    COMPLETE,
    End,
    completion,
    deadline,
    end_of,
    is_finished,
    is_suspended,
)
from muntin.controllers.rules.job_pods import FINALIZER, is_tracked, untrack
from muntin.controllers.rules.job_scaling import delete_pods, scale
from muntin.controllers.rules.job_tally import Tally, tally
from muntin.controllers.rules.job_tracking import Tracking, track
from muntin.controllers.rules.ownership import claim
from muntin.model import pods, times
from muntin.model.features import ApiFeature
from muntin.model.resources import JOBS, PODS
from muntin.model.selectors import labels_of

CONTROLLER = "kubernetes.io/job-controller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods``: those of the namespace that the Job owns or might adopt.

    ``backoff``: what the pods told, those of now included. ``failure``: why the last round could
    not create or delete pods, if so. ``features``: those of the API's version.
    """

    job: Object
    pods: Sequence[Object]
    backoff: Backoff = field(default_factory=Backoff)
    failure: Failure | None = None
    features: Collection[ApiFeature] = frozenset(ApiFeature)


def is_managed_elsewhere(job: Object) -> bool:
    """Whether another controller than this one looks after the Job."""
    return job["spec"].get("managedBy") not in (None, CONTROLLER)


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Pods to create, delete, adopt, release or count, and the status."""
    job, features = snapshot.job, snapshot.features
    if is_managed_elsewhere(job) or is_finished(job):
        return []
    finalizer = FINALIZER if ApiFeature.JOB_TRACKING in features else ""
    selector = labels_of(job["spec"].get("selector"))
    claimed = claim(job, selector, snapshot.pods, PODS, finalizer=finalizer)
    if claimed.patches:
        return list(claimed.patches)
    found = tally(job, claimed.owned, features)
    end = end_of(job, found, features, now, restarted=snapshot.backoff.restarted)
    if end is not None:
        return [*delete_pods(job, found.active), *_tell(snapshot, found, end, now)]
    actions: list[Action] = []
    if not pods.is_deleting(job):
        actions = scale(job, found, snapshot.backoff, features, now)
    changes = any(isinstance(action, InBatches) for action in actions)
    waits = any(isinstance(action, Again) for action in actions)
    resumes = not is_suspended(job) and pods.is_condition_true(job, "Suspended")
    if changes and snapshot.failure is None and not resumes:
        return actions  # the status tells of them when they are to be seen
    if waits and (found.ready or ApiFeature.JOB_BACKOFF_BY_PODS not in features):
        # Nothing would be active, and no API server takes that with ready pods. Before 1.27 the
        # whole Job was looked at later.
        return [*actions, *_deadline(job, now)]
    done = completion(job, found, features)
    return [*actions, *_tell(snapshot, found, done, now, backs_off=waits)]


def orphaned(pod: Object, job: Object | None) -> list[Patch]:
    """What frees a pod that no Job will count: ``job`` is its controller, if that is there."""
    reference = pods.controller_of(pod)
    if not is_tracked(pod) or (reference is not None and reference["kind"] != "Job"):
        return []
    if job is not None and (is_managed_elsewhere(job) or not is_finished(job)):
        return []
    return [untrack(pod)]


def _tell(
    snapshot: Snapshot, found: Tally, end: End | None, now: float, *, backs_off: bool = False
) -> list[Action]:
    """The next status of the Job, and what goes with it; ``backs_off``: a pod is to be replaced."""
    job, features = snapshot.job, snapshot.features
    tracks = ApiFeature.JOB_TRACKING in features
    tracking = track(job, found, end) if tracks else _plain(job, found, end)
    status = tracking.status
    _count_present(status, found, end, features)
    if backs_off:
        status.pop("active", None)  # whatever runs beside
    if "startTime" not in status and not is_suspended(job):
        status["startTime"] = times.text_of(now)
    notes: list[Action] = []
    if end is None:
        notes = [] if pods.is_deleting(job) else _suspension(snapshot, status, now)
    else:
        if end.announced:
            _condition(status, end.announcement, "True", end.reason, end.message, now)
        waits = ApiFeature.JOB_ENDS_ANNOUNCED in features and status.get("terminating")
        if not tracks or (tracking.is_complete and not waits and _is_told(job, end)):
            notes = _finish(job, status, end, now)
    actions: list[Action] = []
    if status != (job.get("status") or {}):
        actions.append(Update(resource=JOBS, obj={**job, "status": status}, subresource="status"))
    released = tuple(untrack(pod) for pod in tracking.released)
    actions += [*([InBatches(released)] if released else []), *notes]
    return [*actions, *(_deadline({**job, "status": status}, now) if end is None else ())]


def _deadline(job: Object, now: float) -> list[Action]:
    """Look again when the Job will have been active for too long."""
    until = deadline(job)
    return [Again(until - now)] if until is not None else []


def _is_told(job: Object, end: End) -> bool:
    """Whether an end that is to be announced has been."""
    return not end.announced or pods.is_condition_true(job, end.announcement)


def _plain(job: Object, found: Tally, end: End | None) -> Tracking:
    """The counts where nothing is tracked: the pods that are there."""
    failed = found.failed
    if end is not None and end.outcome != COMPLETE:
        failed += len(found.active)
    status = dict(job.get("status") or {})
    for name, count in (("succeeded", found.succeeded), ("failed", failed)):
        status.pop(name, None)
        if count:
            status[name] = count
    return Tracking(status)


def _count_present(
    status: Object, found: Tally, end: End | None, features: Collection[ApiFeature]
) -> None:
    """What runs now; where the Job has ended, that is being deleted."""
    active, ready, terminating = len(found.active), found.ready, found.terminating
    if end is not None and (end.outcome != COMPLETE or ApiFeature.JOB_TRACKING in features):
        active, ready, terminating = 0, 0, terminating + active
    status.pop("active", None)
    if active:
        status["active"] = active
    if ApiFeature.JOB_TRACKING in features:
        status["ready"] = ready
    if ApiFeature.JOB_TERMINATING in features:
        status["terminating"] = terminating


def _suspension(snapshot: Snapshot, status: Object, now: float) -> list[Action]:
    job = snapshot.job
    if is_suspended(job):
        changed = _condition(status, "Suspended", "True", "JobSuspended", "Job suspended", now)
        if changed and ApiFeature.JOB_START_FORGOTTEN in snapshot.features:
            status.pop("startTime", None)
        word = "Suspended"
    else:
        if pods.condition(job, "Suspended") is None:
            return []
        changed = _condition(status, "Suspended", "False", "JobResumed", "Job resumed", now)
        if changed:
            status["startTime"] = times.text_of(now)
        word = "Resumed"
    note = Note(about=job, type=NORMAL, reason=word, message=f"Job {word.lower()}")
    return [note] if changed else []


def _finish(job: Object, status: Object, end: End, now: float) -> list[Action]:
    _condition(status, end.outcome, "True", end.reason, end.message, now)
    if end.outcome != COMPLETE:
        return [Note(about=job, type=WARNING, reason=end.reason, message=end.message)]
    status["completionTime"] = times.text_of(now)
    notes: list[Action] = []
    completions = job["spec"].get("completions")
    if status.get("active"):
        message = "Too many active pods running after completion count reached"
        notes.append(Note(about=job, type=WARNING, reason="TooManyActivePods", message=message))
    if completions is not None and status.get("succeeded", 0) > completions:
        message = "Too many succeeded pods running after completion count reached"
        notes.append(Note(about=job, type=WARNING, reason="TooManySucceededPods", message=message))
    return [*notes, Note(about=job, type=NORMAL, reason="Completed", message="Job completed")]


def _condition(
    status: Object, kind: str, value: str, reason: str, message: str, now: float
) -> bool:
    """Have the condition say so; whether it did not before."""
    texts = {"reason": reason, "message": message}
    row = {"type": kind, "status": value, **{name: text for name, text in texts.items() if text}}
    rows = list(status.get("conditions") or ())
    for index, old in enumerate(rows):
        if old.get("type") == kind:
            if {**old, **row} == old:
                return False
            rows.pop(index)
            break
    else:
        index = len(rows)
    stamp = times.text_of(now)
    rows.insert(index, {**row, "lastProbeTime": stamp, "lastTransitionTime": stamp})
    status["conditions"] = rows
    return True
