"""Which pods a Job creates and deletes now, and when to look again if it has to wait.

Source: kubernetes v1.36 pkg/controller/job/{job_controller,indexed_job_utils}.go, manageJob.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from muntin.controllers.rules import job_indexes
from muntin.controllers.rules.actions import Action, Again, Create, Delete, InBatches, Object
from muntin.controllers.rules.job_backoff import Backoff, index_remaining_s
from muntin.controllers.rules.job_end import is_suspended
from muntin.controllers.rules.job_pods import (
    completion_index,
    indexes_of,
    is_indexed,
    is_terminating,
    is_tracked,
    limits_indexes,
    new_indexed_pod,
    new_pod,
    replaces_failed_only,
    untrack,
)
from muntin.controllers.rules.job_tally import Tally, by_index
from muntin.controllers.rules.pod_ranking import to_delete
from muntin.controllers.rules.replicaset import pod_created, pod_deleted
from muntin.model.features import ApiFeature
from muntin.model.resources import PODS

BURST = 500
"""Pods created or deleted in one round."""


def scale(
    job: Object, tally: Tally, backoff: Backoff, features: Collection[ApiFeature], now: float
) -> list[Action]:
    """Deletions or creations, never both in one round."""
    active = len(tally.active)
    if is_suspended(job):
        return _remove(job, tally.active)
    wanted = _wanted(job, tally)
    least = wanted
    if ApiFeature.JOB_TRACKING not in features:  # pods without completions to reach were left alone
        least = int(job["spec"]["parallelism"])
    surplus = _surplus(job, tally.active, max(0, active - least), now)[:BURST]
    if surplus:
        return _remove(job, surplus)
    terminating = tally.terminating if replaces_failed_only(job) else 0
    missing = min(BURST, wanted - active - terminating)
    if missing <= 0:
        return []
    if not limits_indexes(job):
        remaining_s = backoff.remaining_s(now, features)
        if remaining_s > 0:
            return [Again(remaining_s)]
    if is_indexed(job):
        return _create_indexed(job, tally, missing, features, now)
    return [_creation(job, [new_pod(job, features)] * missing)]


def delete_pods(job: Object, some: Sequence[Object]) -> list[Action]:
    """Delete ``some`` pods of a Job, which stay until they are counted."""
    told = pod_deleted(job)
    rows = tuple(Delete(resource=PODS, obj=pod, told=told) for pod in some)
    return [InBatches(rows)] if rows else []


def _remove(job: Object, some: Sequence[Object]) -> list[Action]:
    """As `delete_pods`, of pods whose end is nobody's failure: they are not counted."""
    free = InBatches(tuple(untrack(pod) for pod in some if is_tracked(pod)))
    return [*([free] if free.actions else []), *delete_pods(job, some)]


def _wanted(job: Object, tally: Tally) -> int:
    completions, parallelism = job["spec"].get("completions"), int(job["spec"]["parallelism"])
    if completions is None:
        return len(tally.active) if tally.succeeded else parallelism
    return max(0, min(int(completions) - tally.succeeded, parallelism))


def _surplus(job: Object, active: Sequence[Object], at_least: int, now: float) -> list[Object]:
    if not is_indexed(job):
        return to_delete(active, at_least, (), now) if at_least else []
    misplaced: list[Object] = []
    left: list[Object] = []
    for index, group in groupby(by_index(active), key=completion_index):
        same = list(group)
        if index is None or index >= job["spec"]["completions"]:
            misplaced += same
            continue
        again = to_delete(same, len(same) - 1, (), now) if len(same) > 1 else []
        misplaced += again
        left += [pod for pod in same if pod not in again]
    more = at_least - len(misplaced)
    return misplaced + (to_delete(left, more, (), now) if more > 0 else [])


def _create_indexed(
    job: Object, tally: Tally, missing: int, features: Collection[ApiFeature], now: float
) -> list[Action]:
    taken = job_indexes.adding(tally.succeeded_indexes, indexes_of(tally.active))
    if replaces_failed_only(job):
        taken = job_indexes.adding(taken, indexes_of(filter(is_terminating, tally.pods)))
    taken = job_indexes.union(taken, tally.failed_indexes or ())
    indexes = job_indexes.missing(taken, missing, job["spec"]["completions"])
    if limits_indexes(job):
        waits = {index: index_remaining_s(tally.kept.get(index), now) for index in indexes}
        indexes = [index for index, wait_s in waits.items() if not wait_s]
        if waits and not indexes:
            return [Again(min(waits.values()))]
    if not indexes:
        return []
    rows = [new_indexed_pod(job, index, tally.kept.get(index), features) for index in indexes]
    return [_creation(job, rows)]


def _creation(job: Object, rows: Sequence[Object]) -> InBatches:
    told = pod_created(job)
    return InBatches(tuple(Create(resource=PODS, obj=row, told=told) for row in rows))
