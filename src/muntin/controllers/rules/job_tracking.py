"""Counting the pods of a Job that ended, each exactly once, though they may vanish at any time.

A pod that ended is first listed as uncounted in the status, then loses its finalizer, and only
then it is in the counts: whoever stops in between can be followed by another.
Source: kubernetes v1.36 pkg/controller/job/job_controller.go, trackJobStatusAndRemoveFinalizers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.controllers.rules import job_indexes, job_policies
from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.job_end import COMPLETE, End
from muntin.controllers.rules.job_pods import (
    completion_index,
    has_failed,
    is_indexed,
    is_tracked,
    valid_index,
)
from muntin.controllers.rules.job_tally import Tally, by_index
from muntin.model import pods

MAX_UNCOUNTED = 500
"""Pods in a status at once."""


@dataclass(slots=True)
class Tracking:
    """``status`` is the Job's next one; ``released``: pods that lose their finalizer then."""

    status: Object
    released: list[Object] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether all that ended is in the counts."""
        uncounted = self.status["uncountedTerminatedPods"]
        return not (self.released or uncounted.get("succeeded") or uncounted.get("failed"))


def track(job: Object, tally: Tally, end: End | None) -> Tracking:
    """The counts of the next status, and the pods that it lists or counts."""
    result = Tracking(dict(job.get("status") or {}))
    status = result.status
    tracked = {pod["metadata"]["uid"] for pod in tally.pods if is_tracked(pod)}
    uncounted = _count_released(status, tracked)
    newly_done = 0
    for pod in by_index(tally.pods) if is_indexed(job) else tally.pods:
        if newly_done + sum(map(len, uncounted.values())) >= MAX_UNCOUNTED:
            break
        if not is_tracked(pod) or not _may_go(job, tally, end, pod):
            continue
        result.released.append(pod)
        uid = pod["metadata"]["uid"]
        if uid in uncounted["succeeded"] or uid in uncounted["failed"]:
            continue
        if pods.phase(pod) == "Succeeded":
            index = valid_index(pod, job) if is_indexed(job) else None
            if not is_indexed(job):
                uncounted["succeeded"].append(uid)
            elif index is not None and not job_indexes.contains(tally.counted_indexes, index):
                newly_done += 1
        elif _counts_as_failed(job, end, pod):
            uncounted["failed"].append(uid)
    status["uncountedTerminatedPods"] = {name: uids for name, uids in uncounted.items() if uids}
    if is_indexed(job):
        _write_indexes(status, tally)
    return result


def _count_released(status: Object, tracked: set[str]) -> dict[str, list[str]]:
    """Count the listed pods that lost their finalizer; those that are still to lose it."""
    listed = status.get("uncountedTerminatedPods") or {}
    left = {}
    for name in ("succeeded", "failed"):
        uids = listed.get(name) or []
        left[name] = [uid for uid in uids if uid in tracked]
        gone = len(uids) - len(left[name])
        if gone:
            status[name] = int(status.get(name) or 0) + gone
    return left


def _may_go(job: Object, tally: Tally, end: End | None, pod: Object) -> bool:
    if pods.is_deleting(job) or end is not None or pods.phase(pod) == "Succeeded":
        return True
    if not has_failed(pod, job):
        return False
    index = completion_index(pod)
    kept = tally.kept.get(index) if index is not None else None
    return kept is None or kept["metadata"]["uid"] != pod["metadata"]["uid"]


def _counts_as_failed(job: Object, end: End | None, pod: Object) -> bool:
    """A failed Job counts all that it did not let end."""
    if not has_failed(pod, job) and (end is None or end.outcome == COMPLETE):
        return False
    if is_indexed(job) and valid_index(pod, job) is None:
        return False
    return job_policies.judge(job["spec"].get("podFailurePolicy"), pod).counts


def _write_indexes(status: Object, tally: Tally) -> None:
    status["succeeded"] = job_indexes.total(tally.succeeded_indexes)
    status["completedIndexes"] = job_indexes.text_of(tally.succeeded_indexes)
    if tally.failed_indexes is None:
        status.pop("failedIndexes", None)
    else:
        status["failedIndexes"] = job_indexes.text_of(tally.failed_indexes)
    for name in ("succeeded", "completedIndexes"):
        if not status[name]:
            del status[name]
