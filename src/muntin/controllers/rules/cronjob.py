"""CronJob: a Job whenever its schedule is due, and what becomes of them.

A Job is named after the moment that it was due: created in one round, it is found by its name and
put into the status in the next.
Source: kubernetes v1.36 pkg/controller/cronjob/{cronjob_controllerv2,utils}.go; v1.20
cronjob_controller.go for an API of that age.
"""

from __future__ import annotations

import copy
import zoneinfo
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from muntin.controllers.rules import cron_schedule
from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Create,
    Delete,
    Note,
    Object,
    Told,
    Update,
)
from muntin.controllers.rules.cron_schedule import Every, Spec
from muntin.controllers.rules.job_end import COMPLETE, FAILED
from muntin.controllers.rules.ownership import controller_reference
from muntin.kit.errors import Invalid
from muntin.model import pods, times
from muntin.model.features import ApiFeature
from muntin.model.resources import CRON_JOBS, JOBS
from muntin.model.validation.schedules import time_zone_problem

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
MANY = 100
"""A cron job that missed more than so many starts is warned of."""
LATE_S = 0.1
"""So long after it is due a cron job is looked at: clocks differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``jobs``: those that the CronJob controls. ``rescheduled``: its schedule is a new one."""

    cron_job: Object
    jobs: Sequence[Object]
    rescheduled: bool = False
    features: Collection[ApiFeature] = frozenset(ApiFeature)


@dataclass(frozen=True, slots=True)
class Due:
    """``at``: the last time that was due and did not start, if there is one.

    ``since``: from when on it was looked for. ``missed``: about how many there were.
    """

    since: float
    at: float | None = None
    missed: int = 0


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """Old Jobs to delete, a Job to create, the status, and when to look again."""
    cron_job = snapshot.cron_job
    status = copy.deepcopy(cron_job.get("status") or {})
    schedule = _schedule(cron_job)
    if snapshot.rescheduled and not isinstance(schedule, str):
        return _again(cron_job, schedule, now)
    actions = _clean(snapshot, status)
    actions += _take_in(snapshot, status, schedule, now)
    if not pods.is_deleting(cron_job):
        actions += _start(snapshot, status, schedule, now)
    if not status.get("active"):
        status.pop("active", None)
    if status == (cron_job.get("status") or {}):
        return actions
    update = Update(resource=CRON_JOBS, obj={**cron_job, "status": status}, subresource="status")
    # What the status tells of has to be done first, and what follows from it comes after.
    waits = [action for action in actions if isinstance(action, Again)]
    return [*(action for action in actions if not isinstance(action, Again)), update, *waits]


# -- Jobs that are there ---------------------------------------------------------------------


def _outcome(job: Object) -> str:
    for outcome in (COMPLETE, FAILED):
        if pods.is_condition_true(job, outcome):
            return outcome
    return ""


def _clean(snapshot: Snapshot, status: Object) -> list[Action]:
    """Delete the oldest Jobs that ended, as many as are more than the limits."""
    spec, actions = snapshot.cron_job["spec"], list[Action]()
    for outcome, limit in (
        (COMPLETE, spec.get("successfulJobsHistoryLimit")),
        (FAILED, spec.get("failedJobsHistoryLimit")),
    ):
        ended = [job for job in snapshot.jobs if _outcome(job) == outcome]
        if limit is None or len(ended) <= limit:
            continue
        for job in sorted(ended, key=_age)[: len(ended) - limit]:
            actions += _delete(snapshot.cron_job, status, job)
    return actions


def _age(job: Object) -> tuple[bool, str, str]:
    started = (job.get("status") or {}).get("startTime") or ""
    return (not started, started, job["metadata"]["name"])


def _delete(cron_job: Object, status: Object, job: Object) -> list[Action]:
    _forget(status, job["metadata"]["uid"])
    if pods.is_deleting(job):
        return []
    told = Told(
        about=cron_job,
        reason="SuccessfulDelete",
        message="Deleted job {name}",
        failure_reason="FailedDelete",
        failure_message="Deleted job: {error}",
    )
    return [Delete(resource=JOBS, obj=job, propagation_policy="Background", told=told)]


def _forget(status: Object, uid: str) -> None:
    status["active"] = [row for row in status.get("active") or () if row.get("uid") != uid]


def _take_in(
    snapshot: Snapshot, status: Object, schedule: Spec | Every | str, now: float
) -> list[Action]:
    """Bring the status up to date with the Jobs; what is worth an event."""
    cron_job, actions = snapshot.cron_job, list[Action]()
    _record_started(snapshot, status, schedule, now)
    active = {row.get("uid"): row for row in status.get("active") or ()}
    for job in snapshot.jobs:
        name, uid, outcome = job["metadata"]["name"], job["metadata"]["uid"], _outcome(job)
        if uid not in active and not outcome:
            message = f"Saw a job that the controller did not create or forgot: {name}"
            actions.append(_note(cron_job, WARNING, "UnexpectedJob", message))
        elif uid in active and outcome:
            _forget(status, uid)
            word = "condition" if ApiFeature.CRON_JOB_MINUTES in snapshot.features else "status"
            message = f"Saw completed job: {name}, {word}: {outcome}"
            actions.append(_note(cron_job, NORMAL, "SawCompletedJob", message))
        ended = (job.get("status") or {}).get("completionTime")
        if outcome == COMPLETE and ended and ApiFeature.CRON_JOB_MINUTES in snapshot.features:
            status["lastSuccessfulTime"] = max(status.get("lastSuccessfulTime") or "", ended)
    there = {job["metadata"]["uid"] for job in snapshot.jobs}
    for row in active.values():
        if row.get("uid") not in there:
            message = f"Active job went missing: {row.get('name')}"
            actions.append(_note(cron_job, NORMAL, "MissingJob", message))
            _forget(status, row.get("uid", ""))
    return actions


def _record_started(
    snapshot: Snapshot, status: Object, schedule: Spec | Every | str, now: float
) -> None:
    """Put the Job that was created in the round before into the status."""
    if isinstance(schedule, str):
        return
    due = _due(snapshot.cron_job, schedule, now, bounded=False)
    if due is None or due.at is None:
        return
    name = _job_name(snapshot, due.at)
    for job in snapshot.jobs:
        if job["metadata"]["name"] == name and not pods.is_deleting(job):
            status["active"] = [*(status.get("active") or ()), _reference(job)]
            status["lastScheduleTime"] = times.text_of(due.at)


def _reference(job: Object) -> Object:
    meta = job["metadata"]
    return {
        "kind": JOBS.kind,
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
        "apiVersion": JOBS.api_version,
        "resourceVersion": meta["resourceVersion"],
    }


# -- when ------------------------------------------------------------------------------------


def _schedule(cron_job: Object) -> Spec | Every | str:
    """The schedule, or what is wrong with it."""
    spec = cron_job["spec"]
    zone = "" if "TZ" in spec["schedule"] else spec.get("timeZone") or ""
    try:
        return cron_schedule.parse(spec["schedule"], "" if time_zone_problem(zone) else zone)
    except Invalid as err:
        return err.message


def _due(cron_job: Object, schedule: Spec | Every, now: float, *, bounded: bool) -> Due | None:
    """What has been due since the last start; None for a schedule that makes no sense.

    ``bounded``: leave out what is too old to start.
    """
    spec, status = cron_job["spec"], cron_job.get("status") or {}
    last = status.get("lastScheduleTime") or cron_job["metadata"].get("creationTimestamp")
    since = times.seconds_of(last) or 0.0
    if bounded and spec.get("startingDeadlineSeconds") is not None:
        since = max(since, now - float(spec["startingDeadlineSeconds"]))
    first = schedule.next(since)
    if first is None:
        return None
    if now < first:
        return Due(since)
    second = schedule.next(first)
    if second is None:
        return None
    if now < second:
        return Due(since, first)
    period_s = max(1.0, second - first)
    missed = int((now - first) // period_s) + 1
    found: float | None = None
    at = schedule.next(first + (missed - 2) * period_s)
    while at is not None and at <= now:
        found, at = at, schedule.next(at)
    return Due(since, found, missed)


def _again(cron_job: Object, schedule: Spec | Every, now: float) -> list[Action]:
    due = _due(cron_job, schedule, now, bounded=False)
    if due is None:
        start = now
    elif due.at is not None:
        start = due.at
    else:
        start = now if due.missed else due.since
    at = schedule.next(start)
    return [] if at is None else [Again(max(at - now, 0.0) + LATE_S)]


# -- starting --------------------------------------------------------------------------------


def _start(
    snapshot: Snapshot, status: Object, schedule: Spec | Every | str, now: float
) -> list[Action]:
    """The Job that is due, if there is one and nothing is in its way."""
    cron_job = snapshot.cron_job
    spec = cron_job["spec"]
    zone = spec.get("timeZone")
    if zone is not None and time_zone_problem(zone):
        message = f'invalid timeZone: "{zone}": {time_zone_problem(zone)}'
        return [_note(cron_job, WARNING, "UnknownTimeZone", message)]
    if spec.get("suspend"):
        return []
    text, actions = spec["schedule"], list[Action]()
    if "TZ" in text:
        message = (
            f'CRON_TZ or TZ used in schedule "{text}" is not officially supported, see '
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )
        actions.append(_note(cron_job, WARNING, "UnsupportedSchedule", message))
    if isinstance(schedule, str):
        message = f'unparseable schedule: "{text}" : {schedule}'
        return [*actions, _note(cron_job, WARNING, "UnparseableSchedule", message)]
    current = {**cron_job, "status": status}
    due = _due(current, schedule, now, bounded=True)
    if due is None:
        message = f"invalid schedule: {text} : time difference between two schedules is less than "
        return [*actions, _note(cron_job, WARNING, "InvalidSchedule", f"{message}1 second")]
    if due.at is None:
        return [*actions, *_again(current, schedule, now)]
    if due.missed > MANY:
        warning = _too_many(snapshot)
        actions.append(warning)
        if warning.reason == "FailedNeedsStart":
            return [*actions, *_again(current, schedule, now)]
    return [*actions, *_start_at(snapshot, status, due.at, now), *_again(current, schedule, now)]


def _too_many(snapshot: Snapshot) -> Note:
    """That starts were missed; before 1.21 the Job is not started then."""
    advice = "Set or decrease .spec.startingDeadlineSeconds or check clock skew"
    if ApiFeature.CRON_JOB_MINUTES in snapshot.features:
        message = f"too many missed start times. {advice}"
        return _note(snapshot.cron_job, WARNING, "TooManyMissedTimes", message)
    message = (
        "Cannot determine if job needs to be started: too many missed start time (> 100). "
        f"{advice}."
    )
    return _note(snapshot.cron_job, WARNING, "FailedNeedsStart", message)


def _start_at(snapshot: Snapshot, status: Object, at: float, now: float) -> list[Action]:
    cron_job = snapshot.cron_job
    spec, active = cron_job["spec"], status.get("active") or []
    deadline_s = spec.get("startingDeadlineSeconds")
    if deadline_s is not None and at + float(deadline_s) < now:
        moment = datetime.fromtimestamp(at, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
        message = f"Missed scheduled time to start a job: {moment}"
        return [_note(cron_job, WARNING, "MissSchedule", message)]
    name = _job_name(snapshot, at)
    if any(row.get("name") == name for row in active):
        return []
    if status.get("lastScheduleTime") == times.text_of(at):
        return []
    if spec.get("concurrencyPolicy") == "Forbid" and active:
        message = (
            "Not starting job because prior execution is running and concurrency policy is Forbid"
        )
        return [_note(cron_job, NORMAL, "JobAlreadyActive", message)]
    actions = list[Action]()
    if spec.get("concurrencyPolicy") == "Replace":
        running = {row.get("uid") for row in active}
        for job in snapshot.jobs:
            if job["metadata"]["uid"] in running:
                actions += _delete(cron_job, status, job)
    told = Told(
        about=cron_job,
        reason="SuccessfulCreate",
        message="Created job {name}",
        failure_reason="FailedCreate",
        failure_message="Error creating job: {error}",
    )
    return [*actions, Create(resource=JOBS, obj=_job(snapshot, at), told=told)]


def _job_name(snapshot: Snapshot, at: float) -> str:
    minutes = ApiFeature.CRON_JOB_MINUTES in snapshot.features
    return f"{snapshot.cron_job['metadata']['name']}-{int(at) // (60 if minutes else 1)}"


def _job(snapshot: Snapshot, at: float) -> Object:
    cron_job = snapshot.cron_job
    template = cron_job["spec"]["jobTemplate"]
    given = template.get("metadata") or {}
    reference = controller_reference(cron_job)
    if ApiFeature.CRON_JOB_MINUTES not in snapshot.features:
        reference["apiVersion"] = "batch/v1beta1"  # the only one that such an API knows
    meta: Object = {
        "name": _job_name(snapshot, at),
        "namespace": cron_job["metadata"]["namespace"],
        "ownerReferences": [reference],
    }
    annotations = dict(given.get("annotations") or {})
    if ApiFeature.CRON_JOB_TIMESTAMPS in snapshot.features:
        zone = cron_job["spec"].get("timeZone")
        moment = datetime.fromtimestamp(at, zoneinfo.ZoneInfo(zone) if zone else UTC)
        annotations[SCHEDULED_AT] = moment.isoformat(timespec="seconds").replace("+00:00", "Z")
    for name, texts in (("labels", given.get("labels")), ("annotations", annotations)):
        if texts:
            meta[name] = dict(texts)
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": template["spec"]}


def _note(cron_job: Object, kind: str, reason: str, message: str) -> Note:
    return Note(about=cron_job, type=kind, reason=reason, message=message)
