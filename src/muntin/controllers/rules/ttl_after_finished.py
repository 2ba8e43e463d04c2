"""TTL after finished: a Job that has ended goes when its time is up, with its pods.

Source: kubernetes v1.36 pkg/controller/ttlafterfinished/ttlafterfinished_controller.go.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import Action, Again, Delete, Object
from muntin.controllers.rules.job_end import COMPLETE, FAILED
from muntin.model import pods, times
from muntin.model.resources import JOBS


def reconcile(job: Object, now: float) -> list[Action]:
    """Delete ``job``, its pods first, or look again when that is due."""
    ttl_s = job["spec"].get("ttlSecondsAfterFinished")
    if ttl_s is None or pods.is_deleting(job):
        return []
    for outcome in (COMPLETE, FAILED):
        row = pods.condition(job, outcome)
        if row is None or row.get("status") != "True":
            continue
        finished = times.seconds_of(row.get("lastTransitionTime"))
        if finished is None:
            continue
        left_s = finished + float(ttl_s) - now
        if left_s > 0:
            return [Again(left_s)]
        return [Delete(resource=JOBS, obj=job, propagation_policy="Foreground")]
    return []
