"""What the pods of a Job amount to: active, ready, ended well and badly, by index if it has some.

Source: kubernetes v1.36 pkg/controller/job/{job_controller,indexed_job_utils}.go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from muntin.controllers.rules import job_indexes, job_policies
from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.job_indexes import Spans
from muntin.controllers.rules.job_pods import (
    all_index_failures,
    completion_index,
    finished_at,
    has_failed,
    index_failures,
    indexes_of,
    is_indexed,
    is_terminating,
    is_tracked,
    limits_indexes,
    valid_index,
)
from muntin.model import pods
from muntin.model.features import ApiFeature


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """``pods``: all that the Job owns. ``succeeded`` and ``failed``: of all time.

    ``counted_indexes`` are those of the stored status, ``succeeded_indexes`` those of now;
    ``failed_indexes`` is None without a limit per index. ``kept``: the failed pod of each index
    that stays uncounted until another takes its place and its number of failures.
    """

    pods: Sequence[Object]
    active: Sequence[Object]
    ready: int
    terminating: int
    succeeded: int
    failed: int
    counted_indexes: Spans = ()
    succeeded_indexes: Spans = ()
    failed_indexes: Spans | None = None
    kept: Mapping[int, Object]


def tally(job: Object, owned: Sequence[Object], features: Collection[ApiFeature]) -> Tally:
    """Count the pods of ``job``."""
    active = [pod for pod in owned if pods.is_active(pod)]
    counts = _untracked(owned)
    if ApiFeature.JOB_TRACKING in features:
        counts = _tracked(job, owned)
    counted: Spans = ()
    succeeded: Spans = ()
    failed: Spans | None = None
    kept: Mapping[int, Object] = {}
    if is_indexed(job):
        counted, succeeded = _succeeded_indexes(job, owned)
        counts = (job_indexes.total(succeeded), counts[1])
        if limits_indexes(job):
            failed = _failed_indexes(job, owned)
            kept = _kept(job, owned, active, job_indexes.union(succeeded, failed))
    return Tally(
        pods=owned,
        active=active,
        ready=sum(map(pods.is_ready, active)),
        terminating=sum(map(is_terminating, owned)),
        succeeded=counts[0],
        failed=counts[1],
        counted_indexes=counted,
        succeeded_indexes=succeeded,
        failed_indexes=failed,
        kept=kept,
    )


def _untracked(owned: Sequence[Object]) -> tuple[int, int]:
    phases = [pods.phase(pod) for pod in owned]
    return phases.count("Succeeded"), phases.count("Failed")


def _tracked(job: Object, owned: Sequence[Object]) -> tuple[int, int]:
    status = job.get("status") or {}
    uncounted = status.get("uncountedTerminatedPods") or {}
    good, bad = uncounted.get("succeeded") or (), uncounted.get("failed") or ()
    known = {*good, *bad}
    succeeded = int(status.get("succeeded") or 0) + len(good)
    failed = int(status.get("failed") or 0) + len(bad)
    for pod in owned:
        if not is_tracked(pod) or pod["metadata"]["uid"] in known:
            continue
        if is_indexed(job) and valid_index(pod, job) is None:
            continue
        if pods.phase(pod) == "Succeeded":
            succeeded += 1
        elif has_failed(pod, job):
            failed += job_policies.judge(job["spec"].get("podFailurePolicy"), pod).counts
    return succeeded, failed


def _succeeded_indexes(job: Object, owned: Sequence[Object]) -> tuple[Spans, Spans]:
    text = (job.get("status") or {}).get("completedIndexes") or ""
    counted = job_indexes.parse(text, job["spec"]["completions"])
    found = (
        valid_index(pod, job) for pod in owned if pods.phase(pod) == "Succeeded" and is_tracked(pod)
    )
    return counted, job_indexes.adding(counted, (index for index in found if index is not None))


def _failed_indexes(job: Object, owned: Sequence[Object]) -> Spans:
    text = (job.get("status") or {}).get("failedIndexes") or ""
    found = (valid_index(pod, job) for pod in owned if is_tracked(pod) and _fails_index(job, pod))
    counted = job_indexes.parse(text, job["spec"]["completions"])
    return job_indexes.adding(counted, (index for index in found if index is not None))


def _fails_index(job: Object, pod: Object) -> bool:
    if not has_failed(pod, job):
        return False
    judgement = job_policies.judge(job["spec"].get("podFailurePolicy"), pod)
    if judgement.action == "FailIndex":
        return True
    return judgement.counts and index_failures(pod) >= job["spec"]["backoffLimitPerIndex"]


def _kept(
    job: Object, owned: Sequence[Object], active: Sequence[Object], done: Spans
) -> Mapping[int, Object]:
    running = indexes_of(active)
    kept: dict[int, Object] = {}
    for pod in owned:
        index = valid_index(pod, job)
        if index is None or index in running or job_indexes.contains(done, index):
            continue
        if not is_tracked(pod) or not has_failed(pod, job):
            continue
        other = kept.get(index)
        if other is None or _is_later(pod, other):
            kept[index] = pod
    return kept


def _is_later(pod: Object, other: Object) -> bool:
    if all_index_failures(pod) < all_index_failures(other):
        return False
    return finished_at(pod) >= finished_at(other)


def by_index(some: Sequence[Object]) -> list[Object]:
    """``some`` pods in order of their completion index, those without one first."""
    none = -1

    def number(pod: Object) -> int:
        index = completion_index(pod)
        return none if index is None else index

    return sorted(some, key=number)
