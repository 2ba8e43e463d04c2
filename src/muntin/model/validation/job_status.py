"""Validation of a job's status: its end is final, and its numbers agree.

Source: kubernetes v1.34 pkg/apis/batch/validation/validation.go (validateJobStatus,
ValidateJobStatusUpdate).
"""

from __future__ import annotations

from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.durations import epoch_s
from muntin.model.pods import is_condition_true
from muntin.model.validation import indexes
from muntin.model.validation.counts import not_negative
from muntin.model.validation.findings import Findings, Object

_CONDITIONS = "status.conditions"
_TERMINAL = ("Failed", "Complete", "FailureTarget")


def job_status(new: Object, old: Object, found: Findings) -> None:
    """A job whose status was to change."""
    status, spec = new.get("status") or {}, new.get("spec") or {}
    not_negative(status, "status", found, "active", "succeeded", "failed", "ready", "terminating")
    _uncounted(status.get("uncountedTerminatedPods") or {}, found)
    _conditions(new, found)
    _times(new, found)
    if _is_finished(new):
        _finished(status, found)
    _indexes(status, spec, found)
    ready = status.get("ready")
    if ready is not None and ready > (status.get("active") or 0):
        found.invalid("status.ready", ready, "cannot set more ready pods than active")
    _change(new, old, found)


def _is_finished(job: Object) -> bool:
    return is_condition_true(job, "Complete") or is_condition_true(job, "Failed")


def _uncounted(pods: Object, found: Findings) -> None:
    seen: set[Any] = set()
    for field in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(field) or ()):
            path = f"status.uncountedTerminatedPods.{field}[{index}]"
            if not uid:
                found.invalid(path, uid, "must not be empty")
            else:
                found.unique(path, uid, seen)


def _conditions(job: Object, found: Findings) -> None:
    complete, failed = is_condition_true(job, "Complete"), is_condition_true(job, "Failed")
    target, met = (
        is_condition_true(job, "FailureTarget"),
        is_condition_true(job, "SuccessCriteriaMet"),
    )
    for holds, text in (
        (complete and failed, "cannot set Complete=True and Failed=true conditions"),
        (complete and target, "cannot set Complete=True and FailureTarget=true conditions"),
        (met and failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
        (met and target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
        (
            complete and not met and (job.get("spec") or {}).get("successPolicy") is not None,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ):
        if holds:
            found.omitted(_CONDITIONS, text)


def _times(job: Object, found: Findings) -> None:
    status, path = job.get("status") or {}, "status.completionTime"
    start, end = status.get("startTime"), status.get("completionTime")
    complete = is_condition_true(job, "Complete")
    if end and not complete:
        text = "cannot set completionTime when there is no Complete=True condition"
        found.invalid(path, end, text)
    if complete and not end:
        found.required(path, "completionTime is required for Complete jobs")
    if start and end and epoch_s(end) < epoch_s(start):
        found.invalid(path, end, "completionTime cannot be set before startTime")


def _finished(status: Object, found: Findings) -> None:
    if (status.get("active") or 0) > 0:
        found.invalid("status.active", status["active"], "active>0 is invalid for finished job")
    if not status.get("startTime"):
        found.required("status.startTime", "startTime is required for finished job")
    pods = status.get("uncountedTerminatedPods") or {}
    if pods.get("succeeded") or pods.get("failed"):
        found.invalid(
            "status.uncountedTerminatedPods",
            pods,
            "uncountedTerminatedPods needs to be empty for finished job",
        )
    if (status.get("terminating") or 0) > 0:
        text = "terminating>0 is invalid for finished job"
        found.invalid("status.terminating", status["terminating"], text)


def _indexes(status: Object, spec: Object, found: Findings) -> None:
    completions = spec.get("completions")
    done, failed = status.get("completedIndexes") or "", status.get("failedIndexes")
    if completions is not None:
        _list(done, completions, "completedIndexes", found)
        if failed is not None and spec.get("backoffLimitPerIndex") is not None:
            _list(failed, completions, "failedIndexes", found)
    if done and spec.get("completionMode") != "Indexed":
        text = "cannot set non-empty completedIndexes when non-indexed completion mode"
        found.invalid("status.completedIndexes", done, text)
    if failed is None:
        return
    if spec.get("backoffLimitPerIndex") is None:
        text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        found.invalid("status.failedIndexes", failed, text)
    both = None if completions is None else indexes.overlap(done, failed, completions)
    if both is not None:
        text = f"failedIndexes and completedIndexes overlap at index: {both}"
        found.invalid("status.failedIndexes", failed, text)


def _list(text: str, completions: int, field: str, found: Findings) -> None:
    try:
        indexes.count(text, completions)
    except Invalid as err:
        found.invalid(f"status.{field}", text, f"error parsing {field}: {err}")


def _change(new: Object, old: Object, found: Findings) -> None:
    """What has happened is not undone."""
    status, before = new.get("status") or {}, old.get("status") or {}
    for kind in _TERMINAL:
        if is_condition_true(old, kind) and not is_condition_true(new, kind):
            found.omitted(_CONDITIONS, f"cannot disable the terminal {kind}=True condition")
    for field in ("failed", "succeeded"):
        if (status.get(field) or 0) < (before.get(field) or 0):
            text = f"cannot decrease the {field} counter"
            found.invalid(f"status.{field}", status.get(field) or 0, text)
    end, was = status.get("completionTime"), before.get("completionTime")
    if end and was and end != was:
        found.invalid("status.completionTime", end, "completionTime cannot be mutated")
    started = before.get("startTime")
    suspended = (new.get("spec") or {}).get("suspend")
    if started and started != status.get("startTime") and not suspended:
        text = "startTime cannot be removed for unsuspended job"
        found.required("status.startTime", text)
    met = "SuccessCriteriaMet"
    if is_condition_true(old, met) and not is_condition_true(new, met):
        found.omitted(_CONDITIONS, f"cannot disable the {met}=True condition")
    was_complete = is_condition_true(old, "Complete") and not is_condition_true(old, met)
    if was_complete and is_condition_true(new, met):
        text = f"cannot set {met}=True for Job already has Complete=true conditions"
        found.omitted(_CONDITIONS, text)
