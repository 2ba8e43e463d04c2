"""Whether a Job has come to its end, and why.

Source: kubernetes v1.36 pkg/controller/job/job_controller.go, syncJob; api/batch/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from muntin.controllers.rules import job_indexes, job_policies
from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.job_pods import has_failed, is_indexed
from muntin.controllers.rules.job_tally import Tally
from muntin.model import pods, times
from muntin.model.features import ApiFeature

COMPLETE, FAILED = "Complete", "Failed"
SUCCESS_CRITERIA_MET, FAILURE_TARGET = "SuccessCriteriaMet", "FailureTarget"
_ANNOUNCEMENTS = {COMPLETE: SUCCESS_CRITERIA_MET, FAILED: FAILURE_TARGET}


@dataclass(frozen=True, slots=True)
class End:
    """``outcome`` is Complete or Failed; ``announced``: a condition says so before it is."""

    outcome: str
    reason: str = ""
    message: str = ""
    announced: bool = True

    @property
    def announcement(self) -> str:
        """The condition that says it before."""
        return _ANNOUNCEMENTS[self.outcome]


def is_finished(job: Object) -> bool:
    """Whether the Job has ended, well or not."""
    return any(pods.is_condition_true(job, outcome) for outcome in _ANNOUNCEMENTS)


def is_suspended(job: Object) -> bool:
    """Whether no pod of the Job is to run."""
    return bool(job["spec"].get("suspend"))


def deadline(job: Object) -> float | None:
    """When the Job will have been active for too long; None for one that is not timed."""
    limit_s = job["spec"].get("activeDeadlineSeconds")
    started = times.seconds_of((job.get("status") or {}).get("startTime"))
    if limit_s is None or started is None or is_suspended(job):
        return None
    return started + float(limit_s)


def end_of(
    job: Object,
    tally: Tally,
    features: Collection[ApiFeature],
    now: float,
    *,
    restarted: bool = False,
) -> End | None:
    """The end that the Job has come to, whatever it still runs; None if it goes on.

    ``restarted``: its containers were, too often.
    """
    return (
        _announced(job)
        or _by_failure_policy(job, tally)
        or _by_limits(job, tally, features, now, restarted)
        or (_by_indexes(job, tally, features) if is_indexed(job) else None)
    )


def completion(job: Object, tally: Tally, features: Collection[ApiFeature]) -> End | None:
    """The end of a Job that has all its completions and runs nothing any more.

    1.20 did not wait for what it still runs.
    """
    completions = job["spec"].get("completions")
    enough = 1 if completions is None else completions
    if tally.succeeded < enough:
        return None
    if tally.active and (completions is None or ApiFeature.JOB_TRACKING in features):
        return None
    if ApiFeature.JOB_ENDS_ANNOUNCED not in features:
        return End(COMPLETE, announced=False)
    return End(COMPLETE, "CompletionsReached", "Reached expected number of succeeded pods")


def _announced(job: Object) -> End | None:
    for outcome, kind in _ANNOUNCEMENTS.items():
        row = pods.condition(job, kind)
        if row is not None and row.get("status") == "True":
            return End(outcome, row.get("reason", ""), row.get("message", ""))
    return None


def _by_failure_policy(job: Object, tally: Tally) -> End | None:
    policy = job["spec"].get("podFailurePolicy")
    for pod in tally.pods if policy else ():
        judgement = job_policies.judge(policy, pod)
        if judgement.message and has_failed(pod, job):
            return End(FAILED, "PodFailurePolicy", judgement.message)
    return None


def _by_limits(
    job: Object, tally: Tally, features: Collection[ApiFeature], now: float, restarted: bool
) -> End | None:
    announced = ApiFeature.JOB_ENDS_ANNOUNCED in features
    if restarted or tally.failed > job["spec"]["backoffLimit"]:
        message = "Job has reached the specified backoff limit"
        return End(FAILED, "BackoffLimitExceeded", message, announced)
    until = deadline(job)
    if until is not None and now >= until:
        message = "Job was active longer than specified deadline"
        return End(FAILED, "DeadlineExceeded", message, announced)
    return None


def _by_indexes(job: Object, tally: Tally, features: Collection[ApiFeature]) -> End | None:
    spec, announced = job["spec"], ApiFeature.JOB_ENDS_ANNOUNCED in features
    if tally.failed_indexes is not None:
        failed = job_indexes.total(tally.failed_indexes)
        most = spec.get("maxFailedIndexes")
        if most is not None and failed > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return End(FAILED, "MaxFailedIndexesExceeded", message, announced)
        if failed and failed + tally.succeeded >= spec["completions"]:
            return End(FAILED, "FailedIndexes", "Job has failed indexes", announced)
    rules = (spec.get("successPolicy") or {}).get("rules") or ()
    message = job_policies.success(rules, spec["completions"], tally.succeeded_indexes)
    return End(COMPLETE, "SuccessPolicy", message) if message else None
