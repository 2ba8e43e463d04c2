"""How long a Job waits before it replaces a failed pod: 10 s, 20 s, 40 s ... up to 10 minutes.

Before 1.27 the first failed pod is replaced at once, and no wait is longer than 6 minutes.
Source: kubernetes v1.36 pkg/controller/job/backoff_utils.go; v1.20 job_controller.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.job_pods import (
    all_index_failures,
    finished_at,
    has_failed,
    is_tracked,
)
from muntin.model import pods
from muntin.model.features import ApiFeature

FIRST_S = 10.0
MAX_S = 600.0
ONCE_MAX_S = 360.0


@dataclass(frozen=True, slots=True)
class Backoff:
    """Failures since the last success: what is remembered of pods when they are gone.

    ``restarted``: containers that are restarted in their pods have used up the back-off limit.
    """

    failures: Mapping[str, float] = field(default_factory=dict)
    last_success: float = float("-inf")
    restarted: bool = False

    def seeing(self, job: Object, some: Iterable[Object]) -> Backoff:
        """With what ``some`` pods of ``job`` tell; seeing a pod again changes nothing."""
        failures, last_success = dict(self.failures), self.last_success
        some = list(some)
        for pod in some:
            if pods.phase(pod) == "Succeeded":
                last_success = max(last_success, finished_at(pod))
            elif has_failed(pod, job) and (is_tracked(pod) or not pods.is_deleting(pod)):
                failures.setdefault(pod["metadata"]["uid"], finished_at(pod))
        later = {uid: at for uid, at in failures.items() if at > last_success}
        return Backoff(later, last_success, self.restarted or _too_often(job, some))

    def remaining_s(self, now: float, features: Collection[ApiFeature]) -> float:
        """How long to wait before the next pod is created."""
        count, last = len(self.failures), max(self.failures.values(), default=0.0)
        if ApiFeature.JOB_BACKOFF_BY_PODS in features:
            return _remaining_s(count, last, now)
        return _remaining_s(max(count - 1, 0), last, now, ONCE_MAX_S)


def _too_often(job: Object, some: Iterable[Object]) -> bool:
    if job["spec"]["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts = 0
    for pod in some:
        status = pod.get("status") or {}
        if pods.phase(pod) in ("Running", "Pending"):
            for part in ("initContainerStatuses", "containerStatuses"):
                restarts += sum(int(row.get("restartCount") or 0) for row in status.get(part) or ())
    return restarts >= max(1, int(job["spec"]["backoffLimit"]))


def index_remaining_s(replaced: Object | None, now: float) -> float:
    """As `Backoff.remaining_s`, for an index whose last pod was ``replaced``."""
    if replaced is None:
        return 0.0
    return _remaining_s(all_index_failures(replaced) + 1, finished_at(replaced), now)


def _remaining_s(failures: int, last_failure: float, now: float, most_s: float = MAX_S) -> float:
    if not failures:
        return 0.0
    delay_s = min(most_s, FIRST_S * 2.0 ** min(failures - 1, 10))
    return max(0.0, last_failure + delay_s - now)
